// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "analysis/metric/bounds.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/metric/bench.h"

#define HIST_ERROR 0.008 /* of a quantile: see hist.h */

static const char *const wait_names[TAP_NR_MEASURED] = {
	[TAP_MEASURED_WAKING] = "waking",
	[TAP_MEASURED_PREEMPTED] = "preempted",
	[TAP_MEASURED_THROTTLED] = "throttled",
};

static bool is_complete(const struct tap_survey *s)
{
	return !s->nr_holes && !s->nr_losses && !s->nr_off && !s->has_breaks;
}

/* Return the number of events that may be missing. */
static double count_missing(const struct tap_survey *s)
{
	return is_complete(s)						   ? 0
	       : s->lost_unknown || !s->lost || s->has_breaks || s->nr_off ? INFINITY
									   : (double)s->lost;
}

static void set_bounds(struct tap_metric *m, double low, double high)
{
	if (m) {
		m->low = low;
		m->high = high;
	}
}

/* ---- waits ---- */

static struct tap_metric *find_metric(const struct tap_metrics *metrics, const char *report,
				      const char *of, const char *what)
{
	char name[64];

	snprintf(name, sizeof(name), "%s.%s.%s", report, of, what);
	return tap_metrics_find(metrics, name);
}

static struct tap_metric *find_wait(const struct tap_metrics *metrics, const char *state,
				    const char *what)
{
	return find_metric(metrics, "latency", state, what);
}

/*
 * Return the quantile if @above more values are greater than all of @h. INFINITY: it is one of
 * these.
 */
static double quantile_below(const struct tap_hist *h, double part, double above)
{
	double n = (double)h->count, at = part * (n + above) / n,
	       error = h->count > TAP_HIST_EXACT ? HIST_ERROR : 0;

	return at > 1 ? INFINITY
		      : fmin((double)h->max, (1 + error) * (double)tap_hist_quantile(h, at));
}

/* Return the quantile if @below more values are less than all of @h. 0: it is one of these. */
static double quantile_above(const struct tap_hist *h, double part, double below)
{
	double n = (double)h->count, at = isinf(below) ? 0 : (part * (n + below) - below) / n;
	double error = h->count > TAP_HIST_EXACT ? HIST_ERROR : 0;

	return at > 0 ? fmax((double)h->min, (1 - error) * (double)tap_hist_quantile(h, at)) : 0;
}

/*
 * Numbers of waits in doubt: @cut ones have any length, and @hidden ones are as long as unknown
 * time allows.
 */
struct doubtful {
	double cut, hidden;
};

/*
 * Return an upper bound of a quantile: a number of ns such that the quantile is not above it even
 * if all waits in doubt that can be longer are longer than all others. Try the quantile without
 * hidden waits, its doubles, and the longest length of a hidden wait.
 */
static double highest_quantile(const struct tap_measure *m, const struct tap_hist *waits,
			       double part, const struct doubtful *in_doubt)
{
	double most = quantile_below(waits, part, in_doubt->cut + in_doubt->hidden),
	       longest = (double)m->hidden.longest_ns;
	double ns = fmax(1, quantile_below(waits, part, in_doubt->cut));

	for (; ns < most; ns = fmin(2 * ns, longest)) {
		double longer = fmin(in_doubt->hidden, tap_hidden_longer(&m->hidden, m->opts.survey,
									 m->opts.window, ns));

		if (quantile_below(waits, part, in_doubt->cut + longer) <= ns)
			return ns;
	}
	return most;
}

static void bound_wait_quantile(struct tap_metric *metric, const struct tap_measure *m,
				const struct tap_hist *waits, double part,
				const struct doubtful *in_doubt)
{
	if (metric)
		set_bounds(metric, quantile_above(waits, part, in_doubt->cut + in_doubt->hidden),
			   highest_quantile(m, waits, part, in_doubt));
}

static void bound_mean(struct tap_metric *metric, const struct tap_measure *m,
		       const struct tap_hist *waits, const struct doubtful *in_doubt)
{
	double sum = (double)waits->sum, n = (double)waits->count,
	       nr = in_doubt->cut + in_doubt->hidden;
	double longest = (double)m->hidden.longest_ns;

	if (metric && !nr)
		set_bounds(metric, metric->value, metric->value);
	else if (metric)
		set_bounds(metric, sum / (n + nr),
			   in_doubt->cut ? INFINITY
					 : fmax(metric->value, (sum + nr * longest) / (n + nr)));
}

