// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* schedtap pelt --verify: compare recorded signals with PELT's definition. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "show/report/pelt.h"

static struct tap_pelt_verify *verify_of(const struct tap_report *r)
{
	return &((struct tap_pelt_report *)r)->verify;
}

static bool is_wanted(void *ctx, enum tap_pelt_average average, const struct tap_task *task,
		      int cpu, uint64_t cgroup)
{
	struct tap_pelt_report *p = ctx;
	bool yes = task ? task->selected : tap_run_cpu(&p->report.run, cpu);

	if (cgroup)
		yes = yes && tap_pelt_report_wants_cgroup(p, cgroup);

	p->report.matched |= yes;
	return yes && tap_pelt_report_names(p->opts, tap_pelt_average_name(average), true);
}

/* ---- tables ---- */

/* clang-format off */
#define SUBJECT_COLUMNS(title) \
	TAP_TASK_COLUMNS("", title, 20), \
	{ "cgroup", NULL, TAP_CELL_TEXT }, \
	{ "cpu", "CPU", TAP_CELL_INT, .width = 3 }
#define ERROR_COLUMNS \
	{ "compared", "compared", TAP_CELL_COUNT, .width = 9 }, \
	{ "exact_pct", "exact %", TAP_CELL_REAL, .width = 7, .places = 1 }, \
	{ "error_avg", "avg error", TAP_CELL_REAL, .width = 9, .places = 3 }, \
	{ "error_p90", "p90", TAP_CELL_COUNT, .width = 5, .rank = 3 }, \
	{ "error_p99", "p99", TAP_CELL_COUNT, .width = 5, .rank = 2 }, \
	{ "error_max", "max", TAP_CELL_COUNT, .width = 5 }, \
	{ "max_at_ns", "max at", TAP_CELL_AT, .width = 16, .rank = 1 }, \
	{ "recorded", "recorded", TAP_CELL_COUNT, .width = 8, .rank = 4 }, \
	{ "predicted_min", "predicted", TAP_CELL_COUNT, .width = 9, .rank = 4 }, \
	{ "predicted_max", "to", TAP_CELL_COUNT, .width = 6, .rank = 4 }
/* clang-format on */

static void put_subject(struct tap_report *r, struct tap_table *t, const struct tap_task *task,
			uint64_t cgroup, int cpu)
{
	const char *path = cgroup ? tap_cgroups_path(&r->run.rec.ids.cgroups, cgroup) : NULL;
	char id[24];

	snprintf(id, sizeof(id), "%" PRIu64, cgroup);
	if (task) {
		tap_task_cells(&r->run, t, task);
	} else {
		tap_table_puts(t, cgroup ? path ?: id : NULL);
		tap_table_nones(t, 3);
	}
	tap_table_puts(t, cgroup ? path ?: id : NULL);
	tap_table_id(t, cpu);
}

static void put_errors(struct tap_table *t, const struct tap_pelt_errors *e)
{
	bool any = e->hist.count;

	tap_table_u64(t, e->hist.count);
	tap_table_real(t, any ? tap_pct(e->exact, e->hist.count) : NAN);
	tap_table_real(t, any ? tap_hist_mean(&e->hist) : NAN);
	tap_table_u64_if(t, any, tap_hist_quantile(&e->hist, 0.9));
	tap_table_u64_if(t, any, tap_hist_quantile(&e->hist, 0.99));
	tap_table_u64_if(t, any, e->hist.max);
	tap_table_u64_if(t, any, e->ts_ns);
	tap_table_u64_if(t, any, e->recorded);
	tap_table_u64_if(t, any, e->predicted.lo);
	tap_table_u64_if(t, any, e->predicted.hi);
}

static const struct tap_column between_columns[] = {
	{ "between", "between two updates", TAP_CELL_TEXT, .width = 20 },
	{ "updates", "updates", TAP_CELL_COUNT, .width = 9 },
	ERROR_COLUMNS,
	SUBJECT_COLUMNS("max of"),
	{ 0 }
};

static void put_between(struct tap_report *r, struct tap_table *t)
{
	const struct tap_pelt_verify *v = verify_of(r);

	for (enum tap_pelt_between between = 0; between < TAP_PELT_NR_BETWEEN; between++) {
		static const struct tap_pelt_errors none = { .hist = TAP_HIST_INIT };
		const struct tap_pelt_errors *e =
			between < TAP_PELT_NR_COMPARED ? &v->errors[between] : &none;

		tap_table_puts(t, tap_pelt_between_name(between));
		tap_table_u64(t, v->between[between]);
		put_errors(t, e);
		put_subject(r, t, e->task, e->cgroup, e->hist.count ? e->cpu : -1);
		tap_table_row(t);
	}
}

