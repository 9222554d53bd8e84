/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The figures of `schedtap bench` as metrics, of one round or of all. A metric's name is "bench."
 * and the path of the figure in bench's JSON: "bench.wakeup.p99".
 */
#ifndef TAP_METRIC_BENCH_H
#define TAP_METRIC_BENCH_H

#include "analysis/metric/metrics.h"

struct tap_bench_figure {
	const char *object, *key; /* in the JSON of a round; .object NULL: the round itself */
	const char *name; /* the metric's, without "bench."; a reason's is its .key */
	enum tap_metric_unit unit;
	enum tap_metric_better better;
	bool is_recorded; /* known only if no events are missing */
};

/* Return the figure with this index, in the order in which they are shown; false: after the last.
 */
bool tap_bench_figure(unsigned int i, struct tap_bench_figure *figure);
/* Add a figure's metric. @value: NAN: unknown, adds nothing. Return: 0 or -ENOMEM. */
int tap_bench_figure_add(struct tap_metrics *out, const struct tap_bench_figure *f, double value);

/* The .object of the figures that are a reason's share of the waits above their p99. */
#define TAP_BENCH_WHY "why"

#endif
