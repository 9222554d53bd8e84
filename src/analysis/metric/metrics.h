/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The numbers that a recording has, by name: where a report has them in its JSON, such as
 * "latency.waking.p99", and for what is of some tasks alone the option that picks these,
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
	char *name; /* owned; may hold a task's name: hostile */
	enum tap_metric_unit unit;
	enum tap_metric_better better;
	double value;
	/* what it can be, with all that is not known: bounds.h; before, anything */
	double low, high;
};

/* Of which there are metrics; reports have the last one of waits alone. */
#define TAP_NR_QUANTILES 4u
extern const struct tap_quantile {
	const char *name; /* "p50", "p90", "p99", "p999" */
	double part;
} tap_quantiles[TAP_NR_QUANTILES];

/* {0} is empty. In the order in which they are to be shown. */
struct tap_metrics {
	struct tap_metric *v; /* owned */
	unsigned int nr, cap;
};

void tap_metrics_release(struct tap_metrics *m);
/* @value: NAN: not known; then it is not added. Return: 0 or -ENOMEM. */
int tap_metrics_add(struct tap_metrics *m, enum tap_metric_unit unit, enum tap_metric_better better,
		    double value, const char *fmt, ...) TAP_PRINTF(5, 6);
struct tap_metric *tap_metrics_find(const struct tap_metrics *m, const char *name); /* or NULL */

#endif
