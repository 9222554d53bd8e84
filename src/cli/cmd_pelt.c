// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* schedtap pelt: the load-tracking signals over time. */
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <unistd.h>

#include "analysis/pelt.h"
#include "cli/pass.h"
#include "cli/screen.h"
#include "out/pelt.h"

struct pelt_opts {
	struct tap_pass_opts pass;
	struct tap_strings signals;
	bool table, points, while_running;
};

static const struct tap_opt pelt_opts[] = {
	TAP_OPTION(struct pelt_opts, signals, "signal", 's', "SIGNAL", TAP_OPT_STRINGS,
		   "show this signal, a glob; repeatable [util]"),
	TAP_PASS_OPTIONS(struct pelt_opts),
	TAP_OPTION(struct pelt_opts, table, "table", 0, NULL, TAP_OPT_FLAG,
		   "figures instead of a plot"),
	TAP_OPTION(struct pelt_opts, while_running, "while-running", 0, NULL, TAP_OPT_FLAG,
		   "count a task's values while it runs, a CPU's while it is not idle"),
	TAP_OPTION(struct pelt_opts, points, "points", 0, NULL, TAP_OPT_FLAG,
		   "with --json: every update as well"),
	{ 0 }
};

struct pelt_report {
	const struct pelt_opts *opts;
	enum tap_pelt_subject subject; /* CPU: domains as well */
	struct tap_pass pass;
	struct tap_pelt *pelt;
	struct tap_report out;
	struct tap_table csv;
	struct tap_plot plot;
};

static const char *const subject_names[] = {
	[TAP_PELT_CPU] = "CPUs", [TAP_PELT_TASK] = "tasks", [TAP_PELT_CGROUP] = "cgroups",
};

static bool name_chosen(const struct pelt_opts *o, const char *name)
{
	bool yes = !o->signals.nr && !strcmp(name, "util");

	for (unsigned int i = 0; i < o->signals.nr; i++)
		yes |= !fnmatch(o->signals.v[i], name, 0);
	return yes;
}

/* Whether it may have series that are asked for. */
static bool chosen(const struct pelt_report *r, const struct tap_pelt_signal *s)
{
	enum tap_pelt_subject subject = s->subject == TAP_PELT_DOMAIN ? TAP_PELT_CPU : s->subject;
	enum tap_pelt_subject want = r->subject == TAP_PELT_CGROUP ? TAP_PELT_CPU : r->subject;

	return subject == want && name_chosen(r->opts, s->name);
}

static bool event_chosen(const struct pelt_report *r, const struct tap_format *fmt)
{
	const struct tap_pelt_signal *s = tap_pelt_signals;

	while (s->name && (strcmp(s->event, fmt->name) || !chosen(r, s)))
		s++;
	return s->name;
}

static bool wants(void *ctx, const struct tap_format *fmt)
{
	return event_chosen(ctx, fmt);
}

static int on_event(void *ctx, const struct tap_event *ev)
{
	struct pelt_report *r = ctx;

	return tap_pelt_event(r->pelt, r->pass.timeline, ev);
}

static int on_stretch(void *ctx, const struct tap_stretch *s)
{
	return tap_pelt_stretch(((struct pelt_report *)ctx)->pelt, s);
}

static int on_cpu(void *ctx, const struct tap_cpu_stretch *s)
{
	return tap_pelt_cpu_stretch(((struct pelt_report *)ctx)->pelt, s);
}

static const struct tap_pass_events events = { .wants = wants, .event = on_event };
static const struct tap_observer observer = {
	.states = TAP_STATE_ALL, .stretch = on_stretch, .cpu = on_cpu,
};

/* ---- what is asked for ---------------------------------------------------------------------- */

#define MAX_NAMES 64u /* there are fewer */

