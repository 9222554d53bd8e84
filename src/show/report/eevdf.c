// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* schedtap eevdf: decisions of the fair class, from the kernel's own sched_pick events. */
#include <errno.h>

#include "analysis/eevdf.h"
#include "show/report/report.h"

#define MAX_VIOLATIONS 10000u

static const struct tap_opt options[] = {
	TAP_REPORT_OPTIONS,
	TAP_REPORT_TOP("the N tasks picked most often, and N violations of EEVDF rules [20"),
	{ 0 }
};

struct eevdf {
	struct tap_report report;
	struct tap_eevdf eevdf;
};

static struct eevdf *eevdf_of(const struct tap_report *r)
{
	return (struct eevdf *)r;
}

static bool is_wanted(void *ctx, const struct tap_task *task, int cpu)
{
	struct tap_report *r = ctx;
	bool yes = task->selected && tap_run_cpu(&r->run, cpu);

	r->matched |= yes;
	return yes;
}

/* ---- tables ---- */

/* clang-format off */
#define SUM_COLUMNS \
	{ "picks", "picks", TAP_CELL_COUNT, .width = 8 }, \
	{ "among_several", "of several", TAP_CELL_COUNT, .width = 10, .rank = 4 }, \
	{ "min_lag_ns", NULL, TAP_CELL_INT }, \
	{ "avg_lag_ns", NULL, TAP_CELL_INT }, \
	{ "max_lag_ns", NULL, TAP_CELL_INT }, \
	{ "p50_lag_size_ns", NULL, TAP_CELL_NS }, \
	{ "p99_lag_size_ns", NULL, TAP_CELL_NS }, \
	{ "max_lag_size_ns", NULL, TAP_CELL_NS }, \
	{ NULL, "owed ms", TAP_CELL_REAL, .width = 8, .places = 3, .rank = 5 }, \
	{ NULL, "at most", TAP_CELL_REAL, .width = 8, .places = 3, .rank = 6 }, \
	{ "runs", "runs", TAP_CELL_COUNT, .width = 8, .rank = 9 }, \
	{ "preempted", "preempted", TAP_CELL_COUNT, .width = 9, .rank = 3 }, \
	{ "avg_run_ns", "avg run", TAP_CELL_NS, .width = 9, .rank = 2 }, \
	{ "max_run_ns", "max", TAP_CELL_NS, .width = 9, .rank = 7, .same_unit = true }, \
	{ "overruns", "overruns", TAP_CELL_COUNT, .width = 8, .rank = 1 }, \
	{ "max_overrun_ns", "max", TAP_CELL_NS, .width = 9, .same_unit = true }, \
	{ "delayed", "delayed", TAP_CELL_COUNT, .width = 8, .rank = 10 }, \
	{ "short_preempts", "preempts", TAP_CELL_COUNT, .width = 8, .rank = 8 }, \
	{ "short_waits", "does not", TAP_CELL_COUNT, .width = 8, .rank = 8 }
/* clang-format on */

static void put_lag_ns(struct tap_table *t, bool is_known, int64_t ns)
{
	if (is_known)
		tap_table_s64(t, ns);
	else
		tap_table_none(t);
}

static void put_lag(struct tap_table *t, const struct tap_eevdf_sums *s)
{
	bool any = s->among_several;
	double avg_ns = any ? s->lag_sum_ns / (double)s->among_several : 0;

	put_lag_ns(t, any, s->min_lag_ns);
	put_lag_ns(t, any, (int64_t)avg_ns);
	put_lag_ns(t, any, s->max_lag_ns);
	tap_table_u64_if(t, any, tap_hist_quantile(&s->lag_size_ns, 0.5));
	tap_table_u64_if(t, any, tap_hist_quantile(&s->lag_size_ns, 0.99));
	tap_table_u64_if(t, any, s->lag_size_ns.max);
	tap_table_real(t, avg_ns / 1e6);
	tap_table_real(t, any ? (double)s->max_lag_ns / 1e6 : 0);
}

static void put_sums(struct tap_table *t, const struct tap_eevdf_sums *s)
{
	tap_table_u64(t, s->picks);
	tap_table_u64(t, s->among_several);
	put_lag(t, s);
	tap_table_u64(t, s->runs);
	tap_table_u64(t, s->preempted);
	tap_table_u64_if(t, s->runs, (uint64_t)tap_hist_mean(&s->run_ns));
	tap_table_u64_if(t, s->runs, s->run_ns.max);
	tap_table_u64(t, s->overruns);
	tap_table_u64_if(t, s->overruns, s->max_overrun_ns);
	tap_table_u64(t, s->delayed);
	tap_table_u64(t, s->short_preempts);
	tap_table_u64(t, s->short_waits);
}

static const struct tap_column all_columns[] = { SUM_COLUMNS, { 0 } };

static void put_all(struct tap_report *r, struct tap_table *t)
{
	put_sums(t, &eevdf_of(r)->eevdf.all);
	tap_table_row(t);
}

static const struct tap_column task_columns[] = { TAP_TASK_COLUMNS("", "task", 26),
						  { "slice_ns", "slice", TAP_CELL_NS, .width = 8 },
						  { "weight", "weight", TAP_CELL_COUNT, .width = 8,
						    .rank = 11 },
						  SUM_COLUMNS,
						  { 0 } };