static double hidden_waits(const struct tap_measure *m)
{
	return is_complete(m->opts.survey) ? 0
					   : tap_hidden_waits(&m->hidden, m->opts.survey,
							      count_missing(m->opts.survey));
}

struct extent {
	double low, high;
};

static struct extent longest_wait(const struct tap_measure *m, unsigned int wait)
{
	double known = (double)m->waits[wait].all.waits.max, cut = (double)m->cut_ns[wait];
	struct extent ns = { fmax(known, cut) };

	/* throttling that began before the window has no event in the window */
	if (wait == TAP_MEASURED_THROTTLED && is_complete(m->opts.survey) && !m->any_throttling)
		ns.high = ns.low;
	else
		ns.high = fmax(ns.low, (double)m->hidden.longest_ns);
	return ns;
}

/*
 * The recorded part of a cut wait may be longer than each wait of known length: then it is the
 * metric's value.
 */
static int bound_longest(struct tap_metrics *metrics, const char *state, struct extent ns)
{
	struct tap_metric *max = find_wait(metrics, state, "max");

	if (!max && tap_metrics_add(metrics, TAP_METRIC_NS, TAP_BETTER_LESS, ns.low,
				    "latency.%s.max", state))
		return -ENOMEM;
	max = find_wait(metrics, state, "max");
	max->value = ns.low;
	set_bounds(max, ns.low, ns.high);
	return 0;
}

static int bound_waits(struct tap_metrics *metrics, const struct tap_measure *m, unsigned int wait)
{
	const struct tap_latency_stat *all = &m->waits[wait].all;
	const char *state = wait_names[wait];
	const struct doubtful in_doubt = { .cut = (double)all->censored,
					   .hidden = hidden_waits(m) };
	struct tap_metric *rate = find_wait(metrics, state, "rate");

	for (unsigned int i = 0; i < TAP_NR_QUANTILES; i++)
		bound_wait_quantile(find_wait(metrics, state, tap_quantiles[i].name), m,
				    &all->waits, tap_quantiles[i].part, &in_doubt);
	if (rate)
		set_bounds(rate, rate->value,
			   rate->value + (in_doubt.cut + in_doubt.hidden) * 1e9 /
						 (double)tap_window_ns(&m->opts.window));
	bound_mean(find_wait(metrics, state, "avg"), m, &all->waits, &in_doubt);
	return bound_longest(metrics, state, longest_wait(m, wait));
}

static int bound_all_waits(struct tap_metrics *metrics, const struct tap_measure *m)
{
	struct extent any = { 0, 0 };
	int ret = 0;

	for (unsigned int i = 0; !ret && i < TAP_NR_MEASURED; i++) {
		struct extent ns = longest_wait(m, i);

		if (!tap_measure_knows(m, i))
			continue;
		any.low = fmax(any.low, ns.low);
		any.high = fmax(any.high, ns.high);
		ret = bound_waits(metrics, m, i);
	}
	/* without wakeup events, a sleep includes the wait that follows it */
	return ret || !tap_measure_knows(m, TAP_MEASURED_WAKING)
		       ? ret
		       : bound_longest(metrics, "any", any);
}

/* ---- all other metrics ---- */

static bool ends_with(const char *name, const char *end)
{
	size_t len = strlen(name), of_end = strlen(end);

	return len >= of_end && !strcmp(name + len - of_end, end);
}

/* Resched stages are kept in histograms, as waits are. */
static double error_of(const struct tap_metric *m)
{
	return ends_with(m->name, ".p50") || ends_with(m->name, ".p90") ||
			       ends_with(m->name, ".p99")
		       ? HIST_ERROR
		       : 0;
}

static void bound_other(struct tap_metric *m, const struct tap_measure *measure)
{
	double hidden = count_missing(measure->opts.survey), error = error_of(m);

	if (!hidden)
		set_bounds(m, m->value * (1 - error), m->value * (1 + error));
	else if (m->unit == TAP_METRIC_PER_S && !strcmp(m->name, "summary.switches.rate"))
		set_bounds(m, m->value,
			   m->value + hidden * 1e9 / (double)tap_window_ns(&measure->opts.window));
	else if (m->unit == TAP_METRIC_PER_S) /* why a task was migrated may be wrong */
		set_bounds(m, 0,
			   m->value + hidden * 1e9 / (double)tap_window_ns(&measure->opts.window));
}