static int unknown_signal(const char *glob, struct tap_err *err)
{
	const char *names[MAX_NAMES], *near;
	unsigned int nr = 0;

	for (const struct tap_pelt_signal *s = tap_pelt_signals; s->name && nr < MAX_NAMES; s++)
		names[nr++] = s->name;
	near = tap_nearest(glob, names, nr);
	return tap_err_set(err, -EINVAL, "-s: there is no signal '%s': %s%s%s", glob,
			   near ? "did you mean '" : "see schedtap-pelt(1)", near ? near : "",
			   near ? "'?" : "");
}

static enum tap_pelt_subject subject_of(const struct tap_pick_opts *pick)
{
	if (pick->tgids.nr || pick->tids.nr || pick->comms.nr)
		return TAP_PELT_TASK;
	return pick->cgroups.nr ? TAP_PELT_CGROUP : TAP_PELT_CPU;
}

static int check_opts(const struct pelt_opts *o, struct tap_err *err)
{
	const struct tap_pelt_signal *s;

	if (o->points && !o->pass.json)
		return tap_err_set(err, -EINVAL, "--points needs --json");
	if (o->table && (o->pass.json || o->pass.csv))
		return tap_err_set(err, -EINVAL, "--table and --%s exclude each other",
				   o->pass.json ? "json" : "csv");
	if (o->pass.pick.cpus && subject_of(&o->pass.pick) == TAP_PELT_TASK)
		return tap_err_set(err, -EINVAL, "-C is for CPUs and cgroups, not for tasks");
	for (unsigned int i = 0; i < o->signals.nr; i++) {
		for (s = tap_pelt_signals; s->name && fnmatch(o->signals.v[i], s->name, 0); s++)
			;
		if (!s->name)
			return unknown_signal(o->signals.v[i], err);
	}
	return 0;
}

/* Refuses a recording that has nothing of what is asked for, and says what to record. */
static int check_recording(const struct pelt_report *r, struct tap_err *err)
{
	const struct tap_survey *survey = &r->pass.survey;
	const struct tap_pelt_signal *s = tap_pelt_signals;
	bool any = false;

	for (unsigned int i = 0; i < survey->nr_kinds; i++) {
		if (event_chosen(r, survey->kinds[i].fmt))
			return 0;
		any |= tap_pelt_wants(survey->kinds[i].fmt);
	}
	if (!any)
		return tap_err_set(err, -ENODATA,
				   "'%s' has no load-tracking events in this window: record them "
				   "with 'schedtap record -e pelt'", r->opts->pass.input);
	while (s->name && !chosen(r, s))
		s++;
	if (!s->name)
		return tap_err_set(err, -ENODATA, "%s have none of these signals",
				   subject_names[r->subject]);
	return tap_err_set(err, -ENODATA,
			   "'%s' has no '%s' of %s in this window: record it with "
			   "'schedtap record -e %s'", r->opts->pass.input, s->name,
			   subject_names[r->subject], s->event);
}

/* -p -t -c -g, of which a cgroup knows only the last. */
static bool task_chosen(struct pelt_report *r, const struct tap_pelt_series *s)
{
	const struct tap_task *task = NULL;

	if (s->subject == TAP_PELT_TASK)
		task = tap_timeline_task(r->pass.timeline, s->tid);
	return tap_pick_task(&r->pass.pick, &r->pass.in.who, s->tid,
			     task ? tap_pass_tgid(&r->pass, task) : 0, s->comm,
			     strnlen(s->comm, sizeof(s->comm)), s->cgroup) > 0;
}

static bool span_chosen(const struct pelt_report *r, const struct tap_cpus *span)
{
	for (unsigned int cpu = 0; cpu < span->nr_words * 64; cpu++)
		if (tap_cpus_has(span, cpu) && tap_pass_cpu(&r->pass, (int)cpu))
			return true;
	return false;
}

static bool want_signal(void *ctx, const struct tap_pelt_signal *s)
{
	return chosen(ctx, s);
}

