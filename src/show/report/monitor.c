// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * schedtap monitor: check a recording against a model of the scheduler from the kernel's runtime
 * verification.
 */
#include <errno.h>

#include "analysis/monitor.h"
#include "show/report/report.h"

#define MAX_VIOLATIONS 10000u

struct monitor_opts {
	struct tap_report_opts common;
	const char *model;
};

static const struct tap_opt options[] = {
	TAP_OPTION(struct monitor_opts, model, "model", 'm', "MODEL", TAP_OPT_STRING,
		   "check the recording against this model: sssw, snroc, sco, tss, wwnr"),
	TAP_REPORT_OPTIONS,
	TAP_REPORT_TOP(
		"the N tasks or CPUs with the most events, and N violations of the model [20"),
	{ 0 }
};

struct monitor {
	struct tap_report report;
	struct tap_monitor monitor;
	const struct tap_monitor_model *model;
	uint32_t recorded;
	struct tap_buf text; /* buffer for one cell */
};

static struct monitor *monitor_of(const struct tap_report *r)
{
	return (struct monitor *)r;
}

static const struct monitor_opts *opts_of(const struct tap_report *r)
{
	return (const struct monitor_opts *)r->opts;
}

static bool is_wanted(void *ctx, const struct tap_task *task, int cpu)
{
	struct tap_report *r = ctx;
	bool yes = tap_run_cpu(&r->run, cpu) && (!task || task->selected);

	r->matched |= yes;
	return yes;
}

/* ---- sections ---- */

static bool is_of_cpus(const struct tap_report *r)
{
	return monitor_of(r)->model->of_cpus;
}

static bool is_of_tasks(const struct tap_report *r)
{
	return !is_of_cpus(r);
}

static bool has_violations(const struct tap_report *r)
{
	return monitor_of(r)->monitor.nr_violations;
}

/*
 * Append the model's events that are recorded, or with !@recorded those that are missing, separated
 * by commas.
 */
static void add_events(struct tap_buf *b, const struct monitor *m, bool recorded)
{
	const char *comma = "";

	for (enum tap_monitor_event e = 0; e < TAP_MONITOR_NR_EVENTS; e++) {
		if (!m->model->next[0][e] || !!(m->recorded & 1u << e) != recorded)
			continue;
		tap_buf_printf(b, "%s%s", comma, tap_monitor_event_names[e]);
		comma = ", ";
	}
}

static const struct tap_column all_columns[] = {
	{ "model", "model", TAP_CELL_TEXT, .width = 6 },
	{ "events", "events", TAP_CELL_COUNT, .width = 10 },
	{ "decided", "in one state", TAP_CELL_COUNT, .width = 12 },
	{ "violations", "violations", TAP_CELL_COUNT, .width = 10 },
	{ "unrecorded", "not recorded", TAP_CELL_TEXT },
	{ 0 }
};

static void put_all(struct tap_report *r, struct tap_table *t)
{
	struct monitor *m = monitor_of(r);

	tap_table_puts(t, m->model->name);
	tap_table_u64(t, m->monitor.events);
	tap_table_u64(t, m->monitor.decided);
	tap_table_u64(t, m->monitor.violated);
	tap_buf_clear(&m->text);
	add_events(&m->text, m, false);
	tap_table_text(t, m->text.data ?: "", m->text.len);
	tap_table_row(t);
}

/* clang-format off */
#define VIOLATION_COLUMNS \
	{ "cpu", "CPU", TAP_CELL_INT, .width = 3 }, \
	{ "at_ns", "at", TAP_CELL_AT, .width = 16 }, \
	{ "event", "event", TAP_CELL_TEXT, .width = 19 }, \
	{ "states", "in state", TAP_CELL_TEXT }
/* clang-format on */

static const struct tap_column task_violation_columns[] = {
	TAP_TASK_COLUMNS("", "violation by", 26), VIOLATION_COLUMNS, { 0 }
};
static const struct tap_column cpu_violation_columns[] = { VIOLATION_COLUMNS, { 0 } };

static unsigned int nr_violations(const struct tap_report *r)
{
	return monitor_of(r)->monitor.nr_violations;
}

/* Add a cell such as "runnable or sleeping". */
static void put_states(struct monitor *m, struct tap_table *t, uint8_t states)
{
	const char * or = "";

	tap_buf_clear(&m->text);
	for (unsigned int s = 0; s < m->model->nr_states; s++)
		if (states & 1u << s) {
			tap_buf_printf(&m->text, "%s%s", or, m->model->states[s]);
			or = " or ";
		}
	tap_table_text(t, m->text.data, m->text.len);
}

static void put_violation(struct tap_report *r, struct tap_table *t, unsigned int i)
{
	struct monitor *m = monitor_of(r);
	const struct tap_monitor_violation *v = &m->monitor.violations[i];

	if (v->task)
		tap_task_cells(&r->run, t, v->task);
	tap_table_s64(t, v->cpu);
	tap_table_u64(t, v->ts_ns);
	tap_table_puts(t, tap_monitor_event_names[v->event]);
	put_states(m, t, v->states);
}

/* clang-format off */
#define SUM_COLUMNS \
	{ "events", "events", TAP_CELL_COUNT, .width = 10 }, \
	{ "decided", "in one state", TAP_CELL_COUNT, .width = 12 }, \
	{ "violations", "violations", TAP_CELL_COUNT, .width = 10 }
/* clang-format on */

static const struct tap_column task_columns[] = { TAP_TASK_COLUMNS("", "task", 26),
						  SUM_COLUMNS,
						  { 0 } };
static const struct tap_column cpu_columns[] = { { "cpu", "CPU", TAP_CELL_INT, .width = 3 },
						 SUM_COLUMNS,
						 { 0 } };

