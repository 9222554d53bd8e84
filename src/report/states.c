// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* schedtap states: how long each task was in each state, and its longest time in one go. */
#include <errno.h>
#include <stdlib.h>

#include "analysis/states.h"
#include "report/report.h"

/* No -C: a task's states are not a CPU's. */
static const struct tap_opt options[] = {
	TAP_REPORT_OPTIONS_WITHOUT_CPUS,
	TAP_REPORT_TOP("the N tasks that ran most [20"),
	{ 0 }
};

/* In the order of the columns. */
static const struct {
	enum tap_state state;
	const char *key;
} shown[] = {
	{ TAP_RUNNING, "run" },	  { TAP_PREEMPTED, "preempted" }, { TAP_WAKING, "waking" },
	{ TAP_SLEEPING, "sleep" }, { TAP_BLOCKED, "blocked" },	   { TAP_STOPPED, "stopped" },
	{ TAP_UNKNOWN, "unknown" },
};

#define NR_SHOWN (sizeof(shown) / sizeof(*shown))

#define STATE_COLUMNS(key, title, w, ...)                                                          \
	{ key "_ns", NULL, TAP_CELL_NS },                                                          \
	{ NULL, title, TAP_CELL_REAL, .width = w, .places = 1, __VA_ARGS__ }
#define COLUMNS                                                                                    \
	TAP_TASK_COLUMNS("", "task", 24),                                                      \
	{ "life_ns", "life", TAP_CELL_NS, .width = 12, .rank = 6 },                                \
	STATE_COLUMNS("run", "run %", 6, .rank = 0),                                               \
	STATE_COLUMNS("preempted", "preempted %", 11, .rank = 2),                                  \
	STATE_COLUMNS("waking", "waking %", 8, .rank = 3),                                         \
	STATE_COLUMNS("sleep", "sleep %", 7, .rank = 4),                                           \
	STATE_COLUMNS("blocked", "blocked %", 9, .rank = 5),                                       \
	STATE_COLUMNS("iowait", "iowait %", 8, .rank = 7),                                         \
	STATE_COLUMNS("stopped", "stopped %", 9, .rank = 8),                                       \
	STATE_COLUMNS("unknown", "unknown %", 9, .rank = 1, .tint = TAP_TINT_YELLOW),              \
	TAP_THROTTLING_COLUMN
#define LONGEST_COLUMNS(key)                                                                       \
	{ "longest_" key "_ns", NULL, TAP_CELL_NS }, { "longest_" key "_at_ns", NULL, TAP_CELL_AT }

static const struct tap_column columns[] = { COLUMNS, { 0 } };
/* JSON has the longest as an object, text as a table of their own. */
static const struct tap_column csv_columns[] = {
	COLUMNS, LONGEST_COLUMNS("run"), LONGEST_COLUMNS("preempted"), LONGEST_COLUMNS("waking"),
	LONGEST_COLUMNS("sleep"), LONGEST_COLUMNS("blocked"), LONGEST_COLUMNS("stopped"),
	LONGEST_COLUMNS("unknown"), { 0 }
};
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
	struct tap_task **tasks; /* those that the options pick, in their order; owned */
	unsigned int nr_tasks;
	bool iowait; /* was recorded */
};

static int by_run_time(const void *a, const void *b)
{
	const struct tap_task *x = *(struct tap_task *const *)a, *y = *(struct tap_task *const *)b;
	uint64_t x_ns = x->total_ns[TAP_RUNNING], y_ns = y->total_ns[TAP_RUNNING];

	if (x_ns != y_ns)
		return x_ns < y_ns ? 1 : -1;
	return x->tid != y->tid ? (x->tid > y->tid) - (x->tid < y->tid) :
				  (x->index > y->index) - (x->index < y->index);
}

static int begin(struct tap_report *r, struct tap_err *err)
{
	struct states *st = (struct states *)r;

	(void)err;
	r->run.mark_throttling = true;
	st->states.start_ns = r->run.start_ns;
	r->observer_ctx = &st->states;
	return 0;
}