/* The average is over all CPUs' time. In its unknown part the frequency may have been any. */
static void bound_frequency(const struct tap_metrics *metrics, const struct tap_measure *m)
{
	struct tap_metric *avg = tap_metrics_find(metrics, "frequency.avg");
	struct tap_metric *highest = tap_metrics_find(metrics, "frequency.highest.share");
	double known_ns = (double)m->frequency.known_ns, all_ns, unknown_ns;
	unsigned int nr_cpus;

	tap_timeline_cpus(m->timeline, &nr_cpus);
	all_ns = fmax((double)nr_cpus * (double)tap_window_ns(&m->opts.window), known_ns);
	unknown_ns = all_ns - known_ns;
	if (!avg || !highest || count_missing(m->opts.survey))
		return;
	set_bounds(avg, (double)m->frequency.sum / all_ns, unknown_ns ? INFINITY : avg->value);
	set_bounds(highest, 100 * (double)m->frequency.highest_ns / all_ns,
		   100 * ((double)m->frequency.highest_ns + unknown_ns) / all_ns);
}

/*
 * Reported misses are certain. An undecided job may have missed its deadline, by any time. A broken
 * chain of switches without a loss cannot hide a job: the time it makes unknown is unknown in the
 * timeline too, and its jobs are undecided.
 */
static void bound_deadlines(const struct tap_metrics *metrics, const struct tap_measure *m)
{
	static const char *const server_picks[] = { "deadline.server.picks",
						    "deadline.server.fair.picks",
						    "deadline.server.ext.picks" };
	struct tap_metric *misses = tap_metrics_find(metrics, "deadline.misses"),
			  *late = tap_metrics_find(metrics, "deadline.late.max");
	const struct tap_survey *s = m->opts.survey;
	const double lost = s->nr_losses || s->lost_unknown || s->nr_off ? INFINITY : 0,
		     more = lost + (double)m->deadlines.undecided;

	for (size_t i = 0; i < sizeof(server_picks) / sizeof(*server_picks); i++) {
		struct tap_metric *picks = tap_metrics_find(metrics, server_picks[i]);

		if (picks)
			set_bounds(picks, picks->value, picks->value + lost);
	}
	if (!misses)
		return;
	set_bounds(misses, misses->value, misses->value + more);
	set_bounds(late, late->value, more ? INFINITY : late->value);
}

/* Undecided cases may have violated the rule. */
static void bound_eevdf(const struct tap_metrics *metrics, const struct tap_measure *m)
{
	const struct tap_eevdf *e = &m->eevdf;

	for (enum tap_eevdf_rule r = 0; r < TAP_NR_EEVDF_RULES; r++) {
		struct tap_metric *share =
			find_metric(metrics, "eevdf", tap_eevdf_rule_name(r), "share");

		if (share && !count_missing(m->opts.survey))
			set_bounds(share, share->value,
				   share->value + 100 * (double)e->undecided[r] /
							  (double)tap_eevdf_judged(e, r));
	}
}

/*
 * What is known of a path is certain, whatever is missing elsewhere. An exception is a command's
 * path, since its exec event may be missing.
 */
static void bound_paths(const struct tap_metrics *metrics, const struct tap_measure *m)
{
	const struct tap_path_sum *tasks = &m->paths.tasks;
	struct tap_metric *share = tap_metrics_find(metrics, "critical.waiting.share");

	if (share && m->paths.watch.command && count_missing(m->opts.survey))
		set_bounds(share, -INFINITY, INFINITY);
	else if (share)
		set_bounds(share, share->value,
			   share->value + 100 * (double)tasks->state_ns[TAP_PATH_UNKNOWN] /
						  (double)tasks->ns);
}

static void bound_request(struct tap_metric *metric, const struct tap_hist *h, double part,
			  double unknown, bool is_partial)
{
	if (is_partial)
		set_bounds(metric, 0, INFINITY);
	else if (metric)
		set_bounds(metric, quantile_above(h, part, unknown),
			   quantile_below(h, part, unknown));
}