static void put_task(struct tap_report *r, struct tap_table *t, unsigned int i)
{
	const struct tap_eevdf_task *task = &eevdf_of(r)->eevdf.tasks[r->tasks[i]->index];

	tap_task_cells(&r->run, t, task->task);
	tap_table_u64_if(t, task->slice_ns, task->slice_ns);
	tap_table_u64_if(t, task->weight, task->weight);
	put_sums(t, &task->sums);
}

static const struct tap_column rule_columns[] = {
	{ "rule", "against the rules", TAP_CELL_TEXT, .width = 20 },
	{ "count", "times", TAP_CELL_COUNT, .width = 8 },
	{ "undecided", "undecided", TAP_CELL_COUNT, .width = 9 },
	{ 0 }
};

static void put_rules(struct tap_report *r, struct tap_table *t)
{
	for (enum tap_eevdf_rule rule = 0; rule < TAP_NR_EEVDF_RULES; rule++) {
		tap_table_puts(t, tap_eevdf_rule_name(rule));
		tap_table_u64(t, eevdf_of(r)->eevdf.rules[rule]);
		tap_table_u64(t, eevdf_of(r)->eevdf.undecided[rule]);
		tap_table_row(t);
	}
}

static const struct tap_column violation_columns[] = {
	{ "rule", "violation", TAP_CELL_TEXT, .width = 16 },
	TAP_TASK_COLUMNS("", "task", 26),
	{ "cpu", "CPU", TAP_CELL_INT, .width = 3 },
	{ "at_ns", "at", TAP_CELL_AT, .width = 16 },
	{ "by_ns", "by", TAP_CELL_NS, .width = 10 },
	{ 0 }
};

static void put_violation(struct tap_report *r, struct tap_table *t, unsigned int i)
{
	const struct tap_eevdf_violation *v = &eevdf_of(r)->eevdf.violations[i];

	tap_table_puts(t, tap_eevdf_rule_name(v->rule));
	tap_task_cells(&r->run, t, v->task);
	tap_table_s64(t, v->cpu);
	tap_table_u64(t, v->ts_ns);
	tap_table_u64(t, v->ns);
}

static unsigned int nr_violations(const struct tap_report *r)
{
	return eevdf_of(r)->eevdf.nr_violations;
}

static bool has_violations(const struct tap_report *r)
{
	return nr_violations(r) || tap_report_audience(r) == TAP_FOR_PROGRAMS;
}

/* ---- the report ---- */

static int begin_eevdf(struct tap_report *r, struct tap_err *err)
{
	if (!tap_run_has(&r->run, tap_eevdf_ops.wants, NULL))
		return tap_err_set(err, -ENODATA,
				   "'%.300s' has no sched_pick events: record them with 'schedtap "
				   "record -e sched -e pick'",
				   r->run.rec.path);
	tap_eevdf_init(&eevdf_of(r)->eevdf, &(const struct tap_eevdf_opts){
						    .want = is_wanted,
						    .ctx = r,
						    .max_violations = MAX_VIOLATIONS,
					    });
	return 0;
}

/*
 * Weight of a task: one more than its picks, so that tasks that ran but were never picked are
 * listed, too.
 */
static uint64_t picks_of(const struct tap_report *r, unsigned int index)
{
	const struct tap_eevdf_task *task = &eevdf_of(r)->eevdf.tasks[index];

	return task->task ? task->sums.picks + 1 : 0;
}

static int end_eevdf(struct tap_report *r, struct tap_err *err)
{
	return tap_report_rank_tasks(r, eevdf_of(r)->eevdf.nr_tasks, picks_of, err);
}

static void release_eevdf(struct tap_report *r)
{
	tap_eevdf_release(&eevdf_of(r)->eevdf);
}

static const struct tap_section sections[] = {
	{ TAP_FOR_PROGRAMS, .key = "all", .columns = all_columns, .put = put_all,
	  .is_object = true },
	{ TAP_FOR_PEOPLE | TAP_FOR_PROGRAMS, .key = "rules", .columns = rule_columns,
	  .put = put_rules },
	{ TAP_FOR_PEOPLE | TAP_FOR_PROGRAMS, has_violations, .before = "\n", .key = "violations",
	  .columns = violation_columns, .row = put_violation, .nr = nr_violations,
	  .noun = "violation" },
	{ TAP_FOR_ALL, .before = "\n", .key = "tasks", .columns = task_columns, .row = put_task,
	  .nr = tap_report_nr_tasks, .noun = "task" },
	{ 0 }
};

const struct tap_report_type tap_report_eevdf = {
	.cmd = {
		.name = "eevdf",
		.help = "EEVDF decisions: lag, slices, preemption, violated rules",
		.operands = TAP_CMD_FILE,
		.example = "schedtap eevdf",
		.opts = options,
		.opts_size = sizeof(struct tap_report_opts),
		.defaults = &(const struct tap_report_opts){ .top = -1 },
	},
	.size = sizeof(struct eevdf),
	.top = 20,
	.needs = TAP_NEEDS_SWITCHES,
	.watchers = (const struct tap_report_watcher[]){
		{ &tap_eevdf_ops, offsetof(struct eevdf, eevdf) }, { 0 } },
	.sections = sections,
	.begin = begin_eevdf,
	.end = end_eevdf,
	.release = release_eevdf,
};
