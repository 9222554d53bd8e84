// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* schedtap states: the time that each task spent in each state, and the longest single stay. */
#include "analysis/states.h"
#include "show/report/report.h"

/* No -C: a task's states are not tied to a CPU. */
static const struct tap_opt options[] = { TAP_REPORT_OPTIONS_WITHOUT_CPUS,
					  TAP_REPORT_TOP("the N tasks that ran most [20"),
					  { 0 } };

/* In column order. */
static const struct {
	enum tap_state state;
	const char *key;
} shown[] = {
	{ TAP_STATE_RUNNING, "run" },	  { TAP_STATE_PREEMPTED, "preempted" },
	{ TAP_STATE_WAKING, "waking" },	  { TAP_STATE_THROTTLED, "throttled" },
	{ TAP_STATE_SLEEPING, "sleep" },  { TAP_STATE_BLOCKED, "blocked" },
	{ TAP_STATE_STOPPED, "stopped" }, { TAP_STATE_UNKNOWN, "unknown" },
};

#define NR_SHOWN (sizeof(shown) / sizeof(*shown))

/* clang-format off */
#define STATE_COLUMNS(key, title, w, ...)                                                          \
	{ key "_ns", NULL, TAP_CELL_NS },                                                          \
	{ NULL, title, TAP_CELL_REAL, .width = w, .places = 1, __VA_ARGS__ }
/* clang-format on */
#define COLUMNS                                                                                    \
	TAP_TASK_COLUMNS("", "task", 24),                                                          \
		{ "life_ns", "life", TAP_CELL_NS, .width = 12, .rank = 6 },                        \
		STATE_COLUMNS("run", "run %", 6, .rank = 0),                                       \
		STATE_COLUMNS("preempted", "preempted %", 11, .rank = 2),                          \
		STATE_COLUMNS("waking", "waking %", 8, .rank = 3),                                 \
		STATE_COLUMNS("throttled", "throttled %", 11, .rank = 3),                          \
		STATE_COLUMNS("sleep", "sleep %", 7, .rank = 4),                                   \
		STATE_COLUMNS("blocked", "blocked %", 9, .rank = 5),                               \
		STATE_COLUMNS("iowait", "iowait %", 8, .rank = 7),                                 \
		STATE_COLUMNS("stopped", "stopped %", 9, .rank = 8),                               \
		STATE_COLUMNS("unknown", "unknown %", 9, .rank = 1, .tint = TAP_TINT_YELLOW),      \
		TAP_THROTTLING_COLUMN
/* clang-format off */
#define LONGEST_COLUMNS(key)                                                                       \
	{ "longest_" key "_ns", NULL, TAP_CELL_NS }, { "longest_" key "_at_ns", NULL, TAP_CELL_AT }
/* clang-format on */

static const struct tap_column columns[] = { COLUMNS, { 0 } };
/* CSV has the longest stays as columns, JSON as an object in the row, text as a second table. */
static const struct tap_column csv_columns[] = { COLUMNS,
						 LONGEST_COLUMNS("run"),
						 LONGEST_COLUMNS("preempted"),
						 LONGEST_COLUMNS("waking"),
						 LONGEST_COLUMNS("throttled"),
						 LONGEST_COLUMNS("sleep"),
						 LONGEST_COLUMNS("blocked"),
						 LONGEST_COLUMNS("stopped"),
						 LONGEST_COLUMNS("unknown"),
						 { 0 } };
static const struct tap_column longest_columns[] = {
	{ NULL, "task", TAP_CELL_LABEL, .width = 24 },
	{ NULL, "state", TAP_CELL_TEXT, .width = 9 },
	{ NULL, "all", TAP_CELL_NS, .width = 12 },
	{ NULL, "%", TAP_CELL_REAL, .width = 5, .places = 1, .rank = 2 },
	{ NULL, "longest", TAP_CELL_NS, .width = 12, .same_unit = true },
	{ NULL, "began at s", TAP_CELL_AT, .width = 18, .rank = 1 },
	{ 0 }
};

struct states {
	struct tap_report report;
	struct tap_states states;
};

static int begin_states(struct tap_report *r, struct tap_err *err)
{
	(void)err;
	r->run.mark_throttling = true;
	return 0;
}

static void put_longest_csv(struct tap_table *t, const struct tap_longest *longest)
{
	for (unsigned int i = 0; i < NR_SHOWN; i++) {
		const struct tap_longest *l = &longest[shown[i].state];

		tap_table_u64(t, l->ns);
		tap_table_u64_if(t, l->ns, l->at_ns);
	}
}

