// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* schedtap timehist: every slice of every task, with the waits before it. */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/text.h"
#include "event/print/print.h"
#include "timeline/run/frames.h"
#include "analysis/timehist.h"
#include "show/report/report.h"
#include "show/report/stack_cells.h"

struct timehist_opts {
	struct tap_report_opts common;
	bool wakeups, migrations, stacks, cpu_visual, with_summary, summary;
};

static const struct tap_opt options[] = {
	TAP_REPORT_OPTIONS,
	TAP_OPTION(struct timehist_opts, wakeups, "wakeups", 'w', NULL, TAP_OPT_FLAG,
		   "show wakeups as separate rows"),
	TAP_OPTION(struct timehist_opts, migrations, "migrations", 'M', NULL, TAP_OPT_FLAG,
		   "show migrations as separate rows"),
	TAP_OPTION(struct timehist_opts, common.input.select.events, "event", 'e', "EVENT",
		   TAP_OPT_STRINGS,
		   "show these events as separate rows: a name, group, system or SYSTEM:NAME, or a "
		   "glob; repeatable"),
	TAP_OPT_FILTER(struct timehist_opts, common.input.select.filters,
		       common.input.select.events),
	TAP_OPTION(struct timehist_opts, stacks, "stacks", 0, NULL, TAP_OPT_FLAG,
		   "show under each slice the stack with which the task left its CPU"),
	TAP_OPTION(struct timehist_opts, cpu_visual, "cpu-visual", 'V', NULL, TAP_OPT_FLAG,
		   "add a column per CPU, and mark each row's CPU"),
	TAP_OPTION(struct timehist_opts, with_summary, "with-summary", 'S', NULL, TAP_OPT_FLAG,
		   "show a summary after the rows"),
	TAP_OPTION(struct timehist_opts, summary, "summary", 's', NULL, TAP_OPT_FLAG,
		   "show only the summary: tasks, CPUs, totals"),
	{ 0 }
};

#define STACK_INDENT 4u
#define FEW_CPUS 16u /* up to this many CPUs, the marks fit every terminal */

static const struct tap_column task_columns[] = {
	TAP_TASK_COLUMNS("", "task [tid/tgid]", 24),
	{ "run_ns", "run", TAP_CELL_NS, .width = 12 },
	{ "slices", "slices", TAP_CELL_COUNT, .width = 9 },
	{ "censored_slices", "censored", TAP_CELL_COUNT, .width = 8, .rank = 2,
	  .tint = TAP_TINT_YELLOW },
	{ "min_ns", "min", TAP_CELL_NS, .width = 9, .rank = 4 },
	{ "avg_ns", "avg", TAP_CELL_NS, .width = 9, .rank = 3, .same_unit = true },
	{ "max_ns", "max", TAP_CELL_NS, .width = 9, .rank = 1, .same_unit = true },
	{ "migrations", "migrations", TAP_CELL_COUNT, .width = 10, .rank = 5 },
	{ 0 }
};

static const struct tap_column cpu_columns[] = {
	{ "cpu", "cpu", TAP_CELL_INT, .width = 3 },
	{ "idle_ns", "idle", TAP_CELL_NS, .width = 12 },
	{ "idle_pct", "idle %", TAP_CELL_REAL, .width = 6, .places = 2 },
	{ "run_ns", "run", TAP_CELL_NS, .width = 12, .same_unit = true },
	{ "unknown_ns", "unknown", TAP_CELL_NS, .width = 12, .rank = 1, .tint = TAP_TINT_YELLOW,
	  .same_unit = true },
	{ "switches", "switches", TAP_CELL_COUNT, .width = 10 },
	{ 0 }
};

/* Cached data of one kind of event that is shown. */
struct event_kind {
	struct tap_printer *printer; /* NULL: not created yet */
	struct tap_buf name; /* "system:name", as in the recording */
};

/*
 * A buffered row. With --stacks, rows are buffered until their stack may have arrived: a stack
 * follows the event that ended the slice.
 */
struct held_row {
	struct tap_row row; /* .event is NULL: the event is gone by then */
	/* for TAP_ROW_SLICE: the stack with which the task left its CPU */
	struct tap_stack_pair stack;
	/* TAP_ROW_EVENT: index in .kinds, which may be reallocated; .text is set, too */
	unsigned int kind;
	char *text;
	size_t len;
};

#define MAX_COLUMNS 40u /* upper bound of the number of columns */

struct row_column;

