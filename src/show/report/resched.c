// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* schedtap resched: the stages of a reschedule, and the time that interrupts took of them. */
#include <errno.h>

#include "analysis/resched.h"
#include "show/report/report.h"

static const struct tap_opt options[] = { TAP_REPORT_OPTIONS, { 0 } };

struct resched {
	struct tap_report report;
	struct tap_resched resched;
};

static const char *const stage_texts[TAP_NR_RESCHED_STAGES] = {
	[TAP_RESCHED_ASKED] = "asked for, until it begins",
	[TAP_RESCHED_ASKED_LAZY] = "asked for lazily, until it begins",
	[TAP_RESCHED_IDLE_EXIT] = "out of an idle state, until the switch",
	[TAP_RESCHED_PICK] = "begun, until the switch",
	[TAP_RESCHED_SWITCH] = "switched, until the end",
	[TAP_RESCHED_STAY] = "begun, until the end, no switch",
};

/*
 * Return true if the options select the task. A task that enters __schedule() for the first time
 * may have no sched_switch yet, so look it up in the recording's task list.
 */
static bool picks_tid(struct tap_run *run, int tid)
{
	const struct tap_task *task = tap_timeline_task(run->timeline, tid);

	if (task)
		return task->selected;
	task = tid > 0 ? tap_identity(&run->rec.ids, tid) : NULL;
	return task && tap_pick_task(&run->pick, &run->rec.ids.cgroups, task);
}

static bool is_wanted(void *ctx, int cpu, int tid)
{
	struct resched *all = ctx;
	struct tap_run *run = &all->report.run;
	bool yes = tap_run_cpu(run, cpu) && (run->all_tasks || picks_tid(run, tid));

	all->report.matched |= yes;
	return yes;
}

static bool has_stages(void *ctx, const struct tap_format *fmt)
{
	(void)ctx;
	return tap_resched_has_stages(fmt);
}

static int begin_resched(struct tap_report *r, struct tap_err *err)
{
	struct resched *all = (struct resched *)r;

	if (!tap_run_has(&r->run, has_stages, NULL))
		return tap_err_set(
			err, -ENODATA,
			"'%.300s' has none of sched_set_need_resched, sched_entry and cpu_idle: "
			"record them with 'schedtap record -e resched -e idle -e irq -e sched'",
			r->run.rec.path);
	tap_resched_init(&all->resched, &(const struct tap_resched_opts){
						.survey = &r->run.survey,
						.want = is_wanted,
						.ctx = all,
					});
	return 0;
}

static const struct tap_column columns[] = {
	{ "stage", NULL, TAP_CELL_TEXT },
	{ NULL, "reschedule", TAP_CELL_LABEL, .width = 39 },
	{ "count", "count", TAP_CELL_COUNT, .width = 9 },
	{ "avg_ns", "avg", TAP_CELL_NS, .width = 9, .rank = 2 },
	{ "p50_ns", "p50", TAP_CELL_NS, .width = 9, .rank = 3, .same_unit = true },
	{ "p99_ns", "p99", TAP_CELL_NS, .width = 9, .rank = 1, .same_unit = true },
	{ "max_ns", "max", TAP_CELL_NS, .width = 10, .same_unit = true },
	{ "max_irq_ns", "in irqs", TAP_CELL_NS, .width = 9, .rank = 6, .same_unit = true },
	{ "max_at_ns", "max at", TAP_CELL_AT, .width = 16, .rank = 5 },
	{ "max_cpu", "cpu", TAP_CELL_INT, .width = 3, .rank = 7 },
	{ "sum_ns", "sum", TAP_CELL_NS, .width = 9, .rank = 8 },
	{ "irq_ns", "in irqs", TAP_CELL_NS, .width = 9, .rank = 4, .same_unit = true },
	{ 0 }
};

static void put_stage(const struct tap_resched *r, struct tap_table *t,
		      enum tap_resched_stage stage)
{
	const struct tap_resched_figures *f = &r->stages[stage];
	const struct tap_hist *ns = &f->ns;

	tap_table_puts(t, tap_resched_stage_name(stage));
	tap_table_puts(t, stage_texts[stage]);
	tap_table_u64(t, ns->count);
	tap_table_u64(t, (uint64_t)(tap_hist_mean(ns) + 0.5));
	tap_table_u64(t, tap_hist_quantile(ns, 0.5));
	tap_table_u64(t, tap_hist_quantile(ns, 0.99));
	tap_table_u64(t, ns->max);
	tap_table_u64_if(t, r->has_irqs, f->max_irq_ns);
	tap_table_u64(t, f->max_at_ns);
	tap_table_s64(t, f->max_cpu);
	tap_table_u64(t, (uint64_t)ns->sum);
	tap_table_u64_if(t, r->has_irqs, f->irq_ns);
	tap_table_row(t);
}

static void put_stages(struct tap_report *r, struct tap_table *t)
{
	const struct tap_resched *all = &((struct resched *)r)->resched;

	for (int i = 0; i < TAP_NR_RESCHED_STAGES; i++)
		if (all->stages[i].ns.count)
			put_stage(all, t, (enum tap_resched_stage)i);
}

static void release_resched(struct tap_report *r)
{
	tap_resched_release(&((struct resched *)r)->resched);
}

static const struct tap_section sections[] = {
	{ TAP_FOR_ALL, .key = "stages", .columns = columns, .put = put_stages }, { 0 }
};

const struct tap_report_type tap_report_resched = {
	.cmd = {
		.name = "resched",
		.help = "delays from a reschedule request to the context switch",
		.operands = TAP_CMD_FILE,
		.example = "schedtap resched -i resched.dat",
		.opts = options,
		.opts_size = sizeof(struct tap_report_opts),
		.defaults = &(const struct tap_report_opts){ .top = -1 },
	},
	.size = sizeof(struct resched),
	.watchers = (const struct tap_report_watcher[]){
		{ &tap_resched_ops, offsetof(struct resched, resched) }, { 0 } },
	.sections = sections,
	.begin = begin_resched,
	.release = release_resched,
};