static const struct tap_column verified_columns[] = {
	SUBJECT_COLUMNS("subject"),
	{ "signal", "signal", TAP_CELL_TEXT, .width = 15 },
	{ "updates", "updates", TAP_CELL_COUNT, .width = 9 },
	ERROR_COLUMNS,
	{ "steady", NULL, TAP_CELL_COUNT },
	{ "migration", NULL, TAP_CELL_COUNT },
	{ "clock", NULL, TAP_CELL_COUNT },
	{ "first", NULL, TAP_CELL_COUNT },
	{ "repeated", NULL, TAP_CELL_COUNT },
	{ "attached", NULL, TAP_CELL_COUNT },
	{ "delayed", NULL, TAP_CELL_COUNT },
	{ "throttled", NULL, TAP_CELL_COUNT },
	{ "lost", NULL, TAP_CELL_COUNT },
	{ "unknown", NULL, TAP_CELL_COUNT },
	{ 0 }
};

static void put_verified(struct tap_report *r, struct tap_table *t, unsigned int i)
{
	const struct tap_pelt_verified *v = verify_of(r)->verified[i];

	put_subject(r, t, v->task, v->cgroup, v->cpu);
	tap_table_puts(t, tap_pelt_average_name(v->average));
	tap_table_u64(t, v->updates);
	put_errors(t, &v->errors);
	for (enum tap_pelt_between between = 0; between < TAP_PELT_NR_BETWEEN; between++)
		tap_table_u64(t, v->between[between]);
}

static unsigned int nr_verified(const struct tap_report *r)
{
	return verify_of(r)->nr;
}

/* ---- the report ---- */

int tap_pelt_report_verify(struct tap_pelt_report *p, struct tap_err *err)
{
	static const struct tap_section sections[] = {
		{ TAP_FOR_PEOPLE | TAP_FOR_PROGRAMS, .key = "between", .columns = between_columns,
		  .put = put_between },
		{ TAP_FOR_ALL, .before = "\n", .key = "verified", .columns = verified_columns,
		  .row = put_verified, .nr = nr_verified, .noun = "row" },
		{ 0 }
	};
	const char *event = p->subject == TAP_PELT_TASK ? "sched_pelt_se" : "sched_pelt_cfs";

	if (!tap_survey_has_event(&p->report.run.survey, event))
		return tap_err_set(err, -ENODATA,
				   "'%.300s' has no %s events in the time window: record them with "
				   "'schedtap record -e sched -e pelt'",
				   p->report.run.rec.path, event);
	tap_pelt_verify_init(&p->verify, &(const struct tap_pelt_verify_opts){
						 .survey = &p->report.run.survey,
						 .subject = p->subject,
						 .cgroups = &p->report.run.rec.ids.cgroups,
						 .want = is_wanted,
						 .ctx = p,
					 });
	if (p->subject == TAP_PELT_TASK) {
		tap_report_watch(&p->report, &tap_pelt_verify_of_tasks_ops, &p->verify, 0);
	} else {
		tap_report_watch(&p->report, &tap_pelt_queues_ops, &p->verify.queues, 0);
		tap_report_watch(&p->report, &tap_pelt_verify_of_queues_ops, &p->verify, 0);
	}
	p->report.sections = sections;
	return tap_run_check_needs(&p->report.run, TAP_NEEDS_SWITCHES, err);
}

/* Sort by the greatest error first. */
static int by_error(const void *a, const void *b)
{
	const struct tap_pelt_verified *x = *(struct tap_pelt_verified *const *)a,
				       *y = *(struct tap_pelt_verified *const *)b;

	if (x->errors.hist.max != y->errors.hist.max)
		return x->errors.hist.max > y->errors.hist.max ? -1 : 1;
	if (x->errors.hist.count != y->errors.hist.count)
		return x->errors.hist.count > y->errors.hist.count ? -1 : 1;
	if (x->task && x->task != y->task)
		return x->task->index > y->task->index ? 1 : -1;
	if (x->cgroup != y->cgroup)
		return x->cgroup > y->cgroup ? 1 : -1;
	if (x->cpu != y->cpu)
		return x->cpu > y->cpu ? 1 : -1;
	return (x->average > y->average) - (x->average < y->average);
}

void tap_pelt_report_verify_end(struct tap_pelt_report *p)
{
	if (p->verify.nr)
		qsort(p->verify.verified, p->verify.nr, sizeof(*p->verify.verified), by_error);
}