struct timehist {
	struct tap_report report;
	const struct timehist_opts *o;
	struct tap_timehist hist;
	struct tap_slices_sum sum;
	/* the columns that the recording, the options and the style have */
	struct tap_column columns[MAX_COLUMNS + 1];
	const struct row_column *cells[MAX_COLUMNS];
	unsigned int nr_columns;
	bool has_util; /* the recording has utilization signals */
	struct tap_buf visual, visual_title, note, text;
	const struct event_kind *kind; /* the current event's kind; .text is its printed text */
	struct event_kind *kinds; /* owned; indexed by tap_event_kind.index */
	unsigned int nr_kinds;
	struct tap_symbols *symbols; /* owned; created with the first printer */
	struct held_row *held;
	unsigned int nr_held, cap_held;
	uint64_t hold_ns;
	struct tap_stack_pair stack; /* stack of the row being printed */
};

static bool with_summary(const struct tap_report *r)
{
	const struct timehist_opts *o = ((const struct timehist *)r)->o;

	return o->summary || o->with_summary;
}

static bool has_events(const struct timehist *h)
{
	return h->o->common.input.select.events.nr;
}

static int make_printer(struct timehist *h, struct event_kind *k, const struct tap_format *fmt)
{
	const struct tap_reader_info *info = tap_reader_info(h->report.run.rec.reader);

	tap_buf_printf(&k->name, "%s:%s", fmt->system, fmt->name);
	if (!h->symbols && tap_symbols_new(info->printk, info->kallsyms, &h->symbols))
		return -ENOMEM;
	if (tap_printer_new(fmt, &k->printer, NULL))
		return -ENOMEM;
	tap_printer_set_symbols(k->printer, h->symbols);
	return k->name.err;
}

/* Set .kind for an event, and create its printer if needed. Return: 0 or -ENOMEM. */
static int set_kind(struct timehist *h, const struct tap_format *fmt)
{
	const struct tap_event_kind *kind = tap_event_kind(&h->report.run.rec.kinds, fmt);
	struct event_kind *k = NULL;

	if (kind)
		k = tap_array_at(&h->kinds, &h->nr_kinds, kind->index, sizeof(*k), NULL);
	h->kind = k;
	if (!k)
		return -ENOMEM;
	return k->printer ? 0 : make_printer(h, k, fmt);
}

static void release_kinds(struct timehist *h)
{
	for (unsigned int i = 0; i < h->nr_kinds; i++) {
		tap_printer_free(h->kinds[i].printer);
		tap_buf_release(&h->kinds[i].name);
	}
	free(h->kinds);
	tap_symbols_free(h->symbols);
}

/* Add a task's label. @tid: as tap_task.waker_tid: -1: unknown, 0: an idle CPU. */
static void cell_tid(struct timehist *h, struct tap_table *t, int tid)
{
	const struct tap_task *task = tap_timeline_task(h->report.run.timeline, tid);

	if (task)
		tap_label_cell(&h->report.run, t, task);
	else
		tap_table_puts(t, tid ? NULL : "<idle>");
}

/*
 * Return the row's task, or NULL. A task that emits an event may never sleep or wake, and thus be
 * unknown to the timeline: look it up in the recording's task list.
 */
static const struct tap_task *task_of(struct timehist *h, const struct tap_row *row)
{
	bool is_listed = row->what == TAP_ROW_EVENT && !row->task && row->tid >= 0;

	return is_listed ? tap_identity(&h->report.run.rec.ids, row->tid) : row->task;
}

static int tid_on_cpu(const struct timehist *h, int cpu)
{
	unsigned int nr;
	const struct tap_cpu *cpus = tap_timeline_cpus(h->report.run.timeline, &nr);

	if (cpu < 0 || cpu >= (int)nr || !cpus[cpu].known)
		return -1;
	return cpus[cpu].task ? cpus[cpu].task->tid : 0;
}

/* Add "lost 120 events, 0.100 ms": the number of lost events, and the length of the gap. */
static void cell_lost(struct timehist *h, struct tap_table *t, const struct tap_row *row)
{
	tap_buf_clear(&h->note);
	tap_buf_puts(&h->note, row->is_off ? "switched off, " : "lost ");
	if (row->lost_cnt)
		tap_buf_printf(&h->note, "%ju events", (uintmax_t)row->lost_cnt);
	else
		tap_buf_puts(&h->note, "some events");
	tap_buf_printf(&h->note, ", %.3f ms", (double)(row->to_ns - row->from_ns) / 1e6);
	tap_table_tint(t, TAP_TINT_RED);
	tap_table_text(t, h->note.data, h->note.len);
}

/*
 * Return the tid that caused a wakeup. The timeline names only tasks; if the CPU was idle, an
 * interrupt woke, which is tid 0.
 */
static int waker_of(const struct timehist *h, const struct tap_row *row)
{
	bool is_idle =
		row->what == TAP_ROW_WAKEUP && row->waker_tid < 0 && !tid_on_cpu(h, row->cpu);

	return is_idle ? 0 : row->waker_tid;
}

