// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* schedtap pelt --what-if: signals of the same schedule with other half-lives. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "show/out/pelt.h"
#include "show/report/pelt.h"

static struct tap_pelt_what_if *what_if_of(const struct tap_report *r)
{
	return &((struct tap_pelt_report *)r)->what_if;
}

static bool is_wanted(void *ctx, const struct tap_task *task, int cpu)
{
	struct tap_report *r = ctx;
	bool yes = task ? task->selected : tap_run_cpu(&r->run, cpu);

	r->matched |= yes;
	return yes;
}

static void put_series(struct tap_report *r, struct tap_table *t)
{
	tap_pelt_report_put((struct tap_pelt_report *)r, t->page, what_if_of(r)->series,
			    what_if_of(r)->nr);
}

static void put_points(struct tap_report *r, struct tap_table *t)
{
	const struct tap_pelt_what_if *w = what_if_of(r);

	for (unsigned int i = 0; i < w->nr; i++) {
		const struct tap_pelt_series *s = w->series[i];
		struct tap_out_pelt o = tap_pelt_report_about((struct tap_pelt_report *)r, s);

		for (unsigned int k = 0; k < s->nr_points; k++)
			tap_out_pelt_row(t, &o, s->points[k].ts_ns, s->points[k].value);
	}
}

static int by_path(const void *a, const void *b)
{
	return strcmp(((const struct tap_pelt_group *)a)->path,
		      ((const struct tap_pelt_group *)b)->path);
}

/*
 * Find the cgroups that -g selects, except for the root, whose signals are the CPU's. Return: 0 or
 * -ENOMEM.
 */
static int find_groups(struct tap_pelt_report *p, struct tap_err *err)
{
	const struct tap_map *paths = &p->report.run.rec.ids.cgroups.paths;

	p->groups = calloc(paths->nr ?: 1, sizeof(*p->groups));
	if (!p->groups)
		return tap_err_nomem(err);
	tap_map_for_each(paths, s)
		if ((uint32_t)s->key != TAP_PELT_ROOT && tap_pelt_report_wants_cgroup(p, s->key))
			p->groups[p->nr_groups++] =
				(struct tap_pelt_group){ s->key,
							 (const char *)(uintptr_t)s->value };
	if (p->nr_groups)
		qsort(p->groups, p->nr_groups, sizeof(*p->groups), by_path);
	return 0;
}

int tap_pelt_report_what_if(struct tap_pelt_report *p, struct tap_err *err)
{
	static const struct tap_section sections[] = {
		{ TAP_FOR_PEOPLE | TAP_FOR_PROGRAMS, .put = put_series },
		{ TAP_FOR_SHEETS, .columns = tap_out_pelt_columns, .put = put_points },
		{ 0 }
	};
	struct tap_pelt_what_if_opts opts = {
		.window = p->report.run.window,
		.subject = p->subject,
		.util = tap_pelt_report_names(p->opts, "util", true),
		.while_running = p->opts->while_running,
		.nr_columns = p->plot.columns,
		.want = is_wanted,
		.ctx = p,
		.survey = &p->report.run.survey,
		.cgroups = &p->report.run.rec.ids.cgroups,
		.keep_points = p->opts->points || tap_report_audience(&p->report) == TAP_FOR_SHEETS,
	};
	int ret = tap_pelt_what_if_parse(p->opts->what_if, &opts, err);

	if (ret)
		return ret;
	opts.runnable =
		opts.subject != TAP_PELT_CPU && tap_pelt_report_names(p->opts, "runnable", false);
	if (!opts.util && !opts.runnable)
		return tap_err_set(
			err, -EINVAL,
			"--what-if can compute only util%s: select no other signal with -s",
			opts.subject == TAP_PELT_CPU ? " of CPUs" : " and runnable");
	if (opts.subject == TAP_PELT_CGROUP)
		ret = find_groups(p, err);
	if (ret)
		return ret;
	opts.groups = p->groups;
	opts.nr_groups = p->nr_groups;
	tap_pelt_what_if_init(&p->what_if, &opts);
	if (opts.subject == TAP_PELT_CGROUP)
		tap_report_watch(&p->report, &tap_pelt_queues_ops, &p->what_if.queues, 0);
	else
		tap_report_watch(&p->report,
				 opts.subject == TAP_PELT_TASK ? &tap_pelt_what_if_of_tasks_ops
							       : &tap_pelt_what_if_of_cpus_ops,
				 &p->what_if, 0);
	p->report.sections = sections;
	return tap_run_check_needs(
		&p->report.run, TAP_NEEDS_SWITCHES | (opts.runnable ? TAP_NEEDS_WAKEUPS : 0), err);
}
