// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* schedtap summary: what happened, on one page. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>

#include "cli/summary_page.h"

#define TOP_IN_TEXT 10u

struct summary_opts {
	struct tap_pass_opts pass;
	int64_t top; /* -1: not given */
	bool check;
};

static const struct tap_opt summary_opts[] = {
	TAP_PASS_OPTIONS(struct summary_opts),
	{ "number", 'n', "N", "show the N tasks that ran most [10; all with --json and --csv]",
	  TAP_OPT_INT, offsetof(struct summary_opts, top), .min = 0, .max = INT_MAX },
	TAP_OPTION(struct summary_opts, check, "check", 0, NULL, TAP_OPT_FLAG,
		   "check that the times add up, and print nothing else"),
	{ 0 }
};

/* Return: how many of the CPUs' times do not add up to the window. */
static unsigned int check_cpus(const struct tap_pass *p, uint64_t window_ns)
{
	unsigned int nr, bad = 0;
	const struct tap_cpu *cpus = tap_timeline_cpus(p->timeline, &nr);

	for (unsigned int i = 0; i < nr; i++) {
		uint64_t sum = cpus[i].run_ns + cpus[i].idle_ns + cpus[i].offline_ns +
			       cpus[i].unknown_ns;

		if (sum == window_ns)
			continue;
		bad++;
		printf("CPU %u: run + idle + offline + unknown = %" PRIu64 " ns, the window is %" PRIu64
		       " ns\n", i, sum, window_ns);
	}
	printf("%u CPUs: run + idle + offline + unknown = window, %u wrong\n", nr, bad);
	return bad;
}

/* Return: how many of the tasks' states do not add up to their life. */
static unsigned int check_tasks(const struct tap_pass *p)
{
	unsigned int nr, bad = 0;
	struct tap_task *const *tasks = tap_timeline_tasks(p->timeline, &nr);

	for (unsigned int i = 0; i < nr; i++) {
		uint64_t life = tap_task_life_ns(p->timeline, tasks[i]), sum = 0;

		for (unsigned int s = 0; s < TAP_NR_STATES; s++)
			sum += tasks[i]->total_ns[s];
		if (sum == life)
			continue;
		bad++;
		printf("task %d: states = %" PRIu64 " ns, its life is %" PRIu64 " ns\n",
		       tasks[i]->tid, sum, life);
	}
	printf("%u tasks: states = life in the window, %u wrong\n", nr, bad);
	return bad;
}

/* What all tasks ran is what all CPUs ran: nothing is counted twice. */
static unsigned int check_run(const struct tap_pass *p)
{
	uint64_t by_cpu = 0, by_task = 0;
	unsigned int nr;
	const struct tap_cpu *cpus = tap_timeline_cpus(p->timeline, &nr);
	struct tap_task *const *tasks;

	for (unsigned int i = 0; i < nr; i++)
		by_cpu += cpus[i].run_ns;
	tasks = tap_timeline_tasks(p->timeline, &nr);
	for (unsigned int i = 0; i < nr; i++)
		by_task += tasks[i]->total_ns[TAP_RUNNING];
	printf("run time by CPU %" PRIu64 " ns, by task %" PRIu64 " ns, %s\n", by_cpu, by_task,
	       by_cpu == by_task ? "equal" : "not equal");
	return by_cpu != by_task;
}

static int check(const struct tap_pass *p)
{
	uint64_t start_ns, end_ns;
	unsigned int bad;

	tap_timeline_span(p->timeline, &start_ns, &end_ns);
	bad = check_cpus(p, end_ns - start_ns);
	bad += check_tasks(p);
	bad += check_run(p);
	return bad ? TAP_EXIT_FAILED : TAP_EXIT_OK;
}

/* ---- util and nr_running of the CPUs ---- */

/* One run of the command. */
struct run {
	const struct summary_opts *opts;
	struct tap_pass pass;
	struct tap_pelt *signals; /* NULL: neither was recorded */
	struct tap_gaps gaps;
};

static int on_cpu(void *ctx, const struct tap_cpu_stretch *s)
{
	struct run *run = ctx;

	return tap_pass_cpu(&run->pass, s->cpu) ? tap_gaps_add(&run->gaps, s) : 0;
}