static void cell_emitter(struct timehist *h, struct tap_table *t, const struct tap_row *row)
{
	const struct tap_task *task = task_of(h, row);

	if (row->task) {
		tap_label_cell(&h->report.run, t, row->task);
	} else if (task) {
		tap_buf_clear(&h->note);
		tap_run_make_label(&h->report.run, &h->note, task);
		tap_table_text(t, h->note.data, h->note.len);
	} else {
		tap_table_none(t);
	}
}

/* ---- columns: each with the function that adds its cell ---- */

struct row_column {
	struct tap_column column;
	/* @arg: the .arg below */
	void (*put)(struct timehist *h, struct tap_table *t, const struct tap_row *row, size_t arg);
	size_t arg;
	enum { ALWAYS, WITH_VISUAL, WITH_UTIL, WITH_EVENTS, WITH_NOTES, WITH_STACKS } when;
};

#define CELL(name)                                                                                 \
	static void name(struct timehist *h __attribute__((unused)), struct tap_table *t,          \
			 const struct tap_row *row __attribute__((unused)),                        \
			 size_t arg __attribute__((unused)))

CELL(put_what)
{
	static const char *const what[] = {
		[TAP_ROW_SLICE] = "slice",	   [TAP_ROW_UNKNOWN] = "unknown",
		[TAP_ROW_LOST] = "lost",	   [TAP_ROW_WAKEUP] = "wakeup",
		[TAP_ROW_MIGRATION] = "migration", [TAP_ROW_EVENT] = "event",
	};

	tap_table_puts(t, what[row->what]);
}

CELL(put_time)
{
	tap_table_u64(t, row->from_ns);
}

/* @arg: offset of an int in the row; negative values are unknown */
CELL(put_int)
{
	tap_table_id(t, *(const int *)((const char *)row + arg));
}

CELL(put_visual)
{
	static const char marks[] = {
		[TAP_ROW_SLICE] = 's',	[TAP_ROW_UNKNOWN] = '?',   [TAP_ROW_LOST] = '!',
		[TAP_ROW_WAKEUP] = 'w', [TAP_ROW_MIGRATION] = 'm', [TAP_ROW_EVENT] = 'e',
	};
	bool fits = row->cpu >= 0 && (size_t)row->cpu < h->visual.len;

	if (fits)
		h->visual.data[row->cpu] = marks[row->what];
	tap_table_text(t, h->visual.data, h->visual.len);
	if (fits)
		h->visual.data[row->cpu] = ' ';
}

/*
 * Text, as in perf: a wakeup row names the waker, a migration row the task running on the CPU that
 * reported it.
 */
CELL(put_about)
{
	switch (row->what) {
	case TAP_ROW_SLICE:
		tap_label_cell(&h->report.run, t, row->task);
		break;
	case TAP_ROW_UNKNOWN:
		tap_table_tint(t, TAP_TINT_YELLOW);
		tap_table_puts(t, "unknown");
		break;
	case TAP_ROW_LOST:
		cell_lost(h, t, row);
		break;
	case TAP_ROW_WAKEUP:
		cell_tid(h, t, waker_of(h, row));
		break;
	case TAP_ROW_MIGRATION:
		cell_tid(h, t, row->tid);
		break;
	case TAP_ROW_EVENT:
		cell_emitter(h, t, row);
		break;
	}
}

CELL(put_tid)
{
	const struct tap_task *task = task_of(h, row);

	tap_table_id(t, task ? task->tid : -1);
}

CELL(put_tgid)
{
	const struct tap_task *task = task_of(h, row);

	tap_table_id(t, task ? tap_task_tgid(task) : -1);
}

CELL(put_comm)
{
	const struct tap_task *task = task_of(h, row);

	if (task && (row->task || *task->comm))
		tap_table_text(t, task->comm, strnlen(task->comm, TAP_TASK_COMM));
	else
		tap_table_none(t);
}

CELL(put_throttling)
{
	tap_throttling_cell(&h->report.run, t, row->task);
}

CELL(put_prio)
{
	if (row->what == TAP_ROW_SLICE && row->task->prio != TAP_PRIO_UNKNOWN)
		tap_table_s64(t, row->task->prio);
	else
		tap_table_none(t);
}

CELL(put_wait)
{
	bool is_recorded = arg != TAP_STATE_THROTTLED || h->report.run.nr_throttling;
	uint64_t ns = row->wait_ns[arg];

	tap_table_u64_if(t, is_recorded && row->what == TAP_ROW_SLICE && (row->waits_known || ns),
			 ns);
}

CELL(put_unknown)
{
	uint64_t ns = row->what == TAP_ROW_UNKNOWN ? row->to_ns - row->from_ns
						   : row->wait_ns[TAP_STATE_UNKNOWN];

	tap_table_u64_if(t, ns || (row->what == TAP_ROW_SLICE && row->waits_known), ns);
}