/*
 * If events are missing, a request may have been matched with another request's end. If a path is
 * partly unknown, the bounds of its states are too.
 */
static void bound_requests(const struct tap_metrics *metrics, const struct tap_measure *m)
{
	const struct tap_paths *p = &m->paths;
	double unknown = (double)p->requests.unfinished + (double)p->requests.unbegun;
	bool is_known = !p->times.states[TAP_PATH_UNKNOWN].max;

	if (count_missing(m->opts.survey))
		return;
	for (unsigned int i = 0; i < TAP_NR_REQUEST_TIMES; i++) {
		const struct tap_hist *h = tap_request_time(&p->times, i);
		const char *name = tap_request_time_name(i);

		for (unsigned int k = 0; k < TAP_NR_QUANTILES - 1; k++)
			bound_request(find_metric(metrics, "critical.between", name,
						  tap_quantiles[k].name),
				      h, tap_quantiles[k].part, unknown, i && !is_known);
		bound_request(find_metric(metrics, "critical.between", name, "max"), h, 1, unknown,
			      i && !is_known);
	}
	if (unknown || !is_known)
		set_bounds(tap_metrics_find(metrics, "critical.between.waiting.share"), 0, 100);
}

int tap_metrics_bound(struct tap_metrics *metrics, const struct tap_measure *m)
{
	struct tap_metric *lost = tap_metrics_find(metrics, "recording.lost"),
			  *run = tap_metrics_find(metrics, "summary.run.share");
	struct tap_metric *unknown = tap_metrics_find(metrics, "summary.unknown.share");
	struct tap_metric *window = tap_metrics_find(metrics, "recording.window");

	for (unsigned int i = 0; i < metrics->nr; i++)
		if (strncmp(metrics->v[i].name, "latency.", 8))
			bound_other(&metrics->v[i], m);
	if (lost)
		set_bounds(lost, lost->value,
			   m->opts.survey->lost_unknown ? INFINITY : lost->value);
	if (window)
		set_bounds(window, window->value, window->value);
	if (run && unknown) {
		set_bounds(unknown, unknown->value, unknown->value);
		set_bounds(run, run->value, run->value + unknown->value);
	}
	bound_frequency(metrics, m);
	bound_deadlines(metrics, m);
	bound_eevdf(metrics, m);
	bound_paths(metrics, m);
	bound_requests(metrics, m);
	return bound_all_waits(metrics, m);
}

/* ---- names ---- */

static int name_waits(struct tap_metrics *out)
{
	int ret = tap_metrics_add(out, TAP_METRIC_NS, TAP_BETTER_LESS, 0, "latency.any.max");

	for (unsigned int w = 0; !ret && w < TAP_NR_MEASURED; w++) {
		ret = tap_metrics_add(out, TAP_METRIC_PER_S, TAP_BETTER_NEITHER, 0,
				      "latency.%s.rate", wait_names[w]) ?:
		      tap_metrics_add(out, TAP_METRIC_NS, TAP_BETTER_LESS, 0,
				      "latency.%s.avg", wait_names[w]) ?:
		      tap_metrics_add(out, TAP_METRIC_NS, TAP_BETTER_LESS, 0,
				      "latency.%s.max", wait_names[w]);
		for (unsigned int i = 0; !ret && i < TAP_NR_QUANTILES; i++)
			ret = tap_metrics_add(out, TAP_METRIC_NS, TAP_BETTER_LESS, 0,
					      "latency.%s.%s", wait_names[w],
					      tap_quantiles[i].name);
	}
	return ret;
}

static int name_requests(struct tap_metrics *out)
{
	int ret = 0;

	for (unsigned int i = 0; !ret && i < TAP_NR_REQUEST_TIMES; i++) {
		for (unsigned int k = 0; !ret && k < TAP_NR_QUANTILES - 1; k++)
			ret = tap_metrics_add(out, TAP_METRIC_NS, TAP_BETTER_LESS, 0,
					      "critical.between.%s.%s", tap_request_time_name(i),
					      tap_quantiles[k].name);
		ret = ret
			      ?: tap_metrics_add(out, TAP_METRIC_NS, TAP_BETTER_LESS, 0,
						 "critical.between.%s.max",
						 tap_request_time_name(i));
	}
	return ret;
}

