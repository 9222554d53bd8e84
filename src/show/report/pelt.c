// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* schedtap pelt: load-tracking signals over time. */
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>

#include "analysis/pelt.h"
#include "show/out/pelt.h"
#include "show/report/pelt.h"

static const struct tap_opt options[] = {
	TAP_OPTION(struct tap_pelt_report_opts, signals, "signal", 's', "SIGNAL", TAP_OPT_STRINGS,
		   "show signals that match this glob, or two signals in one plot: A,B; repeatable "
		   "[util]"),
	TAP_REPORT_OPTIONS,
	TAP_OPTION(struct tap_pelt_report_opts, table, "table", 0, NULL, TAP_OPT_FLAG,
		   "print a table instead of a plot"),
	TAP_OPTION(
		struct tap_pelt_report_opts, while_running, "while-running", 0, NULL, TAP_OPT_FLAG,
		"count a task's values only while it runs, and a CPU's only while it is not idle"),
	TAP_OPTION(struct tap_pelt_report_opts, points, "points", 0, NULL, TAP_OPT_FLAG,
		   "with --json: print every update of a signal as well"),
	TAP_OPTION(struct tap_pelt_report_opts, verify, "verify", 0, NULL, TAP_OPT_FLAG,
		   "compare recorded values with values computed by PELT's definition"),
	TAP_OPTION(struct tap_pelt_report_opts, util_est, "util-est", 0, NULL, TAP_OPT_FLAG,
		   "show how well util_est predicted the utilization of tasks"),
	TAP_OPTION(struct tap_pelt_report_opts, what_if, "what-if", 0, "halflife=TIMES",
		   TAP_OPT_STRING,
		   "compute the signals of the same schedule with other PELT half-lives, such as "
		   "16ms,64ms"),
	TAP_REPORT_TOP("N rows of --verify (largest errors first) and of --util-est [20"),
	{ 0 }
};

static const char *const subject_names[] = {
	[TAP_PELT_CPU] = "CPUs",
	[TAP_PELT_TASK] = "tasks",
	[TAP_PELT_CGROUP] = "cgroups",
};

/* Return true if a series of this signal may be selected. */
static bool want_signal(void *r, const struct tap_pelt_signal *s)
{
	const struct tap_pelt_report *p = r;
	enum tap_pelt_subject subject = s->subject == TAP_PELT_DOMAIN ? TAP_PELT_CPU : s->subject;
	enum tap_pelt_subject want = p->subject == TAP_PELT_CGROUP ? TAP_PELT_CPU : p->subject;

	return (subject == want || (subject == p->subject && subject == TAP_PELT_CGROUP)) &&
	       tap_pelt_report_names(p->opts, s->name, !strcmp(s->name, p->by_default));
}

/* ---- options ---- */

#define MAX_NAMES 64u /* upper bound of the number of signals */

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

static const struct tap_pelt_signal *find_signal(const char *name, size_t len)
{
	const struct tap_pelt_signal *s = tap_pelt_signals;

	while (s->name && (strncmp(name, s->name, len) || s->name[len]))
		s++;
	return s->name ? s : NULL;
}

/* Check a pair of signals: as they share an axis, they must have the same scale. */
static int check_pair(const char *word, struct tap_err *err)
{
	const char *b = tap_pelt_report_second(word);
	size_t len = (size_t)(b - 1 - word);
	const struct tap_pelt_signal *first = find_signal(word, len),
				     *second = find_signal(b, strlen(b));

	if (!first || !second)
		return tap_err_set(err, -EINVAL,
				   "-s: '%.100s': expected two signals separated by a comma, but "
				   "there is no signal '%.*s'",
				   word, first ? 100 : (int)len, first ? b : word);
	if (first->scale != second->scale || first->is_signed || second->is_signed)
		return tap_err_set(err, -EINVAL,
				   "-s: '%s' and '%s' cannot share a plot: their scales differ, or "
				   "one of them is signed",
				   first->name, second->name);
	return 0;
}

static bool is_average(const char *glob)
{
	bool is = false;

	for (enum tap_pelt_average average = 0; average < TAP_PELT_NR_AVERAGES; average++)
		is |= !fnmatch(glob, tap_pelt_average_name(average), 0);
	return is;
}

static enum tap_pelt_subject subject_of(const struct tap_select_words *words)
{
	if (words->tgids.nr || words->tids.nr || words->comms.nr)
		return TAP_PELT_TASK;
	return words->cgroups.nr ? TAP_PELT_CGROUP : TAP_PELT_CPU;
}

