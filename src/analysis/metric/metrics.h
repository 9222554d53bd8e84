/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A recording's numbers by name. The name is the path of the number in a report's JSON, such as
 * "latency.waking.p99", and for numbers of some tasks also the option that selects these, as in
 * "latency.waking.p99 -c nginx".
 */
#ifndef TAP_METRIC_METRICS_H
#define TAP_METRIC_METRICS_H

#include "base/buf.h"

enum tap_metric_unit {
	TAP_METRIC_NS,
	TAP_METRIC_PCT,
	TAP_METRIC_PER_S,
	TAP_METRIC_KHZ,
	TAP_METRIC_COUNT,
};

/* "ns", "pct", "per_s", "khz", "count" */
const char *tap_metric_unit_name(enum tap_metric_unit unit);

enum tap_metric_better { TAP_BETTER_NEITHER, TAP_BETTER_LESS, TAP_BETTER_MORE };

struct tap_metric {
	char *name; /* owned; may contain a task's name, with any bytes */
	enum tap_metric_unit unit;
	enum tap_metric_better better;
	double value;
	/*
	 * bounds of what the value can be (bounds.h); infinite unless tap_metrics_bound() was
	 * called
	 */
	double low, high;
};

/* The quantiles that are metrics. The last one is reported only for waits. */
#define TAP_NR_QUANTILES 4u
extern const struct tap_quantile {
	const char *name; /* "p50", "p90", "p99", "p999" */
	double part;
} tap_quantiles[TAP_NR_QUANTILES];

/* All zero: empty. Metrics are in the order in which they are shown. */
struct tap_metrics {
	struct tap_metric *v; /* owned */
	unsigned int nr, cap;
};

void tap_metrics_release(struct tap_metrics *m);
/* @value: NAN: unknown, adds nothing. Return: 0 or -ENOMEM. */
int tap_metrics_add(struct tap_metrics *m, enum tap_metric_unit unit, enum tap_metric_better better,
		    double value, const char *fmt, ...) TAP_PRINTF(5, 6);
/* NULL: not found */
struct tap_metric *tap_metrics_find(const struct tap_metrics *m, const char *name);

#endif
