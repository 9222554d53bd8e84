// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "metric/bounds.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define HIST_ERROR 0.008 /* hist.h */

static const struct {
	const char *name;
	double part;
} quantiles[] = { { "p50", 0.5 }, { "p90", 0.9 }, { "p99", 0.99 }, { "p999", 0.999 } };
#define NR_QUANTILES (sizeof(quantiles) / sizeof(*quantiles))

static const char *const wait_names[TAP_NR_MEASURED] = {
	[TAP_MEASURED_WAKING] = "waking", [TAP_MEASURED_PREEMPTED] = "preempted", [TAP_MEASURED_THROTTLED] = "throttled",
};

static bool is_complete(const struct tap_survey *s)
{
	return !s->nr_holes && !s->nr_losses && !s->nr_off && !s->has_breaks;
}

/* Events that may be missing. */
static double missing(const struct tap_survey *s)
{
	return is_complete(s) ? 0 : s->lost_unknown || !s->lost || s->has_breaks || s->nr_off ? INFINITY : (double)s->lost;
}

static void set(struct tap_metric *m, double low, double high)
{
	if (m) {
		m->low = low;
		m->high = high;
	}
}

/* ---- waits ------------------------------------------------------------------------------------ */

static struct tap_metric *find_wait(const struct tap_metrics *metrics, const char *state, const char *what)
{
	char name[64];

	snprintf(name, sizeof(name), "latency.%s.%s", state, what);
	return tap_metrics_find(metrics, name);
}

static void bound_quantile(struct tap_metric *m, const struct tap_hist *waits, double part, double unknown)
{
	double n = (double)waits->count, error = waits->count > TAP_HIST_EXACT ? HIST_ERROR : 0;
	double low = isinf(unknown) ? 0 : (part * (n + unknown) - unknown) / n, high = part * (n + unknown) / n;

	set(m, low > 0 ? fmax((double)waits->min, (1 - error) * (double)tap_hist_quantile(waits, low)) : 0,
	    high > 1 ? INFINITY : fmin((double)waits->max, (1 + error) * (double)tap_hist_quantile(waits, high)));
}

struct extent {
	double low, high;
};

static struct extent longest(const struct tap_measure *m, unsigned int wait)
{
	double known = (double)m->waits[wait].all.waits.max, cut = (double)m->cut_ns[wait];
	struct extent ns = { fmax(known, cut) };

	if (wait == TAP_MEASURED_THROTTLED && is_complete(m->opts.survey) && !m->any_throttling)
		return (struct extent){ 0, 0 };
	ns.high = fmax(ns.low, (double)m->doubt_ns);
	return ns;
}

static int bound_longest(struct tap_metrics *metrics, const char *state, struct extent ns)
{
	int ret = 0;

	if (!find_wait(metrics, state, "max"))
		ret = tap_metrics_add(metrics, TAP_METRIC_NS, TAP_BETTER_LESS, ns.low, "latency.%s.max", state);
	set(find_wait(metrics, state, "max"), ns.low, ns.high);
	return ret;
}

static int bound_waits(struct tap_metrics *metrics, const struct tap_measure *m, unsigned int wait)
{
	const struct tap_latency_stat *all = &m->waits[wait].all;
	const char *state = wait_names[wait];
	double unknown = (double)all->censored + 2 * missing(m->opts.survey);
	struct tap_metric *rate = find_wait(metrics, state, "rate"), *avg = find_wait(metrics, state, "avg");

	for (size_t i = 0; i < NR_QUANTILES; i++)
		bound_quantile(find_wait(metrics, state, quantiles[i].name), &all->waits, quantiles[i].part, unknown);
	if (rate)
		set(rate, rate->value, rate->value + unknown * 1e9 / (double)tap_window_ns(&m->opts.window));
	if (avg)
		set(avg, unknown ? 0 : avg->value, unknown ? INFINITY : avg->value);
	return bound_longest(metrics, state, longest(m, wait));
}

static int bound_all_waits(struct tap_metrics *metrics, const struct tap_measure *m)
{
	struct extent any = { 0, 0 };
	int ret = 0;

	for (unsigned int i = 0; !ret && i < TAP_NR_MEASURED; i++) {
		struct extent ns = longest(m, i);

		if (!tap_measure_knows(m, i))
			continue;
		any.low = fmax(any.low, ns.low);
		any.high = fmax(any.high, ns.high);
		ret = bound_waits(metrics, m, i);
	}
	/* without wakeups, a sleep has the wait behind it in it */
	return ret || !tap_measure_knows(m, TAP_MEASURED_WAKING) ? ret : bound_longest(metrics, "any", any);
}

/* ---- all others ------------------------------------------------------------------------------- */

static bool ends_with(const char *name, const char *end)
{
	size_t len = strlen(name), of_end = strlen(end);

	return len >= of_end && !strcmp(name + len - of_end, end);
}

