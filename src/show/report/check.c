// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "show/report/check.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* ---- measuring ---- */

static bool same_tasks(const struct tap_rule *a, const struct tap_rule *b)
{
	for (unsigned int by = 0; by < TAP_RULE_NR_BY; by++) {
		if (a->by[by].nr != b->by[by].nr)
			return false;
		for (unsigned int i = 0; i < a->by[by].nr; i++)
			if (strcmp(a->by[by].v[i], b->by[by].v[i]))
				return false;
	}
	return true;
}

/*
 * Return the likely reason why a recording lacks a metric, by the beginning of the metric's name.
 */
static const char *why_missing(const char *metric, const struct tap_measured *m)
{
	static const struct {
		const char *begin, *why;
	} reasons[] = {
		{ "latency.throttled.",
		  "needs sched_throttle (record -e throttle), or no task was throttled" },
		{ "latency.waking.", "needs sched_waking, or no task was woken" },
		{ "latency.any.", "needs sched_waking" },
		{ "latency.preempted.", "no task was preempted" },
		{ "migrations.", "needs sched_migrate_task" },
		{ "balance.", "needs sched_migrate_task, or no task waited" },
		{ "resched.", "needs sched_set_need_resched or cpu_idle (record -e resched), and "
			      "no filter by task" },
		{ "explain.", "no task waited" },
		{ "summary.util.", "needs sched_pelt_cfs" },
		{ "frequency.", "needs cpu_frequency (record -e freq)" },
		{ "pelt.util_est.",
		  "needs two sched_util_est_se events of one task (record -e util_est)" },
		{ "eevdf.beyond_slice.",
		  "needs runs between two sched_pick events (record -e pick)" },
		{ "eevdf.", "needs sched_pick (record -e pick) with several tasks to pick from" },
		{ "deadline.server.picks", "needs sched_dl_pick (record -e dl)" },
		{ "deadline.server.", "needs sched_dl_pick with next_server (record -e dl)" },
		{ "deadline.", "needs sched_dl_pick (record -e dl), and deadline tasks that were "
			       "woken and slept again, or were late" },
		{ "bench.", "needs JSON of schedtap bench, not a recording" },
		{ "critical.between.", "needs --between, and requests that began and ended" },
		{ "critical.", "needs sched_waking, and a filter by task (-c and others) or a "
			       "recorded command" },
	};

	if (m->bench.nr_rounds)
		return strncmp(metric, "bench.", strlen("bench."))
			       ? "needs a recording, not JSON of schedtap bench"
			       : "the load has no such figure, or was run with --no-record";
	for (size_t i = 0; i < sizeof(reasons) / sizeof(*reasons); i++)
		if (!strncmp(metric, reasons[i].begin, strlen(reasons[i].begin)))
			return reasons[i].why;
	return "the recording has no such metric";
}

static void judge_rule(const struct tap_rule *rule, const struct tap_measured *m,
		       struct tap_checked *to)
{
	const struct tap_metric *metric =
		m->is_unmatched ? NULL : tap_metrics_find(tap_measured_all(m), rule->metric);

	*to = (struct tap_checked){ .low = -INFINITY, .high = INFINITY, .value = NAN };
	if (metric)
		*to = (struct tap_checked){ .is_there = true,
					    .value = metric->value,
					    .low = metric->low,
					    .high = metric->high };
	else
		to->why = m->is_unmatched ? "the recording has no such task"
					  : why_missing(rule->metric, m);
	to->verdict = tap_rule_judge(rule, to->low, to->high);
}

/* Return true if a rule about the same tasks as @first needs critical paths. */
static bool takes_paths(const struct tap_check *c, const struct tap_rule *first)
{
	for (const struct tap_rule *r = first; r < c->rules->v + c->rules->nr; r++)
		if (same_tasks(r, first) && !strncmp(r->metric, "critical.", strlen("critical.")))
			return true;
	return false;
}

static void note_noise(struct tap_measured *m)
{
	double pct = m->bench.nr_rounds ? tap_bench_file_others_pct(&m->bench) : 0;

	if (pct > TAP_BENCH_QUIET_PCT)
		tap_buf_printf(
			&m->notes,
			"'%.300s': the machine was not quiet: other processes took %.1f %%\n",
			m->path, pct);
}

/*
 * Measure all recordings for the tasks that @first selects, and judge all rules about the same
 * tasks.
 */
static int read_for(struct tap_check *c, const struct tap_rule *first, bool *usage,
		    struct tap_err *err)
{
	const struct tap_input_opts input = {
		.window = c->window,
		.select = { .comms = first->by[TAP_RULE_BY_COMM],
			    .tgids = first->by[TAP_RULE_BY_PID],
			    .tids = first->by[TAP_RULE_BY_TID],
			    .cgroups = first->by[TAP_RULE_BY_CGROUP] },
	};
	bool has_paths = takes_paths(c, first);
	const struct tap_measured_opts how = {
		.input = &input,
		.has_bounds = true,
		.has_paths = has_paths,
		.between = has_paths ? c->between : NULL,
		.between_by = c->by,
	};
	struct tap_measured *measured = calloc(c->nr_paths, sizeof(*measured));
	int ret;

