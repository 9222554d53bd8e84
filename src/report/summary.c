// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* schedtap summary: what happened, on one page. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "report/summary.h"

static const struct tap_opt options[] = {
	TAP_REPORT_OPTIONS,
	TAP_REPORT_TOP("the N tasks that ran most [10"),
	TAP_OPTION(struct summary_opts, check, "check", 0, NULL, TAP_OPT_FLAG,
		   "check that the times add up, and print nothing else"),
	{ 0 }
};

/* ---- --check ----------------------------------------------------------------------------------- */

/* Return: how many of the CPUs' times do not add up to the window. */
static unsigned int check_cpus(struct tap_report *r, uint64_t window_ns)
{
	unsigned int nr, bad = 0;
	const struct tap_cpu *cpus = tap_timeline_cpus(r->run.timeline, &nr);

	for (unsigned int i = 0; i < nr; i++) {
		uint64_t sum = cpus[i].run_ns + cpus[i].idle_ns + cpus[i].offline_ns +
			       cpus[i].unknown_ns;

		if (sum == window_ns)
			continue;
		bad++;
		tap_buf_printf(&r->page.buf, "CPU %u: run + idle + offline + unknown = %" PRIu64 " ns, the window is %" PRIu64
		       " ns\n", i, sum, window_ns);
	}
	tap_buf_printf(&r->page.buf, "%u CPUs: run + idle + offline + unknown = window, %u wrong\n", nr, bad);
	return bad;
}

/* Return: how many of the tasks' states do not add up to their life. */
static unsigned int check_tasks(struct tap_report *r)
{
	unsigned int nr, bad = 0;
	struct tap_task *const *tasks = tap_timeline_tasks(r->run.timeline, &nr);

	for (unsigned int i = 0; i < nr; i++) {
		uint64_t life = tap_task_life_ns(r->run.timeline, tasks[i]), sum = 0;

		for (unsigned int s = 0; s < TAP_NR_STATES; s++)
			sum += tasks[i]->total_ns[s];
		if (sum == life)
			continue;
		bad++;
		tap_buf_printf(&r->page.buf, "task %d: states = %" PRIu64 " ns, its life is %" PRIu64 " ns\n",
		       tasks[i]->tid, sum, life);
	}
	tap_buf_printf(&r->page.buf, "%u tasks: states = life in the window, %u wrong\n", nr, bad);
	return bad;
}

/* What all tasks ran is what all CPUs ran: nothing is counted twice. */
static unsigned int check_run(struct tap_report *r)
{
	uint64_t by_cpu = 0, by_task = 0;
	unsigned int nr;
	const struct tap_cpu *cpus = tap_timeline_cpus(r->run.timeline, &nr);
	struct tap_task *const *tasks;

	for (unsigned int i = 0; i < nr; i++)
		by_cpu += cpus[i].run_ns;
	tasks = tap_timeline_tasks(r->run.timeline, &nr);
	for (unsigned int i = 0; i < nr; i++)
		by_task += tasks[i]->total_ns[TAP_RUNNING];
	tap_buf_printf(&r->page.buf, "run time by CPU %" PRIu64 " ns, by task %" PRIu64 " ns, %s\n", by_cpu, by_task,
	       by_cpu == by_task ? "equal" : "not equal");
	return by_cpu != by_task;
}

static bool is_check(const struct tap_report *r)
{
	return ((const struct summary_opts *)r->opts)->check;
}

static void check(struct tap_report *r)
{
	uint64_t start_ns, end_ns;
	unsigned int bad;

	tap_page_open(&r->page, &tap_style_text, r->screen->fd);
	r->is_open = true;
	tap_timeline_span(r->run.timeline, &start_ns, &end_ns);
	bad = check_cpus(r, end_ns - start_ns);
	bad += check_tasks(r);
	bad += check_run(r);
	r->is_wrong = bad;
}

/* ---- util and nr_running of the CPUs ---- */

static int on_cpu(void *ctx, const struct tap_cpu_stretch *s)
{
	struct summary *sum = ctx;

	return tap_run_cpu(&sum->report.run, s->cpu) ? tap_gaps_add(&sum->gaps, s) : 0;
}

static bool want_signal(void *ctx, const struct tap_pelt_signal *s)
{
	(void)ctx;
	return s->subject == TAP_PELT_CPU &&
	       (!strcmp(s->name, "util") || !strcmp(s->name, "nr_running"));
}

static bool want_series(void *ctx, const struct tap_pelt_series *s)
{
	const struct tap_report *r = ctx;

	return s->subject == TAP_PELT_CPU && tap_run_cpu(&r->run, s->cpu);
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
	struct summary *sum = ctx;

	return tap_pelt_event(sum->signals, sum->report.run.timeline, ev);
}

static bool has_signals(const struct tap_survey *s)
{
	for (unsigned int i = 0; i < s->nr_kinds; i++)
		if (wants(NULL, s->kinds[i].fmt))
			return true;
	return false;
}

static int observe_signals(struct summary *sum)
{
	static const struct tap_run_events events = { .wants = wants, .event = on_event };
	struct tap_run *run = &sum->report.run;
	struct tap_pelt_opts opts = {
		.start_ns = run->start_ns, .end_ns = run->end_ns, .survey = &run->survey,
		.cpus_only = true, .want_signal = want_signal, .want = want_series, .ctx = sum,
	};

	sum->report.events = &events;
	return tap_pelt_new(&opts, &sum->signals);
}

/* Without events that tell of signals nothing is handed to anybody. */
static int begin(struct tap_report *r, struct tap_err *err)
{
	static const struct tap_observer observer = { .cpu = on_cpu, .unknown_cpus_only = true };
	struct summary *sum = (struct summary *)r;

	r->run.mark_throttling = true;
	sum->gaps = (struct tap_gaps){
		.survey = &r->run.survey, .start_ns = r->run.start_ns, .end_ns = r->run.end_ns,
	};
	if (is_check(r))
		return 0;
	r->observer = &observer;
	if (has_signals(&r->run.survey) && observe_signals(sum))
		return tap_err_set(err, -ENOMEM, "out of memory");
	return 0;
}

static int end(struct tap_report *r, struct tap_err *err)
{
	struct summary *sum = (struct summary *)r;

	if ((sum->signals && tap_pelt_end(sum->signals)) || tap_summary_find_tasks(sum))
		return tap_err_set(err, -ENOMEM, "out of memory");
	if (is_check(r))
		check(r);
	return 0;
}

static void release(struct tap_report *r)
{
	struct summary *sum = (struct summary *)r;

	tap_gaps_release(&sum->gaps);
	tap_pelt_free(sum->signals);
	free(sum->tasks);
}

const struct tap_report_type tap_report_summary = {
	.cmd = {
		.name = "summary",
		.help = "one page: what happened",
		.operands = TAP_CMD_FILE,
		.example = "schedtap summary -i demo/trace.dat -n 20",
		.opts = options,
		.opts_size = sizeof(struct summary_opts),
		.defaults = &(const struct summary_opts){ .common.top = -1 },
	},
	.size = sizeof(struct summary),
	.top = 10,
	.sections = tap_summary_sections,
	.begin = begin,
	.end = end,
	.release = release,
};