CELL(put_mark)
{
	tap_table_puts(t, row->what == TAP_ROW_SLICE && !row->whole ? ">" : "");
}

CELL(put_run)
{
	tap_table_u64_if(t, row->what == TAP_ROW_SLICE, row->to_ns - row->from_ns);
}

CELL(put_censored)
{
	tap_table_u64_if(t, row->what == TAP_ROW_SLICE, !row->whole);
}

CELL(put_state)
{
	tap_table_puts(t, row->what == TAP_ROW_SLICE && *row->end ? row->end : NULL);
}

CELL(put_woken_by)
{
	cell_tid(h, t, row->what == TAP_ROW_SLICE ? row->waker_tid : -1);
}

CELL(put_woken_by_tid)
{
	tap_table_id(t, waker_of(h, row));
}

CELL(put_lost)
{
	tap_table_u64_if(t, row->lost_cnt, row->lost_cnt);
}

CELL(put_lost_ns)
{
	tap_table_u64_if(t, row->what == TAP_ROW_LOST, row->to_ns - row->from_ns);
}

/* The event's name; put_text() adds its text. */
CELL(put_event)
{
	if (row->what == TAP_ROW_EVENT)
		tap_table_text(t, h->kind->name.data, h->kind->name.len);
	else
		tap_table_none(t);
}

CELL(put_text)
{
	if (row->what == TAP_ROW_EVENT)
		tap_table_text(t, h->text.data, h->text.len);
	else
		tap_table_none(t);
}

/* @arg: 1: user frames; 0: kernel frames */
CELL(put_frames)
{
	struct tap_stack_pair stack = arg ? (struct tap_stack_pair){ .user = h->stack.user }
					  : (struct tap_stack_pair){ .kernel = h->stack.kernel };

	tap_buf_clear(&h->note);
	tap_stack_add(&h->note, h->report.stacks, stack, false);
	if (h->note.len)
		tap_table_text(t, h->note.data, h->note.len);
	else
		tap_table_none(t);
}

static void note_task(struct timehist *h, const char *what, const struct tap_task *task)
{
	uint32_t len;
	const char *label = tap_run_label(&h->report.run, task, &len);

	tap_buf_puts(&h->note, what);
	tap_buf_add(&h->note, label, len);
}

CELL(put_note)
{
	tap_buf_clear(&h->note);
	if (row->what == TAP_ROW_WAKEUP) {
		note_task(h, "awakened: ", row->task);
	} else if (row->what == TAP_ROW_MIGRATION) {
		note_task(h, "migrated: ", row->task);
		tap_buf_printf(&h->note, " cpu %d => %d", row->from_cpu, row->to_cpu);
	} else if (row->what == TAP_ROW_EVENT) {
		tap_text_escape(&h->note, h->kind->name.data, h->kind->name.len);
		tap_buf_puts(&h->note, ": ");
		tap_text_escape(&h->note, h->text.data, h->text.len);
	}
	tap_table_text(t, h->note.data, h->note.len);
}

/* clang-format off */
#define INT(member) put_int, offsetof(struct tap_row, member)
#define UTIL(key, title, w, member) \
	{ { key, title, TAP_CELL_INT, .width = w, .rank = 9 }, INT(member), WITH_UTIL }