static bool want_series(void *ctx, const struct tap_pelt_series *s)
{
	struct pelt_report *r = ctx;

	switch (s->subject) {
	case TAP_PELT_DOMAIN:
		return span_chosen(r, &s->span);
	case TAP_PELT_TASK:
		return task_chosen(r, s);
	case TAP_PELT_CGROUP:
		return r->subject == TAP_PELT_CGROUP && tap_pass_cpu(&r->pass, s->cpu) &&
		       task_chosen(r, s);
	case TAP_PELT_CPU:
		return r->subject == TAP_PELT_CPU && tap_pass_cpu(&r->pass, s->cpu);
	}
	return false;
}

/* ---- what is shown -------------------------------------------------------------------------- */

static const char *path_of(struct pelt_report *r, const struct tap_pelt_series *s)
{
	return s->subject == TAP_PELT_CGROUP ? tap_who_cgroup(&r->pass.in.who, s->cgroup) : NULL;
}

/* Also of a task that no switch names: then the recording's list may. */
static int tgid_of(struct pelt_report *r, const struct tap_pelt_series *s)
{
	const struct tap_task *task = NULL;
	const struct tap_who_task *listed;

	if (s->subject != TAP_PELT_TASK)
		return -1;
	task = tap_timeline_task(r->pass.timeline, s->tid);
	if (task)
		return tap_pass_tgid(&r->pass, task);
	listed = tap_who_task(&r->pass.in.who, s->tid);
	return listed ? listed->tgid : -1;
}

/* Late: where nothing comes there is to be no header. */
static void begin_csv(struct pelt_report *r)
{
	if (!r->csv.to)
		tap_table_stream(&r->csv, &r->out, tap_out_pelt_columns, NULL);
}

static int on_point(void *ctx, const struct tap_pelt_series *s, uint64_t ts_ns, uint64_t value)
{
	struct pelt_report *r = ctx;
	struct tap_out_pelt o = { .series = s, .tgid = tgid_of(r, s), .path = path_of(r, s) };

	begin_csv(r);
	tap_out_pelt_row(&r->csv, &o, ts_ns, value);
	return r->out.err;
}

static void choose_plot(struct pelt_report *r)
{
	const char *term = getenv("TERM");
	unsigned int width = tap_screen_columns();

	if (!width)
		width = 100;
	if (width < TAP_PLOT_MARGIN + TAP_PLOT_MIN_COLUMNS)
		width = TAP_PLOT_MARGIN + TAP_PLOT_MIN_COLUMNS;
	r->plot = (struct tap_plot){
		.columns = width - TAP_PLOT_MARGIN, .rows = 8,
		.ascii = !tap_screen_utf8() || (term && !strcmp(term, "dumb")),
		.start_ns = r->pass.start_ns, .end_ns = r->pass.end_ns,
		.wall = &r->pass.in.wall,
	};
}

static void print_series(struct pelt_report *r, const struct tap_out_pelt *series,
			 unsigned int nr)
{
	switch (r->out.style) {
	case TAP_STYLE_CSV: /* has them */
		begin_csv(r);
		tap_table_end(&r->csv);
		break;
	case TAP_STYLE_TEXT:
		if (r->opts->table)
			tap_out_pelt_text(&r->out, series, nr, r->pass.end_ns - r->pass.start_ns);
		else
			tap_out_pelt_plot(&r->out.buf, &r->plot, series, nr);
		break;
	default:
		tap_out_pelt_json(&r->out, series, nr, r->pass.end_ns - r->pass.start_ns,
				  r->opts->points);
	}
}