static int check_options(const void *opts, struct tap_err *err)
{
	const struct tap_pelt_report_opts *o = opts;
	enum tap_audience audience = tap_input_style(&o->common.input)->audience;
	struct tap_pelt_what_if_opts what_if = { 0 };
	const struct tap_pelt_signal *s;

	if (o->verify + o->util_est + !!o->what_if > 1)
		return tap_err_set(err, -EINVAL,
				   "--verify, --util-est and --what-if exclude each other");
	if (o->what_if && tap_pelt_what_if_parse(o->what_if, &what_if, err))
		return -EINVAL;
	if (o->util_est && (o->common.input.select.cpus || o->signals.nr))
		return tap_err_set(err, -EINVAL,
				   "--util-est cannot be combined with -C or -s: it reports one "
				   "signal, util_est, for tasks only");
	if ((o->verify || o->util_est) && (o->table || o->points || o->while_running))
		return tap_err_set(err, -EINVAL,
				   "--table, --points and --while-running apply to plots of "
				   "signals and cannot be combined with --%s",
				   o->verify ? "verify" : "util-est");
	if (!o->verify && !o->util_est && o->common.top >= 0)
		return tap_err_set(err, -EINVAL,
				   "-n works only with --verify and --util-est: a plot always "
				   "shows all curves");
	if (o->points && audience != TAP_FOR_PROGRAMS)
		return tap_err_set(err, -EINVAL, "--points needs --json");
	if (o->table && audience != TAP_FOR_PEOPLE)
		return tap_err_set(err, -EINVAL, "--table and --%s exclude each other",
				   audience == TAP_FOR_PROGRAMS ? "json" : "csv");
	if (o->common.input.select.cpus && subject_of(&o->common.input.select) == TAP_PELT_TASK)
		return tap_err_set(err, -EINVAL,
				   "-C cannot select the signals of tasks: it works only for "
				   "signals of CPUs and cgroups");
	for (unsigned int i = 0; i < o->signals.nr; i++) {
		if (tap_pelt_report_second(o->signals.v[i])) {
			if (check_pair(o->signals.v[i], err))
				return -EINVAL;
			continue;
		}
		for (s = tap_pelt_signals; s->name && fnmatch(o->signals.v[i], s->name, 0); s++)
			;
		if (!s->name && !(o->verify && is_average(o->signals.v[i])))
			return unknown_signal(o->signals.v[i], err);
	}
	return 0;
}

static bool is_in_recording(const struct tap_pelt_report *p)
{
	const struct tap_survey *survey = &p->report.run.survey;
	unsigned int i = 0;

	while (i < survey->nr_kinds &&
	       !tap_pelt_has_signal(survey->kinds[i].fmt, want_signal, (void *)p))
		i++;
	return i < survey->nr_kinds;
}

/* Without -s: util or, if the recording has no such signal of the subject, the first that it has.
 */
static void find_default(struct tap_pelt_report *p)
{
	const struct tap_pelt_signal *s = tap_pelt_signals;

	p->by_default = "util";
	if (p->opts->signals.nr || is_in_recording(p))
		return;
	do {
		p->by_default = s->name;
	} while (!is_in_recording(p) && (++s)->name);
	if (!s->name)
		p->by_default = "util";
}

/* The recording has none of the selected signals: say what to record. */
static int refuse_recording(struct tap_pelt_report *p, struct tap_err *err)
{
	const struct tap_survey *survey = &p->report.run.survey;
	const struct tap_pelt_signal *s = tap_pelt_signals;
	unsigned int i = 0;

	while (i < survey->nr_kinds && !tap_pelt_wants(survey->kinds[i].fmt))
		i++;
	if (i == survey->nr_kinds)
		return tap_err_set(err, -ENODATA,
				   "'%s' has no load-tracking events in the time window: record "
				   "them with 'schedtap record -e pelt'",
				   p->report.run.rec.path);
	while (s->name && !want_signal(p, s))
		s++;
	if (!s->name)
		return tap_err_set(err, -ENODATA, "no signal that -s selects exists for %s",
				   subject_names[p->subject]);
	return tap_err_set(err, -ENODATA,
			   "'%s' has no signal '%s' of %s in the time window: record it with "
			   "'schedtap record -e %s'",
			   p->report.run.rec.path, s->name, subject_names[p->subject], s->event);
}

/*
 * Return true if -p, -t, -c and -g select the series' task or cgroup. For a cgroup only -g can
 * match.
 */
static bool task_chosen(struct tap_pelt_report *p, const struct tap_pelt_series *s)
{
	struct tap_task task = { .tid = s->tid };

	if (s->subject == TAP_PELT_TASK)
		task = *tap_identity(&p->report.run.rec.ids, s->tid);
	if (*s->comm)
		memcpy(task.comm, s->comm, sizeof(task.comm));
	if (s->cgroup)
		task.cgroup = s->cgroup;
	return tap_pick_task(&p->report.run.pick, &p->report.run.rec.ids.cgroups, &task);
}

static bool span_chosen(const struct tap_pelt_report *p, const struct tap_cpus *span)
{
	for (unsigned int cpu = 0; cpu < span->nr_words * 64; cpu++)
		if (tap_cpus_has(span, cpu) && tap_run_cpu(&p->report.run, (int)cpu))
			return true;
	return false;
}