	if (!measured)
		return tap_err_nomem(err);
	for (unsigned int p = 0; p < c->nr_paths; p++)
		measured[p].path = c->paths[p];
	ret = tap_measured_read(measured, c->nr_paths, &how, usage, err);
	for (const struct tap_rule *r = first; !ret && r < c->rules->v + c->rules->nr; r++)
		for (unsigned int p = 0; same_tasks(r, first) && p < c->nr_paths; p++)
			judge_rule(r, &measured[p],
				   &c->each[(size_t)(r - c->rules->v) * c->nr_paths + p]);
	for (unsigned int p = 0; !ret && p < c->nr_paths; p++)
		note_noise(&measured[p]);
	for (unsigned int p = 0; p < c->nr_paths; p++) {
		const struct tap_buf *notes = &measured[p].notes;

		if (!ret && notes->len &&
		    !(c->notes.len && memmem(c->notes.data, c->notes.len, notes->data, notes->len)))
			tap_buf_add(&c->notes, notes->data, notes->len);
		tap_measured_release(&measured[p]);
	}
	free(measured);
	return ret;
}

/* ---- results over all recordings ---- */

/*
 * Return a number that is greater the worse the value is for the rule: to compare recordings with
 * the same verdict.
 */
static double badness_of(const struct tap_rule *rule, const struct tap_checked *c)
{
	switch (rule->op) {
	case TAP_RULE_LESS:
	case TAP_RULE_AT_MOST:
		return c->value;
	case TAP_RULE_EQUAL:
		return fabs(c->value - rule->limit);
	default:
		return -c->value;
	}
}

static bool is_worse(const struct tap_rule *rule, const struct tap_checked *a,
		     const struct tap_checked *b)
{
	return a->verdict != b->verdict ? a->verdict > b->verdict
					: badness_of(rule, a) > badness_of(rule, b);
}

static int by_value(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/*
 * Return the median. Values are never infinite on both sides: lower bounds are never +inf, upper
 * bounds never -inf.
 */
static double median_of(double *v, unsigned int nr)
{
	qsort(v, nr, sizeof(*v), by_value);
	return nr % 2 ? v[nr / 2] : (v[nr / 2] + v[nr / 2 - 1]) / 2;
}

/*
 * Judge the median. Its lower bound is the median of the lower bounds, and its upper bound that of
 * the upper bounds, because the median never falls when one of the numbers rises.
 */
static int take_median(const struct tap_rule *rule, const struct tap_checked *each, unsigned int nr,
		       struct tap_checked *to)
{
	double *v = calloc(nr, sizeof(*v));

	if (!v)
		return -ENOMEM;
	*to = (struct tap_checked){ .is_there = true };
	for (unsigned int i = 0; i < nr; i++) {
		to->is_there &= each[i].is_there;
		to->why = to->why ?: each[i].why;
	}
	for (unsigned int i = 0; i < nr; i++)
		v[i] = each[i].low;
	to->low = median_of(v, nr);
	for (unsigned int i = 0; i < nr; i++)
		v[i] = each[i].high;
	to->high = median_of(v, nr);
	for (unsigned int i = 0; to->is_there && i < nr; i++)
		v[i] = each[i].value;
	to->value = to->is_there ? median_of(v, nr) : NAN;
	free(v);
	to->verdict = tap_rule_judge(rule, to->low, to->high);
	return 0;
}

static int sum_up(struct tap_check *c)
{
	int ret = 0;

	for (unsigned int r = 0; !ret && r < c->rules->nr; r++) {
		const struct tap_rule *rule = &c->rules->v[r];
		const struct tap_checked *each = &c->each[(size_t)r * c->nr_paths];

		for (unsigned int p = 1; p < c->nr_paths; p++)
			if (is_worse(rule, &each[p], &each[c->worst[r]]))
				c->worst[r] = p;
		if (rule->is_median)
			ret = take_median(rule, each, c->nr_paths, &c->rule[r]);
		else
			c->rule[r] = each[c->worst[r]];
	}
	return ret;
}

enum tap_rule_verdict tap_check_verdict(const struct tap_check *c)
{
	enum tap_rule_verdict worst = TAP_RULE_PASSED;

	for (unsigned int r = 0; r < c->rules->nr; r++)
		if (c->rule[r].verdict > worst)
			worst = c->rule[r].verdict;
	return worst;
}

int tap_check_run(struct tap_check *c, bool *usage, struct tap_err *err)
{
	int ret = 0;

	*usage = true;
	if (c->by && !c->between)
		return tap_err_set(err, -EINVAL, "--by needs --between");
	if (c->between)
		ret = tap_request_source_init(&(struct tap_request_source){ 0 }, c->between, c->by,
					      err);
	if (ret)
		return ret;
	*usage = false;
	c->each = calloc((size_t)c->rules->nr * c->nr_paths, sizeof(*c->each));
	c->rule = calloc(c->rules->nr, sizeof(*c->rule));
	c->worst = calloc(c->rules->nr, sizeof(*c->worst));
	if (!c->each || !c->rule || !c->worst)
		return tap_err_nomem(err);
	for (const struct tap_rule *r = c->rules->v; !ret && r < c->rules->v + c->rules->nr; r++) {
		const struct tap_rule *first = c->rules->v;

		while (!same_tasks(first, r))
			first++;
		if (first == r)
			ret = read_for(c, r, usage, err);
	}
	if (!ret && (sum_up(c) || c->notes.err))
		ret = tap_err_nomem(err);
	return ret;
}

void tap_check_release(struct tap_check *c)
{
	free(c->each);
	free(c->rule);
	free(c->worst);
	tap_buf_release(&c->notes);
}