static int end(struct tap_report *r, struct tap_err *err)
{
	struct states *st = (struct states *)r;
	unsigned int nr;
	struct tap_task *const *tasks = tap_timeline_tasks(r->run.timeline, &nr);

	st->tasks = calloc(nr + 1, sizeof(struct tap_task *));
	if (!st->tasks)
		return tap_err_set(err, -ENOMEM, "out of memory");
	for (unsigned int i = 0; i < nr; i++)
		if (tap_task_life_ns(r->run.timeline, tasks[i]) && tap_run_task(&r->run, tasks[i]))
			st->tasks[st->nr_tasks++] = tasks[i];
	qsort(st->tasks, st->nr_tasks, sizeof(struct tap_task *), by_run_time);
	st->iowait = r->run.survey.buffer[TAP_SCHED_IOWAIT] != TAP_NO_BUFFER;
	return 0;
}

static void put_longest_csv(struct tap_table *t, const struct tap_longest *longest)
{
	for (unsigned int i = 0; i < NR_SHOWN; i++) {
		const struct tap_longest *l = &longest[shown[i].state];

		tap_table_u64(t, l->ns);
		if (l->ns)
			tap_table_u64(t, l->at_ns);
		else
			tap_table_none(t);
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

static double pct(const struct tap_report *r, const struct tap_task *task, uint64_t ns)
{
	return 100.0 * (double)ns / (double)tap_task_life_ns(r->run.timeline, task);
}

static void put_iowait(struct tap_report *r, struct tap_table *t, const struct tap_task *task)
{
	if (((struct states *)r)->iowait) {
		tap_table_u64(t, task->iowait_ns);
		tap_table_real(t, pct(r, task, task->iowait_ns));
	} else {
		tap_table_none(t);
		tap_table_none(t);
	}
}

static void put_task(struct tap_report *r, struct tap_table *t, unsigned int nr)
{
	const struct states *st = (struct states *)r;
	const struct tap_task *task = st->tasks[nr];
	const struct tap_longest *longest = tap_states_longest(&st->states, task);

	tap_task_cells(&r->run, t, task);
	tap_table_u64(t, tap_task_life_ns(r->run.timeline, task));
	for (unsigned int i = 0; i < NR_SHOWN; i++) {
		uint64_t ns = task->total_ns[shown[i].state];

		tap_table_u64(t, ns);
		tap_table_real(t, pct(r, task, ns));
		if (shown[i].state == TAP_BLOCKED) /* of which */
			put_iowait(r, t, task);
	}
	tap_throttling_cell(&r->run, t, task);
	if (tap_page_is_for(&r->page, TAP_FOR_SHEETS))
		put_longest_csv(t, longest);
	put_longest_members(&r->page, longest);
}

static unsigned int nr_tasks(const struct tap_report *r)
{
	return ((const struct states *)r)->nr_tasks;
}

static void put_longest(struct tap_report *r, struct tap_table *t)
{
	const struct states *st = (struct states *)r;

	for (unsigned int i = 0; i < tap_report_shown(r, st->nr_tasks) * NR_SHOWN; i++) {
		const struct tap_task *task = st->tasks[i / NR_SHOWN];
		enum tap_state state = shown[i % NR_SHOWN].state;
		const struct tap_longest *l = &tap_states_longest(&st->states, task)[state];
		const char *label;
		uint32_t len;

		if (!l->ns)
			continue;
		label = tap_run_label(&r->run, task, &len);
		tap_table_text(t, label, len);
		tap_table_text(t, tap_state_name(state), strlen(tap_state_name(state)));
		tap_table_u64(t, task->total_ns[state]);
		tap_table_real(t, pct(r, task, task->total_ns[state]));
		tap_table_u64(t, l->ns);
		tap_table_u64(t, l->at_ns);
		tap_table_row(t);
	}
}

static void release(struct tap_report *r)
{
	free(((struct states *)r)->tasks);
	tap_states_release(&((struct states *)r)->states);
}

#define TASKS .key = "tasks", .row = put_task, .nr = nr_tasks, .noun = "task"

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
		.help = "how long each task was in each state",
		.operands = TAP_CMD_FILE,
		.example = "schedtap states -i demo/trace.dat -n 20",
		.opts = options,
		.opts_size = sizeof(struct tap_report_opts),
		.defaults = &(const struct tap_report_opts){ .top = -1 },
	},
	.size = sizeof(struct states),
	.top = 20,
	.needs = TAP_NEEDS_SWITCHES,
	.observer = &tap_states_observer,
	.sections = sections,
	.begin = begin,
	.end = end,
	.release = release,
};