static const struct row_column row_columns[] = {
	{ { "what", NULL, TAP_CELL_TEXT }, put_what },
	{ { "time_ns", "time", TAP_CELL_AT, .width = 17 }, put_time },
	{ { "cpu", "cpu", TAP_CELL_INT, .width = 3 }, INT(cpu) },
	/* the title lists the CPUs, one digit each */
	{ { NULL, "", TAP_CELL_LABEL }, put_visual, .when = WITH_VISUAL },
	{ { NULL, "task [tid/tgid]", TAP_CELL_LABEL, .width = 26 }, put_about },
	{ { "tid", NULL, TAP_CELL_INT }, put_tid },
	{ { "tgid", NULL, TAP_CELL_INT }, put_tgid },
	{ { "comm", NULL, TAP_CELL_TEXT }, put_comm },
	{ TAP_THROTTLING_COLUMN, put_throttling },
	{ { "prio", "prio", TAP_CELL_INT, .width = 4, .rank = 7 }, put_prio },
	{ { "waking_ns", "waking", TAP_CELL_NS, .width = 9 }, put_wait, TAP_STATE_WAKING },
	{ { "preempted_ns", "preempted", TAP_CELL_NS, .width = 12, .rank = 2 },
	  put_wait, TAP_STATE_PREEMPTED },
	{ { "throttled_ns", "throttled", TAP_CELL_NS, .width = 10, .rank = 10 },
	  put_wait, TAP_STATE_THROTTLED },
	{ { "sleep_ns", "sleep", TAP_CELL_NS, .width = 9, .rank = 6 },
	  put_wait, TAP_STATE_SLEEPING },
	{ { "blocked_ns", "blocked", TAP_CELL_NS, .width = 10, .rank = 4 },
	  put_wait, TAP_STATE_BLOCKED },
	{ { "stopped_ns", NULL, TAP_CELL_NS }, put_wait, TAP_STATE_STOPPED },
	{ { "unknown_ns", "unknown", TAP_CELL_NS, .width = 10, .rank = 3, .tint = TAP_TINT_YELLOW },
	  put_unknown },
	{ { NULL, "", TAP_CELL_LABEL, .width = 1, .tint = TAP_TINT_YELLOW }, put_mark },
	{ { "run_ns", "run", TAP_CELL_NS, .width = 8 }, put_run },
	{ { "censored", NULL, TAP_CELL_COUNT }, put_censored },
	{ { "state", "state", TAP_CELL_TEXT, .width = 5, .rank = 1 }, put_state },
	{ { NULL, "woken by", TAP_CELL_LABEL, .width = 20, .rank = 5 }, put_woken_by },
	{ { "woken_by_tid", NULL, TAP_CELL_INT }, put_woken_by_tid },
	{ { "from_cpu", "from cpu", TAP_CELL_INT, .width = 8, .rank = 8 }, INT(from_cpu) },
	{ { "to_cpu", NULL, TAP_CELL_INT }, INT(to_cpu) },
	{ { "lost", NULL, TAP_CELL_COUNT }, put_lost },
	{ { "lost_within_ns", NULL, TAP_CELL_NS }, put_lost_ns },
	UTIL("util_start", "util", 4, start_util.util),
	UTIL("util_end", "at end", 6, end_util.util),
	UTIL("util_est_start", "util_est", 8, start_util.util_est),
	UTIL("util_est_end", "at end", 6, end_util.util_est),
	{ { "event", NULL, TAP_CELL_TEXT }, put_event, .when = WITH_EVENTS },
	{ { "text", NULL, TAP_CELL_TEXT }, put_text, .when = WITH_EVENTS },
	{ { "kernel_frames", NULL, TAP_CELL_TEXT }, put_frames, 0, WITH_STACKS },
	{ { "user_frames", NULL, TAP_CELL_TEXT }, put_frames, 1, WITH_STACKS },
	{ { NULL, "", TAP_CELL_LABEL }, put_note, .when = WITH_NOTES },
};
/* clang-format on */

#define NR_COLUMNS (sizeof(row_columns) / sizeof(*row_columns))
_Static_assert(NR_COLUMNS <= MAX_COLUMNS, "struct timehist has room for all");

static bool is_wanted(const struct timehist *h, const struct row_column *c)
{
	enum tap_audience audience = tap_report_audience(&h->report);
	const bool when[] = {
		[ALWAYS] = true,
		[WITH_VISUAL] = h->o->cpu_visual,
		[WITH_UTIL] = h->has_util,
		[WITH_EVENTS] = has_events(h),
		[WITH_NOTES] = has_events(h) || h->o->wakeups || h->o->migrations,
		/* people get stacks as lines below rows, JSON as members */
		[WITH_STACKS] = h->o->stacks && audience == TAP_FOR_SHEETS,
	};

	return when[c->when] && (audience == TAP_FOR_PEOPLE ? c->column.title : c->column.key);
}

static void choose_columns(struct timehist *h)
{
	for (const struct row_column *c = row_columns; c < row_columns + NR_COLUMNS; c++) {
		struct tap_column *to = &h->columns[h->nr_columns];

		if (!is_wanted(h, c))
			continue;
		*to = c->column;
		if (c->when == WITH_VISUAL) {
			to->title = h->visual_title.data;
			to->width = (unsigned int)h->visual_title.len;
			to->rank = to->width > FEW_CPUS ? 10 : 0;
		}
		h->cells[h->nr_columns++] = c;
	}
}

/* Print the stack on a line below the row, wrapped to the terminal's width. */
static void print_stack(struct timehist *h)
{
	struct tap_page *p = &h->report.page;
	size_t from = p->buf.len;

	if (tap_stack_pair_is_none(h->stack))
		return;
	tap_buf_blanks(&p->buf, STACK_INDENT);
	tap_stack_add(&p->buf, h->report.stacks, h->stack, true);
	if (p->columns > 2 * STACK_INDENT)
		tap_page_wrap(&p->buf, from, p->columns, STACK_INDENT, false);
	tap_buf_char(&p->buf, '\n');
}