static void put_sums(struct tap_table *t, const struct tap_monitored *of)
{
	tap_table_u64(t, of->events);
	tap_table_u64(t, of->decided);
	tap_table_u64(t, of->violations);
}

static void put_task(struct tap_report *r, struct tap_table *t, unsigned int i)
{
	tap_task_cells(&r->run, t, r->tasks[i]);
	put_sums(t, &monitor_of(r)->monitor.of[r->tasks[i]->index]);
}

static void put_cpus(struct tap_report *r, struct tap_table *t)
{
	const struct tap_monitor *m = &monitor_of(r)->monitor;

	for (unsigned int cpu = 0; cpu < m->nr; cpu++) {
		if (!m->of[cpu].events)
			continue;
		tap_table_s64(t, cpu);
		put_sums(t, &m->of[cpu]);
		tap_table_row(t);
	}
}

static bool has_cpu_violations(const struct tap_report *r)
{
	return is_of_cpus(r) && has_violations(r);
}

static bool has_task_violations(const struct tap_report *r)
{
	return is_of_tasks(r) && has_violations(r);
}

static const struct tap_section sections[] = {
	{ TAP_FOR_PEOPLE | TAP_FOR_PROGRAMS, .key = "all", .columns = all_columns, .put = put_all,
	  .is_object = true },
	{ TAP_FOR_PEOPLE | TAP_FOR_PROGRAMS, has_task_violations, .before = "\n",
	  .key = "violations", .columns = task_violation_columns, .row = put_violation,
	  .nr = nr_violations, .noun = "violation" },
	{ TAP_FOR_PEOPLE | TAP_FOR_PROGRAMS, has_cpu_violations, .before = "\n",
	  .key = "violations", .columns = cpu_violation_columns, .row = put_violation,
	  .nr = nr_violations, .noun = "violation" },
	{ TAP_FOR_ALL, is_of_tasks, .before = "\n", .key = "tasks", .columns = task_columns,
	  .row = put_task, .nr = tap_report_nr_tasks, .noun = "task" },
	{ TAP_FOR_ALL, is_of_cpus, .before = "\n", .key = "cpus", .columns = cpu_columns,
	  .put = put_cpus },
	{ 0 }
};

/* ---- begin and end ---- */

static int check_options(const void *opts, struct tap_err *err)
{
	const struct monitor_opts *o = opts;

	if (!o->model)
		return tap_err_set(err, -EINVAL,
				   "no model is given: use sssw, snroc, sco, tss or wwnr");
	for (const struct tap_monitor_undecided *u = tap_monitor_undecided; u->name; u++)
		if (!strcmp(u->name, o->model))
			return tap_err_set(err, -EINVAL,
					   "-m: model '%s' cannot be checked in recordings: %s",
					   u->name, u->why);
	if (!tap_monitor_model(o->model))
		return tap_err_set(err, -EINVAL,
				   "-m: unknown model '%.100s': use sssw, snroc, sco, tss or wwnr",
				   o->model);
	return 0;
}

static int cannot_decide(struct tap_report *r, struct tap_err *err)
{
	struct monitor *m = monitor_of(r);

	add_events(&m->text, m, false);
	return tap_err_set(err, -ENODATA,
			   "model %s cannot be checked: '%.300s' does not contain %s "
			   "(schedtap-monitor(1) explains how to record these events)",
			   m->model->name, r->run.rec.path, tap_buf_str(&m->text));
}

static int begin_monitor(struct tap_report *r, struct tap_err *err)
{
	struct monitor *m = monitor_of(r);

	m->model = tap_monitor_model(opts_of(r)->model);
	for (unsigned int i = 0; i < r->run.survey.nr_kinds; i++)
		m->recorded |= tap_monitor_events_of(r->run.survey.kinds[i].fmt);
	if (!tap_monitor_decides(m->model, m->recorded))
		return cannot_decide(r, err);
	tap_monitor_init(&m->monitor, &(const struct tap_monitor_opts){
					      .model = m->model,
					      .timeline = &r->run.timeline,
					      .survey = &r->run.survey,
					      .recorded = m->recorded,
					      .max_violations = MAX_VIOLATIONS,
					      .want = is_wanted,
					      .ctx = r,
				      });
	return 0;
}

static uint64_t events_of(const struct tap_report *r, unsigned int i)
{
	return monitor_of(r)->monitor.of[i].events;
}

static int end_monitor(struct tap_report *r, struct tap_err *err)
{
	r->is_wrong = monitor_of(r)->monitor.violated;
	return is_of_cpus(r) ? 0
			     : tap_report_rank_tasks(r, monitor_of(r)->monitor.nr, events_of, err);
}

static void release_monitor(struct tap_report *r)
{
	tap_monitor_release(&monitor_of(r)->monitor);
	tap_buf_release(&monitor_of(r)->text);
}

const struct tap_report_type tap_report_monitor = {
	.cmd = {
		.name = "monitor",
		.help = "check a recording against a runtime verification model",
		.exits = "0 no violation, 1 a violation, or failed, 2 usage error, 3 no access or "
			 "unknown format",
		.operands = TAP_CMD_MODEL,
		.example = "schedtap monitor wwnr",
		.opts = options,
		.opts_size = sizeof(struct monitor_opts),
		.defaults = &(const struct monitor_opts){ .common.top = -1 },
	},
	.size = sizeof(struct monitor),
	.top = 20,
	.needs = TAP_NEEDS_SWITCHES,
	.watchers = (const struct tap_report_watcher[]){
		{ &tap_monitor_ops, offsetof(struct monitor, monitor) }, { 0 } },
	.sections = sections,
	.check = check_options,
	.begin = begin_monitor,
	.end = end_monitor,
	.release = release_monitor,
};