/* Stages are kept as waits are. */
static double error_of(const struct tap_metric *m)
{
	return !strncmp(m->name, "resched.", 8) && (ends_with(m->name, ".p50") || ends_with(m->name, ".p99")) ? HIST_ERROR : 0;
}

static void bound_other(struct tap_metric *m, const struct tap_measure *measure)
{
	double hidden = missing(measure->opts.survey), error = error_of(m);

	if (!hidden)
		set(m, m->value * (1 - error), m->value * (1 + error));
	else if (m->unit == TAP_METRIC_PER_S && !strcmp(m->name, "summary.switches.rate"))
		set(m, m->value, m->value + hidden * 1e9 / (double)tap_window_ns(&measure->opts.window));
	else if (m->unit == TAP_METRIC_PER_S) /* why one was moved may be wrong */
		set(m, 0, m->value + hidden * 1e9 / (double)tap_window_ns(&measure->opts.window));
}

int tap_metrics_bound(struct tap_metrics *metrics, const struct tap_measure *m)
{
	struct tap_metric *lost = tap_metrics_find(metrics, "recording.lost"), *run = tap_metrics_find(metrics, "summary.run.share");
	struct tap_metric *unknown = tap_metrics_find(metrics, "summary.unknown.share");
	struct tap_metric *window = tap_metrics_find(metrics, "recording.window");

	for (unsigned int i = 0; i < metrics->nr; i++)
		if (strncmp(metrics->v[i].name, "latency.", 8))
			bound_other(&metrics->v[i], m);
	if (lost)
		set(lost, lost->value, m->opts.survey->lost_unknown ? INFINITY : lost->value);
	if (window)
		set(window, window->value, window->value);
	if (run && unknown) {
		set(unknown, unknown->value, unknown->value);
		set(run, run->value, run->value + unknown->value);
	}
	return bound_all_waits(metrics, m);
}

/* ---- names ------------------------------------------------------------------------------------ */

static int name_waits(struct tap_metrics *out)
{
	int ret = tap_metrics_add(out, TAP_METRIC_NS, TAP_BETTER_LESS, 0, "latency.any.max");

	for (unsigned int w = 0; !ret && w < TAP_NR_MEASURED; w++) {
		ret = tap_metrics_add(out, TAP_METRIC_PER_S, TAP_BETTER_NEITHER, 0, "latency.%s.rate", wait_names[w]) ?:
		      tap_metrics_add(out, TAP_METRIC_NS, TAP_BETTER_LESS, 0, "latency.%s.avg", wait_names[w]) ?:
		      tap_metrics_add(out, TAP_METRIC_NS, TAP_BETTER_LESS, 0, "latency.%s.max", wait_names[w]);
		for (size_t i = 0; !ret && i < NR_QUANTILES; i++)
			ret = tap_metrics_add(out, TAP_METRIC_NS, TAP_BETTER_LESS, 0, "latency.%s.%s", wait_names[w], quantiles[i].name);
	}
	return ret;
}

static int name_resched(struct tap_metrics *out)
{
	static const char *const figures[] = { "avg", "p50", "p99", "max" };
	int ret = 0;

	for (unsigned int s = 0; s < TAP_NR_RESCHED_STAGES; s++)
		for (unsigned int i = 0; !ret && i < sizeof(figures) / sizeof(*figures); i++)
			ret = tap_metrics_add(out, TAP_METRIC_NS, TAP_BETTER_LESS, 0, "resched.%s.%s", tap_resched_stage_name(s), figures[i]);
	return ret;
}

int tap_metrics_names(struct tap_metrics *out)
{
	static const struct {
		const char *name;
		enum tap_metric_unit unit;
	} plain[] = {
		{ "recording.window", TAP_METRIC_NS }, { "recording.lost", TAP_METRIC_COUNT },
		{ "summary.run.share", TAP_METRIC_PCT }, { "summary.unknown.share", TAP_METRIC_PCT },
		{ "summary.switches.rate", TAP_METRIC_PER_S }, { "summary.util.avg", TAP_METRIC_COUNT },
		{ "balance.violation.share", TAP_METRIC_PCT },
	};
	int ret = 0;

	for (size_t i = 0; !ret && i < sizeof(plain) / sizeof(*plain); i++)
		ret = tap_metrics_add(out, plain[i].unit, TAP_BETTER_NEITHER, 0, "%s", plain[i].name);
	ret = ret ?: name_waits(out);
	for (enum tap_piece_kind k = 0; !ret && k < TAP_NR_PIECE_KINDS; k++)
		ret = tap_metrics_add(out, TAP_METRIC_PCT, TAP_BETTER_NEITHER, 0, "explain.%s.share", tap_piece_name(k));
	for (enum tap_migration_why w = 0; !ret && w < TAP_NR_MIGRATE; w++)
		ret = tap_metrics_add(out, TAP_METRIC_PER_S, TAP_BETTER_NEITHER, 0, "migrations.%s.rate", tap_migration_why_name(w));
	return ret ?: name_resched(out);
}