static bool want_series(void *ctx, const struct tap_pelt_series *s)
{
	struct tap_pelt_report *p = ctx;

	switch (s->subject) {
	case TAP_PELT_DOMAIN:
		return span_chosen(p, &s->span);
	case TAP_PELT_TASK:
		return task_chosen(p, s);
	case TAP_PELT_CGROUP:
		return p->subject == TAP_PELT_CGROUP && tap_run_cpu(&p->report.run, s->cpu) &&
		       task_chosen(p, s);
	case TAP_PELT_CPU:
		return p->subject == TAP_PELT_CPU && tap_run_cpu(&p->report.run, s->cpu);
	}
	return false;
}

/* ---- output ---- */

static int on_point(void *ctx, const struct tap_pelt_series *s, uint64_t ts_ns, int64_t value)
{
	struct tap_pelt_report *p = ctx;
	struct tap_out_pelt o = tap_pelt_report_about(p, s);

	if (!p->report.has_rows) /* open late, so that there is no header without rows */
		tap_report_open_rows(&p->report, tap_out_pelt_columns, NULL);
	tap_out_pelt_row(&p->report.rows, &o, ts_ns, value);
	return p->report.page.err;
}

static void put_series(struct tap_report *r, struct tap_table *t)
{
	unsigned int nr;
	struct tap_pelt_series *const *all = tap_pelt_series(r->signals, &nr);

	tap_pelt_report_put((struct tap_pelt_report *)r, t->page, all, nr);
}

/* ---- the report ---- */

static int begin_pelt(struct tap_report *r, struct tap_err *err)
{
	const struct tap_pelt_report_opts *o = (const struct tap_pelt_report_opts *)r->opts;
	struct tap_pelt_report *p = (struct tap_pelt_report *)r;
	struct tap_pelt_opts opts = {
		.while_running = o->while_running,
		.keep_points = o->points,
		.want = want_series,
	};
	int ret;

	p->opts = o;
	p->subject = subject_of(&o->common.input.select);
	find_default(p);
	if (o->verify)
		return tap_pelt_report_verify(p, err);
	if (o->util_est)
		return tap_pelt_report_util_est(p, err);
	if (tap_report_audience(r) == TAP_FOR_PEOPLE && !o->table) {
		p->plot = tap_report_plot(r);
		opts.nr_columns = p->plot.columns;
	}
	if (o->what_if)
		return tap_pelt_report_what_if(p, err);
	if (tap_report_audience(r) == TAP_FOR_SHEETS)
		opts.point = on_point;
	ret = tap_report_open_signals(r, opts, err);
	if (!ret && !r->signals)
		ret = refuse_recording(p, err);
	if (!ret && o->while_running)
		ret = tap_run_check_needs(&r->run, TAP_NEEDS_SWITCHES, err);
	return ret;
}

static int end_pelt(struct tap_report *r, struct tap_err *err)
{
	struct tap_pelt_report *p = (struct tap_pelt_report *)r;
	unsigned int nr;

	if (p->opts->verify) {
		tap_pelt_report_verify_end(p);
		return 0;
	}
	if (p->opts->util_est)
		return tap_pelt_report_util_est_end(p, err);
	if (p->opts->what_if)
		return 0;
	tap_pelt_series(r->signals, &nr);
	r->matched = nr;
	if (nr && tap_report_audience(r) == TAP_FOR_SHEETS && !r->has_rows)
		tap_report_open_rows(r, tap_out_pelt_columns, NULL);
	if (nr)
		return 0;
	return tap_err_set(
		err, -ENODATA,
		"'%s' has none of the selected signals for the selected %s in the time window",
		r->run.rec.path, subject_names[p->subject]);
}

static void release_pelt(struct tap_report *r)
{
	struct tap_pelt_report *p = (struct tap_pelt_report *)r;

	tap_pelt_verify_release(&p->verify);
	tap_util_est_release(&p->util_est);
	tap_pelt_what_if_release(&p->what_if);
	free(p->groups);
}

static const struct tap_section sections[] = {
	{ TAP_FOR_PEOPLE | TAP_FOR_PROGRAMS, .put = put_series }, { 0 }
};

const struct tap_report_type tap_report_pelt = {
	.cmd = {
		.name = "pelt",
		.help = "load-tracking signals (PELT) over time",
		.operands = TAP_CMD_FILE,
		.example = "schedtap pelt",
		.opts = options,
		.opts_size = sizeof(struct tap_pelt_report_opts),
		.defaults = &(const struct tap_pelt_report_opts){ .common.top = -1 },
	},
	.size = sizeof(struct tap_pelt_report),
	.top = 20,
	.sections = sections,
	.want_signal = want_signal,
	.check = check_options,
	.begin = begin_pelt,
	.end = end_pelt,
	.release = release_pelt,
};