static void print_row(struct timehist *h, const struct tap_row *row)
{
	struct tap_table *t = &h->report.rows;

	for (unsigned int i = 0; i < h->nr_columns; i++)
		h->cells[i]->put(h, t, row, h->cells[i]->arg);
	if (h->o->stacks)
		tap_stack_members(&h->report.page, h->report.stacks, h->stack);
	tap_table_row(t);
	if (h->o->stacks && tap_page_is_for(&h->report.page, TAP_FOR_PEOPLE))
		print_stack(h);
}

/* ---- rows ---- */

/*
 * Return true if -p, -t, -c and -g select the row's task: for wakeups and migrations the woken or
 * migrated task.
 */
static bool task_is_wanted(struct timehist *h, const struct tap_row *row)
{
	if (row->task || h->report.run.all_tasks || row->what != TAP_ROW_EVENT)
		return !row->task || row->task->selected;
	return tap_pick_task(&h->report.run.pick, &h->report.run.rec.ids.cgroups,
			     tap_identity(&h->report.run.rec.ids, row->tid));
}

static bool row_is_wanted(struct timehist *h, const struct tap_row *row)
{
	return (!row->event ||
		tap_pick_filter(tap_kind_filter(&h->report.run.pick.filters, row->event->fmt),
				row->event,
				row->task && *row->task->comm ? row->task->comm : NULL)) &&
	       (row->cpu < 0 || tap_run_cpu(&h->report.run, row->cpu)) && task_is_wanted(h, row);
}

/*
 * Buffer a row. Resolve its waker now, because the timeline's state changes. Return: 0 or -ENOMEM.
 */
static int hold_row(struct timehist *h, const struct tap_row *row)
{
	struct held_row *held;

	if (tap_array_grow(&h->held, h->nr_held, &h->cap_held, sizeof(*h->held)))
		return -ENOMEM;
	held = &h->held[h->nr_held];
	*held = (struct held_row){ .row = *row };
	held->row.event = NULL;
	held->row.waker_tid = waker_of(h, row);
	if (row->what == TAP_ROW_EVENT) {
		held->kind = (unsigned int)(h->kind - h->kinds);
		held->len = h->text.len;
		held->text = malloc(held->len + 1);
		if (!held->text)
			return -ENOMEM;
		memcpy(held->text, tap_buf_str(&h->text), held->len);
	}
	h->nr_held++;
	return 0;
}

static void print_held(struct timehist *h, struct held_row *held)
{
	if (held->text) {
		h->kind = &h->kinds[held->kind];
		tap_buf_clear(&h->text);
		tap_buf_add(&h->text, held->text, held->len);
	}
	h->stack = held->stack;
	print_row(h, &held->row);
	free(held->text);
	held->text = NULL;
}

/* Print buffered rows whose stacks can no longer arrive. */
static void print_due(struct timehist *h, uint64_t now_ns)
{
	unsigned int nr = 0;

	while (nr < h->nr_held && now_ns > h->hold_ns &&
	       now_ns - h->hold_ns > h->held[nr].row.to_ns)
		print_held(h, &h->held[nr++]);
	h->nr_held -= nr;
	if (nr && h->nr_held)
		memmove(h->held, h->held + nr, h->nr_held * sizeof(*h->held));
}

static int on_row(void *ctx, const struct tap_row *original)
{
	struct timehist *h = ctx;
	struct tap_row copy = *original, *row = &copy;
	int ret = 0;

	if (row->what == TAP_ROW_MIGRATION)
		row->tid = tid_on_cpu(h, row->cpu);
	if (!row_is_wanted(h, row))
		return 0;
	h->report.matched |= row->task || row->what == TAP_ROW_EVENT;
	if (with_summary(&h->report))
		ret = tap_slices_add(&h->sum, row, h->report.run.window.from_ns);
	if (!ret && !h->o->summary && h->report.stacks)
		ret = hold_row(h, row);
	else if (!h->o->summary)
		print_row(h, row);
	return ret ? ret : h->report.page.err;
}

/*
 * Make the title "012.." of the visual column, under which a row's mark stands at the position of
 * its CPU.
 */
static int make_visual(struct timehist *h)
{
	unsigned int nr = tap_reader_info(h->report.run.rec.reader)->nr_cpus;

	for (unsigned int cpu = 0; cpu < nr; cpu++)
		tap_buf_char(&h->visual_title, "0123456789abcdef"[cpu % 16]);
	tap_buf_blanks(&h->visual, nr);
	tap_buf_str(&h->visual_title);
	return h->visual_title.err ? h->visual_title.err : h->visual.err;
}

static bool records_util(const struct tap_survey *s)
{
	for (unsigned int i = 0; i < s->nr_kinds; i++)
		if (s->kinds[i].count && tap_timehist_util_ops.wants(NULL, s->kinds[i].fmt))
			return true;
	return false;
}

/* ---- the summary ---- */

