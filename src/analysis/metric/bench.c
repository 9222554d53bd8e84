// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "analysis/metric/bench.h"

#include "analysis/explain/above.h"

#define LATENCY(object, key, name, is_recorded)                                                    \
	{                                                                                          \
		object, key, object "." name, TAP_METRIC_NS, TAP_BETTER_LESS, is_recorded          \
	}
#define LATENCIES(object, is_recorded)                                                             \
	LATENCY(object, "p50_ns", "p50", is_recorded),                                             \
		LATENCY(object, "p99_ns", "p99", is_recorded),                                     \
		LATENCY(object, "p999_ns", "p999", is_recorded),                                   \
		LATENCY(object, "max_ns", "max", is_recorded)

static const struct tap_bench_figure figures[] = {
	{ NULL, "rate", "rate", TAP_METRIC_PER_S, TAP_BETTER_MORE, false },
	LATENCIES("request", false),
	LATENCIES("wakeup", false),
	LATENCIES("recorded", true),
	{ "share", "min_pct", "share.min", TAP_METRIC_PCT, TAP_BETTER_MORE, false },
	{ "share", "max_pct", "share.max", TAP_METRIC_PCT, TAP_BETTER_LESS, false },
	{ NULL, "switches_per_s", "switches.rate", TAP_METRIC_PER_S, TAP_BETTER_NEITHER, true },
	{ NULL, "migrations_per_s", "migrations.rate", TAP_METRIC_PER_S, TAP_BETTER_NEITHER, true },
	{ NULL, "others_pct", "others.share", TAP_METRIC_PCT, TAP_BETTER_NEITHER, false },
};
#define NR_FIGURES (sizeof(figures) / sizeof(*figures))

bool tap_bench_figure(unsigned int i, struct tap_bench_figure *figure)
{
	if (i >= NR_FIGURES + TAP_NR_REASONS)
		return false;
	*figure = i < NR_FIGURES ? figures[i]
				 : (struct tap_bench_figure){
					   TAP_BENCH_WHY,
					   tap_reason_name(i - NR_FIGURES),
					   NULL,
					   TAP_METRIC_PCT,
					   TAP_BETTER_NEITHER,
					   true,
				   };
	return true;
}

int tap_bench_figure_add(struct tap_metrics *out, const struct tap_bench_figure *f, double value)
{
	return f->name ? tap_metrics_add(out, f->unit, f->better, value, "bench.%s", f->name)
		       : tap_metrics_add(out, f->unit, f->better, value, "bench.why.%s.share",
					 f->key);
}
