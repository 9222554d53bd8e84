// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* schedtap pelt --what-if: the same schedule seen with other half-lives. */
#include <errno.h>

#include "out/pelt.h"
#include "report/pelt.h"

static struct tap_pelt_what_if *what_if_of(const struct tap_report *r)
{
	return &((struct tap_pelt_report *)r)->what_if;
}

static bool want(void *ctx, const struct tap_task *task, int cpu)
{
	struct tap_report *r = ctx;
	bool yes = task ? tap_run_task(&r->run, task) : tap_run_cpu(&r->run, cpu);

	r->matched |= yes;
	return yes;
}

static int on_stretch(void *ctx, const struct tap_stretch *s)
{
	return tap_pelt_what_if_stretch(what_if_of(ctx), s);
}

static int on_cpu(void *ctx, const struct tap_cpu_stretch *s)
{
	return tap_pelt_what_if_cpu(what_if_of(ctx), s);
}

static void put_series(struct tap_report *r, struct tap_table *t)
{
	tap_pelt_report_put((struct tap_pelt_report *)r, t->page, what_if_of(r)->series, what_if_of(r)->nr);
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

int tap_pelt_report_what_if(struct tap_pelt_report *p, struct tap_err *err)
{
	static const struct tap_observer observer = { .states = TAP_STATE_ALL, .stretch = on_stretch, .cpu = on_cpu };
	static const struct tap_section sections[] = {
		{ TAP_FOR_PEOPLE | TAP_FOR_PROGRAMS, .put = put_series },
		{ TAP_FOR_SHEETS, .columns = tap_out_pelt_columns, .put = put_points },
		{ 0 }
	};
	struct tap_pelt_what_if_opts opts = {
		.window = p->report.run.window, .tasks = p->subject == TAP_PELT_TASK,
		.util = tap_pelt_report_names(p->opts, "util", true), .while_running = p->opts->while_running,
		.nr_columns = p->plot.columns, .want = want, .ctx = p,
		.keep_points = p->opts->points || tap_report_audience(&p->report) == TAP_FOR_SHEETS,
	};
	int ret = tap_pelt_what_if_parse(p->opts->what_if, &opts, err);

	if (ret)
		return ret;
	opts.runnable = opts.tasks && tap_pelt_report_names(p->opts, "runnable", false);
	if (!opts.util && !opts.runnable)
		return tap_err_set(err, -EINVAL, "--what-if has util%s, and no other signal", opts.tasks ? " and runnable" : " of CPUs");
	tap_pelt_what_if_init(&p->what_if, &opts);
	p->report.observer = &observer;
	p->report.sections = sections;
	return tap_run_check_needs(&p->report.run, TAP_NEEDS_SWITCHES | (opts.runnable ? TAP_NEEDS_WAKEUPS : 0), err);
}

void tap_pelt_report_what_if_release(struct tap_pelt_report *p)
{
	tap_pelt_what_if_release(&p->what_if);
}