static unsigned int nr_tasks(const struct tap_report *r)
{
	return ((const struct timehist *)r)->sum.nr;
}

static void put_task(struct tap_report *r, struct tap_table *t, unsigned int i)
{
	const struct tap_slices *s = &((struct timehist *)r)->sum.tasks[i];

	tap_task_cells(&r->run, t, s->task);
	tap_table_u64(t, s->run_ns);
	tap_table_u64(t, s->slices);
	tap_table_u64(t, s->censored);
	tap_table_u64_if(t, s->slices, s->min_ns);
	tap_table_u64_if(t, s->slices, s->slices ? s->sum_ns / s->slices : 0);
	tap_table_u64_if(t, s->slices, s->max_ns);
	tap_table_u64(t, s->task->migrations);
}

static void put_cpus(struct tap_report *r, struct tap_table *t)
{
	double window_ns = (double)tap_window_ns(&r->run.window);
	unsigned int nr;
	const struct tap_cpu *cpus = tap_timeline_cpus(r->run.timeline, &nr);

	for (unsigned int i = 0; i < nr; i++) {
		if (!tap_run_cpu(&r->run, (int)i))
			continue;
		tap_table_s64(t, i);
		tap_table_u64(t, cpus[i].idle_ns);
		tap_table_real(t, 100.0 * (double)cpus[i].idle_ns / window_ns);
		tap_table_u64(t, cpus[i].run_ns);
		tap_table_u64(t, cpus[i].unknown_ns + cpus[i].outside_ns);
		tap_table_u64(t, cpus[i].switches);
		tap_table_row(t);
	}
}

static void put_totals(struct tap_report *r, struct tap_table *t)
{
	const struct tap_slices_sum *sum = &((struct timehist *)r)->sum;
	uint64_t window_ns = tap_window_ns(&r->run.window), run_ns = 0, switches = 0;
	unsigned int nr, shown = 0;
	const struct tap_cpu *cpus = tap_timeline_cpus(r->run.timeline, &nr);
	struct tap_page *p = t->page;

	for (unsigned int i = 0; i < nr; i++) {
		if (!tap_run_cpu(&r->run, (int)i))
			continue;
		switches += cpus[i].switches;
		shown++;
	}
	for (unsigned int i = 0; i < sum->nr; i++)
		run_ns += sum->tasks[i].run_ns;
	tap_page_object(p, "totals");
	tap_page_u64(p, "tasks", sum->nr);
	tap_page_u64(p, "switches", switches);
	tap_page_u64(p, "run_ns", run_ns);
	tap_page_u64(p, "window_ns", window_ns);
	tap_page_u64(p, "cpus", shown);
	tap_page_object_end(p);
	if (tap_page_is_for(p, TAP_FOR_PEOPLE))
		tap_buf_printf(&p->buf,
			       "\n%u tasks, %ju switches, run %.3f ms of %.3f ms x %u CPUs\n",
			       sum->nr, (uintmax_t)switches, (double)run_ns / 1e6,
			       (double)window_ns / 1e6, shown);
}

/* ---- the report ---- */

/* With -e: watch the selected events, and show each as a row. */
static bool wants_shown(void *ctx, const struct tap_format *fmt)
{
	return fmt && tap_pick_wants(&((const struct timehist *)ctx)->report.run.pick, fmt);
}

static int on_shown(void *ctx, const struct tap_timeline *t, const struct tap_event *ev)
{
	struct timehist *h = ctx;
	int ret = set_kind(h, ev->fmt);

	if (ret)
		return ret;
	tap_buf_clear(&h->text);
	tap_printer_run(h->kind->printer, ev->data, ev->size, &h->text);
	return h->text.err ? h->text.err : tap_timehist_show(&h->hist, t, ev);
}

static const struct tap_watcher_ops shown_ops = { .wants = wants_shown, .event = on_shown };

/*
 * With --stacks: watch all events, to print buffered rows when their stacks can no longer arrive.
 */
static bool wants_all(void *ctx, const struct tap_format *fmt)
{
	(void)ctx;
	(void)fmt;
	return true;
}

static int before_event(void *ctx, const struct tap_timeline *t, const struct tap_event *ev)
{
	(void)t;
	print_due(ctx, ev->ts_ns);
	return 0;
}

/* Store a stack with the buffered row whose slice it ended. */
static int give_stack(void *ctx, const struct tap_timeline *t, const struct tap_event *ev)
{
	struct timehist *h = ctx;

	(void)t;
	if (!ev->fmt || !tap_frames_kind(ev->fmt))
		return 0;
	for (unsigned int i = 0; i < h->nr_held; i++) {
		struct held_row *held = &h->held[i];
		const struct tap_task_stacks *left = NULL;

		if (held->row.what == TAP_ROW_SLICE)
			left = tap_event_stacks_left(h->report.stacks, held->row.task,
						     held->row.to_ns);
		if (left)
			held->stack = left->left;
	}
	return 0;
}