static int name_resched(struct tap_metrics *out)
{
	static const char *const figures[] = { "avg", "p50", "p99", "max" };
	int ret = 0;

	for (unsigned int s = 0; s < TAP_NR_RESCHED_STAGES; s++)
		for (unsigned int i = 0; !ret && i < sizeof(figures) / sizeof(*figures); i++)
			ret = tap_metrics_add(out, TAP_METRIC_NS, TAP_BETTER_LESS, 0,
					      "resched.%s.%s", tap_resched_stage_name(s),
					      figures[i]);
	return ret;
}

static int name_bench(struct tap_metrics *out)
{
	struct tap_bench_figure figure;
	int ret = 0;

	for (unsigned int i = 0; !ret && tap_bench_figure(i, &figure); i++)
		ret = tap_bench_figure_add(out, &figure, 0);
	return ret;
}

int tap_metrics_names(struct tap_metrics *out)
{
	static const struct {
		const char *name;
		enum tap_metric_unit unit;
	} plain[] = {
		{ "recording.window", TAP_METRIC_NS },
		{ "recording.lost", TAP_METRIC_COUNT },
		{ "summary.run.share", TAP_METRIC_PCT },
		{ "summary.unknown.share", TAP_METRIC_PCT },
		{ "summary.switches.rate", TAP_METRIC_PER_S },
		{ "summary.util.avg", TAP_METRIC_COUNT },
		{ "balance.violation.share", TAP_METRIC_PCT },
		{ "pelt.util_est.error.avg", TAP_METRIC_COUNT },
		{ "pelt.util_est.error.p50", TAP_METRIC_COUNT },
		{ "pelt.util_est.error.p90", TAP_METRIC_COUNT },
		{ "pelt.util_est.error.p99", TAP_METRIC_COUNT },
		{ "pelt.util_est.error.max", TAP_METRIC_COUNT },
		{ "pelt.util_est.error.share", TAP_METRIC_PCT },
		{ "pelt.util_est.over.share", TAP_METRIC_PCT },
		{ "pelt.util_est.under.share", TAP_METRIC_PCT },
		{ "frequency.avg", TAP_METRIC_KHZ },
		{ "frequency.highest.share", TAP_METRIC_PCT },
		{ "eevdf.lag_size.p50", TAP_METRIC_NS },
		{ "eevdf.lag_size.p99", TAP_METRIC_NS },
		{ "eevdf.lag_size.max", TAP_METRIC_NS },
		{ "deadline.server.picks", TAP_METRIC_COUNT },
		{ "deadline.server.fair.picks", TAP_METRIC_COUNT },
		{ "deadline.server.ext.picks", TAP_METRIC_COUNT },
		{ "deadline.misses", TAP_METRIC_COUNT },
		{ "deadline.late.max", TAP_METRIC_NS },
		{ "critical.waiting.share", TAP_METRIC_PCT },
		{ "critical.between.waiting.share", TAP_METRIC_PCT },
	};
	int ret = 0;

	for (size_t i = 0; !ret && i < sizeof(plain) / sizeof(*plain); i++)
		ret = tap_metrics_add(out, plain[i].unit, TAP_BETTER_NEITHER, 0, "%s",
				      plain[i].name);
	ret = ret ?: name_waits(out);
	for (enum tap_piece_kind k = 0; !ret && k < TAP_NR_PIECE_KINDS; k++)
		ret = tap_metrics_add(out, TAP_METRIC_PCT, TAP_BETTER_NEITHER, 0,
				      "explain.%s.share", tap_piece_name(k));
	for (enum tap_migration_why w = 0; !ret && w < TAP_NR_MIGRATE; w++)
		ret = tap_metrics_add(out, TAP_METRIC_PER_S, TAP_BETTER_NEITHER, 0,
				      "migrations.%s.rate", tap_migration_why_name(w));
	for (enum tap_eevdf_rule r = 0; !ret && r < TAP_NR_EEVDF_RULES; r++)
		ret = tap_metrics_add(out, TAP_METRIC_PCT, TAP_BETTER_LESS, 0, "eevdf.%s.share",
				      tap_eevdf_rule_name(r));
	return ret ?: name_resched(out) ?: name_requests(out) ?: name_bench(out);
}