static void put_longest_members(struct tap_page *p, const struct tap_longest *longest)
{
	tap_page_object(p, "longest");
	for (unsigned int i = 0; i < NR_SHOWN; i++) {
		const struct tap_longest *l = &longest[shown[i].state];

		if (!l->ns)
			continue;
		tap_page_object(p, shown[i].key);
		tap_page_u64(p, "ns", l->ns);
		tap_page_at(p, "at_ns", l->at_ns);
		tap_page_object_end(p);
	}
	tap_page_object_end(p);
}

static void put_state(struct tap_table *t, uint64_t ns, uint64_t life_ns)
{
	tap_table_u64(t, ns);
	tap_table_real(t, tap_pct(ns, life_ns));
}

static void put_task(struct tap_report *r, struct tap_table *t, unsigned int nr)
{
	const struct tap_task *task = r->tasks[nr];
	const struct tap_longest *longest = tap_states_longest(&((struct states *)r)->states, task);
	bool has_iowait = r->run.survey.buffer[TAP_SCHED_IOWAIT] != TAP_NO_BUFFER;
	uint64_t life_ns = tap_task_life_ns(r->run.timeline, task);

	tap_task_cells(&r->run, t, task);
	tap_table_u64(t, life_ns);
	for (unsigned int i = 0; i < NR_SHOWN; i++) {
		if (shown[i].state == TAP_STATE_THROTTLED && !r->run.nr_throttling)
			tap_table_nones(t, 2);
		else
			put_state(t, task->total_ns[shown[i].state], life_ns);
		/* iowait is part of blocked */
		if (shown[i].state == TAP_STATE_BLOCKED && has_iowait)
			put_state(t, task->iowait_ns, life_ns);
		else if (shown[i].state == TAP_STATE_BLOCKED)
			tap_table_nones(t, 2);
	}
	tap_throttling_cell(&r->run, t, task);
	if (tap_page_is_for(&r->page, TAP_FOR_SHEETS))
		put_longest_csv(t, longest);
	put_longest_members(&r->page, longest);
}

static void put_longest(struct tap_report *r, struct tap_table *t)
{
	const struct states *st = (struct states *)r;

	for (unsigned int i = 0; i < tap_report_shown(r, r->nr_tasks) * NR_SHOWN; i++) {
		const struct tap_task *task = r->tasks[i / NR_SHOWN];
		enum tap_state state = shown[i % NR_SHOWN].state;
		const struct tap_longest *l = &tap_states_longest(&st->states, task)[state];

		if (!l->ns)
			continue;
		tap_label_cell(&r->run, t, task);
		tap_table_puts(t, tap_state_name(state));
		put_state(t, task->total_ns[state], tap_task_life_ns(r->run.timeline, task));
		tap_table_u64(t, l->ns);
		tap_table_u64(t, l->at_ns);
		tap_table_row(t);
	}
}

static void release_states(struct tap_report *r)
{
	tap_states_release(&((struct states *)r)->states);
}

#define TASKS .key = "tasks", .row = put_task, .nr = tap_report_nr_tasks, .noun = "task"

static const struct tap_section sections[] = {
	{ TAP_FOR_PEOPLE | TAP_FOR_PROGRAMS, .columns = columns, TASKS },
	{ TAP_FOR_SHEETS, .columns = csv_columns, TASKS },
	{ TAP_FOR_PEOPLE, .before = "\neach state, and the longest time in one go\n",
	  .columns = longest_columns, .put = put_longest },
	TAP_NOTE_THROTTLING,
	TAP_NOTE_SLEEP,
	{ 0 }
};

const struct tap_report_type tap_report_states = {
	.cmd = {
		.name = "states",
		.help = "time that tasks spent running, waiting and sleeping",
		.operands = TAP_CMD_FILE,
		.example = "schedtap states -n 20",
		.opts = options,
		.opts_size = sizeof(struct tap_report_opts),
		.defaults = &(const struct tap_report_opts){ .top = -1 },
	},
	.size = sizeof(struct states),
	.top = 20,
	.needs = TAP_NEEDS_SWITCHES,
	.watchers = (const struct tap_report_watcher[]){
		{ &tap_states_ops, offsetof(struct states, states), TAP_PICK_TASKS }, { 0 } },
	.sections = sections,
	.begin = begin_states,
	.end = tap_report_find_tasks,
	.release = release_states,
};
