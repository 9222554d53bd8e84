// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * schedtap pelt --util-est: compare util_est's predictions with the utilization that tasks needed.
 */
#include <errno.h>
#include <math.h>

#include "show/report/pelt.h"

static struct tap_util_est *util_est_of(const struct tap_report *r)
{
	return &((struct tap_pelt_report *)r)->util_est;
}

static bool is_wanted(void *ctx, const struct tap_task *task)
{
	struct tap_report *r = ctx;
	bool yes = task->selected;

	r->matched |= yes;
	return yes;
}

/* clang-format off */
#define SUM_COLUMNS \
	{ "sleeps", "sleeps", TAP_CELL_COUNT, .width = 8, .rank = 7 }, \
	{ "judged", "judged", TAP_CELL_COUNT, .width = 8 }, \
	{ "unknown", "unknown", TAP_CELL_COUNT, .width = 7, .rank = 8 }, \
	{ "need_avg", "avg need", TAP_CELL_REAL, .width = 8, .places = 1 }, \
	{ "error_avg", "avg error", TAP_CELL_REAL, .width = 9, .places = 1 }, \
	{ "error_p50", "p50", TAP_CELL_COUNT, .width = 5, .rank = 4 }, \
	{ "error_p90", "p90", TAP_CELL_COUNT, .width = 5 }, \
	{ "error_p99", "p99", TAP_CELL_COUNT, .width = 5, .rank = 3 }, \
	{ "error_max", "max", TAP_CELL_COUNT, .width = 5 }, \
	{ "over", "over", TAP_CELL_COUNT, .width = 8 }, \
	{ "over_avg", "by avg", TAP_CELL_REAL, .width = 7, .places = 1, .rank = 1 }, \
	{ "over_max", "max", TAP_CELL_COUNT, .width = 5, .rank = 5 }, \
	{ "under", "under", TAP_CELL_COUNT, .width = 8 }, \
	{ "under_avg", "by avg", TAP_CELL_REAL, .width = 7, .places = 1, .rank = 2 }, \
	{ "under_max", "max", TAP_CELL_COUNT, .width = 5, .rank = 6 }, \
	{ "max_at_ns", "worst at", TAP_CELL_AT, .width = 16, .rank = 9 }
/* clang-format on */

static void put_mean(struct tap_table *t, const struct tap_hist *h)
{
	tap_table_real(t, h->count ? tap_hist_mean(h) : NAN);
}

static void put_sums(struct tap_table *t, const struct tap_util_est_sums *s)
{
	bool any = s->error.count;

	tap_table_u64(t, s->sleeps);
	tap_table_u64(t, s->error.count);
	tap_table_u64(t, s->unknown);
	put_mean(t, &s->need);
	put_mean(t, &s->error);
	tap_table_u64_if(t, any, tap_hist_quantile(&s->error, 0.5));
	tap_table_u64_if(t, any, tap_hist_quantile(&s->error, 0.9));
	tap_table_u64_if(t, any, tap_hist_quantile(&s->error, 0.99));
	tap_table_u64_if(t, any, s->error.max);
	tap_table_u64(t, s->over.count);
	put_mean(t, &s->over);
	tap_table_u64_if(t, s->over.count, s->over.max);
	tap_table_u64(t, s->under.count);
	put_mean(t, &s->under);
	tap_table_u64_if(t, s->under.count, s->under.max);
	tap_table_u64_if(t, any, s->max_at_ns);
}

static const struct tap_column all_columns[] = { SUM_COLUMNS, { 0 } };

static void put_all(struct tap_report *r, struct tap_table *t)
{
	put_sums(t, &util_est_of(r)->all);
	tap_table_row(t);
}

static const struct tap_column task_columns[] = { TAP_TASK_COLUMNS("", "task", 26),
						  SUM_COLUMNS,
						  { 0 } };

static void put_task(struct tap_report *r, struct tap_table *t, unsigned int i)
{
	tap_task_cells(&r->run, t, r->tasks[i]);
	put_sums(t, &util_est_of(r)->tasks[r->tasks[i]->index].sums);
}

/* Weight of a task: tasks with the most sleeps come first. */
static uint64_t sleeps_of(const struct tap_report *r, unsigned int index)
{
	return util_est_of(r)->tasks[index].sums.sleeps;
}

int tap_pelt_report_util_est(struct tap_pelt_report *p, struct tap_err *err)
{
	static const struct tap_section sections[] = {
		{ TAP_FOR_PROGRAMS, .key = "all", .columns = all_columns, .put = put_all,
		  .is_object = true },
		{ TAP_FOR_ALL, .key = "tasks", .columns = task_columns, .row = put_task,
		  .nr = tap_report_nr_tasks, .noun = "task" },
		{ 0 }
	};

	if (!tap_run_has(&p->report.run, tap_util_est_ops.wants, NULL))
		return tap_err_set(err, -ENODATA,
				   "'%.300s' has no sched_util_est_se events in the time window: "
				   "record them with 'schedtap record -e sched -e util_est'",
				   p->report.run.rec.path);
	tap_util_est_init(&p->util_est, &(const struct tap_util_est_opts){
						.timeline = &p->report.run.timeline,
						.survey = &p->report.run.survey,
						.want = is_wanted,
						.ctx = p,
					});
	tap_report_watch(&p->report, &tap_util_est_ops, &p->util_est, 0);
	p->report.sections = sections;
	return 0;
}

int tap_pelt_report_util_est_end(struct tap_pelt_report *p, struct tap_err *err)
{
	return tap_report_rank_tasks(&p->report, p->util_est.nr_tasks, sleeps_of, err);
}
