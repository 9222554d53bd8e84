// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* schedtap states: how long each task was in each state, and its longest time in one go. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>

#include "analysis/states.h"
#include "cli/pass.h"
#include "cli/screen.h"

#define TOP_IN_TEXT 20u

struct states_opts {
	struct tap_pass_opts pass;
	int64_t top; /* -1: not given */
};

/* No -C: a task's states are not a CPU's. */
static const struct tap_opt states_opts[] = {
	TAP_OPT_INPUT(struct states_opts, pass.input),
	TAP_OPT_PIDS(struct states_opts, pass.pick.tgids),
	TAP_OPT_TIDS(struct states_opts, pass.pick.tids),
	TAP_OPT_COMMS(struct states_opts, pass.pick.comms),
	TAP_OPT_CGROUPS(struct states_opts, pass.pick.cgroups),
	TAP_OPT_WINDOW(struct states_opts, pass.pick.window),
	TAP_OPT_CLOCK(struct states_opts, pass.clock),
	{ "number", 'n', "N", "show the N tasks that ran most [20; all with --json and --csv]",
	  TAP_OPT_INT, offsetof(struct states_opts, top), .min = 0, .max = INT_MAX },
	TAP_OPT_JSON(struct states_opts, pass.json),
	TAP_OPT_CSV(struct states_opts, pass.csv),
	TAP_OPT_WIDE(struct states_opts, pass.wide),
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
	TAP_PASS_WHO_COLUMNS("", "task", 24),                                                      \
	{ "life_ns", "life", TAP_CELL_NS, .width = 12, .rank = 6 },                                \
	STATE_COLUMNS("run", "run %", 6, .rank = 0),                                               \
	STATE_COLUMNS("preempted", "preempted %", 11, .rank = 2),                                  \
	STATE_COLUMNS("waking", "waking %", 8, .rank = 3),                                         \
	STATE_COLUMNS("sleep", "sleep %", 7, .rank = 4),                                           \
	STATE_COLUMNS("blocked", "blocked %", 9, .rank = 5),                                       \
	STATE_COLUMNS("iowait", "iowait %", 8, .rank = 7),                                         \
	STATE_COLUMNS("stopped", "stopped %", 9, .rank = 8),                                       \
	STATE_COLUMNS("unknown", "unknown %", 9, .rank = 1, .tint = TAP_TINT_YELLOW),              \
	TAP_PASS_THROTTLING
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

struct states_report {
	struct tap_pass pass;
	struct tap_states states;
	struct tap_task **tasks; /* those that the options pick, in their order; owned */
	unsigned int nr_tasks, nr; /* nr: those to show */
	bool iowait; /* was recorded */
	struct tap_report out;
	struct tap_table table;
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

static int choose(struct states_report *r, unsigned int top)
{
	unsigned int nr, i;
	struct tap_task *const *tasks = tap_timeline_tasks(r->pass.timeline, &nr);

	r->tasks = calloc(nr + 1, sizeof(*r->tasks));
	if (!r->tasks)
		return -ENOMEM;
	for (i = 0; i < nr; i++)
		if (tap_task_life_ns(r->pass.timeline, tasks[i]) &&
		    tap_pass_task(&r->pass, tasks[i]))
			r->tasks[r->nr_tasks++] = tasks[i];
	qsort(r->tasks, r->nr_tasks, sizeof(*r->tasks), by_run_time);
	r->nr = r->nr_tasks < top ? r->nr_tasks : top;
	for (i = 0; i < r->pass.survey.nr_kinds; i++)
		r->iowait |= !strcmp(r->pass.survey.kinds[i].fmt->name, "sched_stat_iowait");
	return 0;
}

static void put_label(struct states_report *r, const struct tap_task *task)
{
	uint32_t len;
	const char *label = tap_pass_label(&r->pass, task, &len);

	tap_table_text(&r->table, label, len);
}

static void put_longest_csv(struct states_report *r, const struct tap_longest *longest)
{
	for (unsigned int i = 0; i < NR_SHOWN; i++) {
		const struct tap_longest *l = &longest[shown[i].state];

		tap_table_u64(&r->table, l->ns);
		if (l->ns)
			tap_table_u64(&r->table, l->at_ns);
		else
			tap_table_none(&r->table);
	}
}

static void put_longest_json(struct states_report *r, const struct tap_longest *longest)
{
	tap_report_object(&r->out, "longest");
	for (unsigned int i = 0; i < NR_SHOWN; i++) {
		const struct tap_longest *l = &longest[shown[i].state];

		if (!l->ns)
			continue;
		tap_report_object(&r->out, shown[i].key);
		tap_report_u64(&r->out, "ns", l->ns);
		tap_report_at(&r->out, "at_ns", l->at_ns);
		tap_report_object_end(&r->out);
	}
	tap_report_object_end(&r->out);
}

static double pct(const struct states_report *r, const struct tap_task *task, uint64_t ns)
{
	return 100.0 * (double)ns / (double)tap_task_life_ns(r->pass.timeline, task);
}

static void put_iowait(struct states_report *r, const struct tap_task *task)
{
	if (r->iowait) {
		tap_table_u64(&r->table, task->iowait_ns);
		tap_table_real(&r->table, pct(r, task, task->iowait_ns));
	} else {
		tap_table_none(&r->table);
		tap_table_none(&r->table);
	}
}

static void put_task(struct states_report *r, const struct tap_task *task)
{
	const struct tap_longest *longest = tap_states_longest(&r->states, task);

	tap_pass_who(&r->pass, &r->table, task);
	tap_table_u64(&r->table, tap_task_life_ns(r->pass.timeline, task));
	for (unsigned int i = 0; i < NR_SHOWN; i++) {
		uint64_t ns = task->total_ns[shown[i].state];

		tap_table_u64(&r->table, ns);
		tap_table_real(&r->table, pct(r, task, ns));
		if (shown[i].state == TAP_BLOCKED) /* of which */
			put_iowait(r, task);
	}
	tap_pass_put_throttling(&r->pass, &r->table, task);
	if (r->out.style == TAP_STYLE_CSV)
		put_longest_csv(r, longest);
	put_longest_json(r, longest);
	tap_table_row(&r->table);
}

static void put_longest_text(struct states_report *r)
{
	tap_buf_puts(&r->out.buf, "\neach state, and the longest time in one go\n");
	tap_table_begin(&r->table, &r->out, longest_columns, NULL);
	for (unsigned int i = 0; i < r->nr * NR_SHOWN; i++) {
		const struct tap_task *task = r->tasks[i / NR_SHOWN];
		enum tap_state state = shown[i % NR_SHOWN].state;
		const struct tap_longest *l = &tap_states_longest(&r->states, task)[state];

		if (!l->ns)
			continue;
		put_label(r, task);
		tap_table_text(&r->table, tap_state_name(state), strlen(tap_state_name(state)));
		tap_table_u64(&r->table, task->total_ns[state]);
		tap_table_real(&r->table, pct(r, task, task->total_ns[state]));
		tap_table_u64(&r->table, l->ns);
		tap_table_u64(&r->table, l->at_ns);
		tap_table_row(&r->table);
	}
	tap_table_end(&r->table);
}

static int print(struct states_report *r, struct tap_err *err)
{
	enum tap_style style = tap_pass_style(&r->pass);
	int ret;

	tap_pass_begin(&r->pass, &r->out, style);
	tap_table_begin(&r->table, &r->out, style == TAP_STYLE_CSV ? csv_columns : columns,
			"tasks");
	for (unsigned int i = 0; i < r->nr; i++)
		put_task(r, r->tasks[i]);
	tap_table_end(&r->table);
	tap_pass_more(&r->out, "task", r->nr_tasks, r->nr);
	if (style == TAP_STYLE_TEXT)
		put_longest_text(r);
	tap_pass_note_throttling(&r->pass, &r->out);
	tap_pass_note_sleep(&r->pass, &r->out);
	ret = tap_report_close(&r->out);
	errno = -ret;
	return ret ? tap_err_set(err, ret, "cannot write the report: %m") : 0;
}

static int run_states(void *opts, const struct tap_strings *operands, char **rest)
{
	const struct states_opts *o = opts;
	struct states_report r = { 0 };
	struct tap_err err = { 0 };
	bool usage;
	int ret;

	(void)operands;
	(void)rest;
	ret = tap_pass_open(&r.pass, &o->pass, &usage, &err);
	r.pass.mark_throttling = true;
	r.states.start_ns = r.pass.start_ns;
	if (!ret)
		ret = tap_pass_run(&r.pass, &tap_states_observer, NULL, &r.states, &err);
	if (!ret && choose(&r, tap_pass_top(&r.pass, o->top, TOP_IN_TEXT)))
		ret = tap_err_set(&err, -ENOMEM, "out of memory");
	if (!ret)
		ret = print(&r, &err);
	ret = tap_pass_finish(&r.pass, ret, &err, usage);
	free(r.tasks);
	tap_states_release(&r.states);
	return ret;
}

const struct tap_cmd tap_cmd_states = {
	.name = "states",
	.help = "how long each task was in each state",
	.operands = TAP_CMD_FILE,
	.example = "schedtap states -i demo/trace.dat -n 20",
	.opts = states_opts,
	.opts_size = sizeof(struct states_opts),
	.defaults = &(const struct states_opts){ .top = -1 },
	.run = run_states,
};
