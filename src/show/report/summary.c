// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* schedtap summary: one-page overview of a recording. */
#include <errno.h>
#include <inttypes.h>

#include "timeline/run/meta_rows.h"
#include "show/report/summary.h"

static const struct tap_opt options[] = {
	TAP_REPORT_OPTIONS,
	TAP_REPORT_TOP("the N tasks that ran most [10"),
	TAP_OPTION(struct summary_opts, check, "check", 0, NULL, TAP_OPT_FLAG,
		   "only check that the times of CPUs and tasks add up"),
	TAP_OPT_DEPTH(struct summary_opts),
	{ 0 }
};

/* ---- --check ---- */

/*
 * Check that each CPU's times add up to the window. Add the CPUs' run times to @run_ns. Return: the
 * number of CPUs with a mismatch.
 */
static unsigned int check_cpus(struct tap_report *r, uint64_t *run_ns)
{
	struct tap_window window = tap_timeline_window(r->run.timeline);
	uint64_t window_ns = tap_window_ns(&window);
	unsigned int nr, bad = 0;
	const struct tap_cpu *cpus = tap_timeline_cpus(r->run.timeline, &nr);

	for (unsigned int i = 0; i < nr; i++) {
		uint64_t sum = cpus[i].run_ns + cpus[i].idle_ns + cpus[i].offline_ns +
			       cpus[i].unknown_ns + cpus[i].outside_ns;

		*run_ns += cpus[i].run_ns;
		if (sum == window_ns)
			continue;
		bad++;
		tap_buf_printf(&r->page.buf,
			       "CPU %u: run + idle + offline + unknown = %" PRIu64
			       " ns, the window is %" PRIu64 " ns\n",
			       i, sum, window_ns);
	}
	tap_buf_printf(&r->page.buf, "%u CPUs: run + idle + offline + unknown = window, %u wrong\n",
		       nr, bad);
	return bad;
}

/*
 * Check that each task's states add up to its life. Add the tasks' run times to @run_ns. Return:
 * the number of tasks with a mismatch.
 */
static unsigned int check_tasks(struct tap_report *r, uint64_t *run_ns)
{
	unsigned int nr, bad = 0;
	struct tap_task *const *tasks = tap_timeline_tasks(r->run.timeline, &nr);

	for (unsigned int i = 0; i < nr; i++) {
		uint64_t life = tap_task_life_ns(r->run.timeline, tasks[i]), sum = 0;

		for (unsigned int s = 0; s < TAP_NR_STATES; s++)
			sum += tasks[i]->total_ns[s];
		*run_ns += tasks[i]->total_ns[TAP_STATE_RUNNING];
		if (sum == life)
			continue;
		bad++;
		tap_buf_printf(&r->page.buf,
			       "task %d: states = %" PRIu64 " ns, its life is %" PRIu64 " ns\n",
			       tasks[i]->tid, sum, life);
	}
	tap_buf_printf(&r->page.buf, "%u tasks: states = life in the window, %u wrong\n", nr, bad);
	return bad;
}

static bool is_check(const struct tap_report *r)
{
	return ((const struct summary_opts *)r->opts)->check;
}

static void check_sums(struct tap_report *r)
{
	uint64_t by_cpu = 0, by_task = 0;
	unsigned int bad;

	tap_page_open(&r->page, &tap_style_text, r->screen->fd);
	r->is_open = true;
	bad = check_cpus(r, &by_cpu);
	bad += check_tasks(r, &by_task);
	/* all tasks together ran as long as all CPUs: nothing is counted twice */
	tap_buf_printf(&r->page.buf, "run time by CPU %" PRIu64 " ns, by task %" PRIu64 " ns, %s\n",
		       by_cpu, by_task, by_cpu == by_task ? "equal" : "not equal");
	r->is_wrong = bad || by_cpu != by_task;
}

/* ---- util and nr_running of the CPUs ---- */

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

static int begin_summary(struct tap_report *r, struct tap_err *err)
{
	const struct tap_pelt_opts opts = { .cpus_only = true, .want = want_series };
	struct summary *sum = (struct summary *)r;

	r->run.mark_throttling = true;
	sum->gaps = (struct tap_gaps){
		.survey = &r->run.survey,
		.window = r->run.window,
	};
	if (is_check(r)) {
		r->sections = NULL;
		return 0;
	}
	tap_report_watch(r, &tap_gaps_ops, &sum->gaps, TAP_PICK_CPUS);
	return tap_report_open_signals(r, opts, err);
}

static void show_throttled(struct tap_cgroup_groups *g, const json_t *throttled)
{
	const json_t *row;
	json_int_t id;
	size_t i;

	json_array_foreach(throttled, i, row)
		if (tap_meta_number(row, 0, INT64_MAX, &id))
			tap_cgroup_show(g, (uint64_t)id);
}

/*
 * Mark the cgroups that tables will show: those of the tasks that -g selects, and those with a
 * quota.
 */
static int group_cgroups(struct summary *s)
{
	struct tap_report *r = &s->report;
	int ret = tap_cgroup_groups_init(&s->cgroups, &r->run.rec.ids.cgroups,
					 ((const struct summary_opts *)r->opts)->depth);

	for (unsigned int i = 0; r->opts->input.select.cgroups.nr && i < r->nr_tasks; i++)
		tap_cgroup_show(&s->cgroups, r->tasks[i]->cgroup);
	show_throttled(&s->cgroups, json_object_get(r->run.rec.meta, "throttled"));
	return ret ?: tap_cgroup_make_labels(&s->cgroups);
}

static int end_summary(struct tap_report *r, struct tap_err *err)
{
	int ret = tap_report_find_tasks(r, err);

	if (!ret && is_check(r))
		check_sums(r);
	if (!ret && group_cgroups((struct summary *)r))
		ret = tap_err_nomem(err);
	return ret;
}

static void release_summary(struct tap_report *r)
{
	tap_gaps_release(&((struct summary *)r)->gaps);
	tap_cgroup_groups_release(&((struct summary *)r)->cgroups);
}

const struct tap_report_type tap_report_summary = {
	.cmd = {
		.name = "summary",
		.help = "one-page overview of a recording",
		.operands = TAP_CMD_FILE,
		.example = "schedtap summary",
		.opts = options,
		.opts_size = sizeof(struct summary_opts),
		.defaults = &(const struct summary_opts){ .common.top = -1 },
	},
	.size = sizeof(struct summary),
	.top = 10,
	.sections = tap_summary_sections,
	.want_signal = want_signal,
	.begin = begin_summary,
	.end = end_summary,
	.release = release_summary,
};