static const struct tap_watcher_ops held_ops = { .wants = wants_all,
						 .before = before_event,
						 .event = give_stack };

static int check_options(const void *opts, struct tap_err *err)
{
	const struct timehist_opts *o = opts;

	if (o->with_summary && tap_input_style(&o->common.input)->audience == TAP_FOR_SHEETS)
		return tap_err_set(err, -EINVAL,
				   "--csv and -S (summary) exclude each other: CSV output holds "
				   "only one table");
	return 0;
}

static int watch_stacks(struct timehist *h, struct tap_err *err)
{
	int ret = tap_report_open_stacks(&h->report, err);

	h->hold_ns = tap_event_stacks_within_ns(&h->report.run.survey);
	tap_report_watch(&h->report, &held_ops, h, 0);
	return ret;
}

static int begin_rows(struct timehist *h, struct tap_err *err)
{
	struct tap_report *r = &h->report;
	int ret = h->o->stacks ? watch_stacks(h, err) : 0;

	h->has_util = records_util(&r->run.survey);
	tap_report_watch(r, &tap_timehist_ops, &h->hist, 0);
	if (h->o->wakeups)
		tap_report_watch(r, &tap_timehist_wakeups_ops, &h->hist, 0);
	if (h->o->migrations)
		tap_report_watch(r, &tap_timehist_migrations_ops, &h->hist, 0);
	if (h->has_util)
		tap_report_watch(r, &tap_timehist_util_ops, &h->hist, 0);
	if (has_events(h))
		tap_report_watch(r, &shown_ops, h, 0);
	r->run.mark_throttling = true;
	choose_columns(h);
	tap_report_open_rows(r, h->columns, NULL);
	return ret;
}

static int begin_timehist(struct tap_report *r, struct tap_err *err)
{
	struct timehist *h = (struct timehist *)r;

	h->o = (const struct timehist_opts *)r->opts;
	h->hist = (struct tap_timehist){
		.window = r->run.window, .survey = &r->run.survey, .row = on_row, .ctx = h
	};
	if (make_visual(h))
		return tap_err_nomem(err);
	if (!h->o->summary)
		return begin_rows(h, err);
	tap_report_watch(r, &tap_timehist_ops, &h->hist, 0)->states =
		TAP_STATE_BIT(TAP_STATE_RUNNING);
	return 0;
}

static int end_timehist(struct tap_report *r, struct tap_err *err)
{
	struct timehist *h = (struct timehist *)r;

	(void)err;
	print_due(h, UINT64_MAX);
	tap_slices_sort(&h->sum);
	return 0;
}

static void release_timehist(struct tap_report *r)
{
	struct timehist *h = (struct timehist *)r;

	tap_timehist_release(&h->hist);
	tap_slices_release(&h->sum);
	tap_buf_release(&h->visual);
	tap_buf_release(&h->visual_title);
	tap_buf_release(&h->note);
	tap_buf_release(&h->text);
	for (unsigned int i = 0; i < h->nr_held; i++)
		free(h->held[i].text);
	free(h->held);
	release_kinds(h);
}

static bool with_rows(const struct tap_report *r)
{
	return r->has_rows;
}

static bool with_both(const struct tap_report *r)
{
	return with_rows(r) && with_summary(r);
}

static const struct tap_section sections[] = {
	TAP_NOTE_THROTTLING,
	{ TAP_FOR_PEOPLE, with_rows, .put = tap_report_note_sleep },
	{ TAP_FOR_PEOPLE, with_both, .before = "\n" },
	{ TAP_FOR_ALL, with_summary, .key = "tasks", .columns = task_columns, .row = put_task,
	  .nr = nr_tasks },
	{ TAP_FOR_PEOPLE | TAP_FOR_PROGRAMS, with_summary, .before = "\n", .key = "cpus",
	  .columns = cpu_columns, .put = put_cpus },
	{ TAP_FOR_PEOPLE | TAP_FOR_PROGRAMS, with_summary, .put = put_totals },
	{ 0 }
};

const struct tap_report_type tap_report_timehist = {
	.cmd = {
		.name = "timehist",
		.help = "every slice with its waits, as in perf sched timehist",
		.operands = TAP_CMD_FILE,
		.example = "schedtap timehist -C 0",
		.opts = options,
		.opts_size = sizeof(struct timehist_opts),
	},
	.size = sizeof(struct timehist),
	.needs = TAP_NEEDS_SWITCHES,
	.sections = sections,
	.check = check_options,
	.begin = begin_timehist,
	.end = end_timehist,
	.release = release_timehist,
};