static const struct tap_observer observer = { .cpu = on_cpu, .unknown_cpus_only = true };

static bool want_signal(void *ctx, const struct tap_pelt_signal *s)
{
	(void)ctx;
	return s->subject == TAP_PELT_CPU &&
	       (!strcmp(s->name, "util") || !strcmp(s->name, "nr_running"));
}

static bool want_series(void *ctx, const struct tap_pelt_series *s)
{
	const struct run *run = ctx;

	return s->subject == TAP_PELT_CPU && tap_pass_cpu(&run->pass, s->cpu);
}

static bool wants(void *ctx, const struct tap_format *fmt)
{
	const struct tap_pelt_signal *s = tap_pelt_signals;

	while (s->name && (strcmp(s->event, fmt->name) || !want_signal(ctx, s)))
		s++;
	return s->name;
}

static int on_event(void *ctx, const struct tap_event *ev)
{
	struct run *run = ctx;

	return tap_pelt_event(run->signals, run->pass.timeline, ev);
}

static bool has_signals(struct run *run)
{
	const struct tap_survey *s = &run->pass.survey;

	for (unsigned int i = 0; i < s->nr_kinds; i++)
		if (wants(run, s->kinds[i].fmt))
			return true;
	return false;
}

/* Without such events nothing is handed to anybody. */
static int observe(struct run *run, struct tap_err *err)
{
	static const struct tap_pass_events events = { .wants = wants, .event = on_event };
	struct tap_pelt_opts opts = {
		.start_ns = run->pass.start_ns, .end_ns = run->pass.end_ns,
		.survey = &run->pass.survey, .cpus_only = true, .want_signal = want_signal,
		.want = want_series, .ctx = run,
	};
	int ret;

	run->gaps = (struct tap_gaps){
		.survey = &run->pass.survey, .start_ns = run->pass.start_ns,
		.end_ns = run->pass.end_ns,
	};
	if (run->opts->check || !has_signals(run)) {
		ret = tap_pass_run(&run->pass, run->opts->check ? NULL : &observer, NULL, run, err);
		/* a page about a recording without switches is still one about its events */
		return ret == -ENODATA && tap_pass_check(&run->pass, NULL) ? 0 : ret;
	}
	if (tap_pelt_new(&opts, &run->signals))
		return tap_err_set(err, -ENOMEM, "out of memory");
	ret = tap_pass_run(&run->pass, &observer, &events, run, err);
	if (!ret && tap_pelt_end(run->signals))
		ret = tap_err_set(err, -ENOMEM, "out of memory");
	return ret;
}

/* ---- the command ---- */

static int summarise(struct run *run, struct tap_err *err)
{
	int ret;

	if (run->opts->check)
		return check(&run->pass);
	ret = tap_summary_page(&run->pass, run->signals, &run->gaps,
			       tap_pass_top(&run->pass, run->opts->top, TOP_IN_TEXT));
	if (!ret)
		return TAP_EXIT_OK;
	errno = -ret;
	tap_err_set(err, ret, "cannot write the summary: %m");
	return tap_cmd_fail(err, false);
}

static int run_summary(void *opts, const struct tap_strings *operands, char **rest)
{
	struct run run = { .opts = opts };
	struct tap_err err = { 0 };
	bool usage;
	int ret, code = TAP_EXIT_OK;

	(void)operands;
	(void)rest;
	ret = tap_pass_open(&run.pass, &run.opts->pass, &usage, &err);
	run.pass.mark_throttling = true;
	if (!ret)
		ret = observe(&run, &err);
	if (!ret)
		code = summarise(&run, &err);
	tap_gaps_release(&run.gaps);
	tap_pelt_free(run.signals);
	ret = tap_pass_finish(&run.pass, ret, &err, usage);
	return code ? code : ret;
}

const struct tap_cmd tap_cmd_summary = {
	.name = "summary",
	.help = "one page: what happened",
	.operands = TAP_CMD_FILE,
	.example = "schedtap summary -i demo/trace.dat -n 20",
	.opts = summary_opts,
	.opts_size = sizeof(struct summary_opts),
	.defaults = &(const struct summary_opts){ .top = -1 },
	.run = run_summary,
};