static int print(struct pelt_report *r, struct tap_err *err)
{
	struct tap_pelt_series *const *all;
	struct tap_out_pelt *series;
	unsigned int nr;

	all = tap_pelt_series(r->pelt, &nr);
	r->pass.matched = nr;
	if (!nr)
		return tap_err_set(err, -ENODATA,
				   "'%s' has none of these signals of the %s asked for in this "
				   "window", r->opts->pass.input, subject_names[r->subject]);
	series = calloc(nr, sizeof(*series));
	if (!series)
		return tap_err_set(err, -ENOMEM, "out of memory");
	for (unsigned int i = 0; i < nr; i++) {
		const struct tap_task *task = NULL;

		if (all[i]->subject == TAP_PELT_TASK)
			task = tap_timeline_task(r->pass.timeline, all[i]->tid);
		series[i] = (struct tap_out_pelt){
			.series = all[i], .tgid = tgid_of(r, all[i]), .path = path_of(r, all[i]),
		};
		if (task)
			series[i].label = tap_pass_label(&r->pass, task, &series[i].label_len);
	}
	print_series(r, series, nr);
	free(series);
	return 0;
}

/* ---- run ------------------------------------------------------------------------------------ */

static int analyse(struct pelt_report *r, struct tap_err *err)
{
	bool plots = tap_pass_style(&r->pass) == TAP_STYLE_TEXT && !r->opts->table;
	struct tap_pelt_opts opts = {
		.start_ns = r->pass.start_ns, .end_ns = r->pass.end_ns,
		.survey = &r->pass.survey, .while_running = r->opts->while_running, .keep_points = r->opts->points,
		.want_signal = want_signal, .want = want_series, .ctx = r,
	};
	int ret;

	if (plots) {
		choose_plot(r);
		opts.nr_columns = r->plot.columns;
	}
	tap_pass_begin(&r->pass, &r->out, tap_pass_style(&r->pass));
	if (r->out.style == TAP_STYLE_CSV)
		opts.point = on_point;
	if (tap_pelt_new(&opts, &r->pelt))
		return tap_err_set(err, -ENOMEM, "out of memory");
	ret = tap_pass_run(&r->pass, &observer, &events, r, err);
	if (!ret && tap_pelt_end(r->pelt) == -ENOMEM)
		ret = tap_err_set(err, -ENOMEM, "out of memory");
	return ret ? ret : print(r, err);
}

static int report(struct pelt_report *r, struct tap_err *err)
{
	bool has_switch = r->pass.survey.buffer[TAP_SHAPE_SWITCH] != TAP_NO_BUFFER;
	int ret = check_recording(r, err), written = 0;

	if (!ret && r->opts->while_running && !has_switch)
		ret = tap_err_set(err, -ENODATA,
				  "'%s' does not say who runs: --while-running needs sched_switch",
				  r->opts->pass.input);
	if (ret)
		return ret;
	ret = analyse(r, err);
	if (ret && r->out.style != TAP_STYLE_CSV) /* rows that came before are worth having */
		tap_buf_release(&r->out.buf);
	else
		written = tap_report_close(&r->out);
	if (!ret && written) {
		errno = -written;
		ret = tap_err_set(err, written, "cannot write the report: %m");
	}
	tap_pelt_free(r->pelt);
	return ret;
}

static int run_pelt(void *opts, const struct tap_strings *operands, char **rest)
{
	const struct pelt_opts *o = opts;
	struct pelt_report r = { .opts = o, .subject = subject_of(&o->pass.pick) };
	struct tap_err err = { 0 };
	bool usage;
	int ret;

	(void)operands;
	(void)rest;
	if (check_opts(o, &err))
		return tap_cmd_fail(&err, true);
	ret = tap_pass_open(&r.pass, &o->pass, &usage, &err);
	if (!ret)
		ret = report(&r, &err);
	return tap_pass_finish(&r.pass, ret, &err, usage);
}

const struct tap_cmd tap_cmd_pelt = {
	.name = "pelt",
	.help = "load-tracking signals over time",
	.operands = TAP_CMD_FILE,
	.example = "schedtap pelt -i demo/trace.dat",
	.opts = pelt_opts,
	.opts_size = sizeof(struct pelt_opts),
	.run = run_pelt,
};
