// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* schedtap timehist: every slice of every task, with the waits before it. */
#include <errno.h>
#include <stdlib.h>

#include "analysis/timehist.h"
#include "cli/pass.h"
#include "cli/screen.h"
#include "event/print.h"

struct timehist_opts {
	struct tap_pass_opts pass;
	bool wakeups, migrations, cpu_visual, with_summary, summary;
};

static const struct tap_opt timehist_opts[] = {
	TAP_PASS_OPTIONS(struct timehist_opts),
	TAP_OPTION(struct timehist_opts, wakeups, "wakeups", 'w', NULL, TAP_OPT_FLAG,
		   "show wakeups, as rows of their own"),
	TAP_OPTION(struct timehist_opts, migrations, "migrations", 'M', NULL, TAP_OPT_FLAG,
		   "show migrations, as rows of their own"),
	TAP_OPTION(struct timehist_opts, pass.pick.events, "event", 'e', "EVENT", TAP_OPT_STRINGS,
		   "show these events, as rows of their own: a name, a group or a SYSTEM:NAME glob; "
		   "repeatable"),
	TAP_OPTION(struct timehist_opts, cpu_visual, "cpu-visual", 'V', NULL, TAP_OPT_FLAG,
		   "add a column per CPU, with a mark where the row's CPU is"),
	TAP_OPTION(struct timehist_opts, with_summary, "with-summary", 'S', NULL, TAP_OPT_FLAG,
		   "show a summary behind the rows"),
	TAP_OPTION(struct timehist_opts, summary, "summary", 's', NULL, TAP_OPT_FLAG,
		   "show only the summary: tasks, CPUs, totals"),
	{ 0 }
};

#define FEW_CPUS 16u /* of which the marks have a place on every terminal */

enum column {
	COL_WHAT, COL_TIME, COL_CPU, COL_VISUAL, COL_LABEL, COL_TID, COL_TGID, COL_COMM,
	COL_THROTTLING, COL_PRIO,
	COL_WAKING, COL_PREEMPTED, COL_SLEEP, COL_BLOCKED, COL_STOPPED, COL_UNKNOWN, COL_MARK, COL_RUN,
	COL_CENSORED, COL_STATE, COL_WOKEN_BY, COL_WOKEN_BY_TID, COL_FROM_CPU, COL_TO_CPU, COL_LOST,
	COL_LOST_NS, COL_UTIL_START, COL_UTIL_END, COL_EST_START, COL_EST_END, COL_EVENT, COL_TEXT,
	COL_NOTE, NR_COLUMNS,
};

static const struct tap_column row_columns[NR_COLUMNS + 1] = {
	[COL_WHAT] = { "what", NULL, TAP_CELL_TEXT },
	[COL_TIME] = { "time_ns", "time", TAP_CELL_AT, .width = 17 },
	[COL_CPU] = { "cpu", "cpu", TAP_CELL_INT, .width = 3 },
	[COL_VISUAL] = { NULL, NULL, TAP_CELL_LABEL },
	[COL_LABEL] = { NULL, "task [tid/tgid]", TAP_CELL_LABEL, .width = 26 },
	[COL_TID] = { "tid", NULL, TAP_CELL_INT },
	[COL_TGID] = { "tgid", NULL, TAP_CELL_INT },
	[COL_COMM] = { "comm", NULL, TAP_CELL_TEXT },
	[COL_THROTTLING] = TAP_PASS_THROTTLING,
	[COL_PRIO] = { "prio", "prio", TAP_CELL_INT, .width = 4, .rank = 7 },
	[COL_WAKING] = { "waking_ns", "waking", TAP_CELL_NS, .width = 9 },
	[COL_PREEMPTED] = { "preempted_ns", "preempted", TAP_CELL_NS, .width = 12, .rank = 2 },
	[COL_SLEEP] = { "sleep_ns", "sleep", TAP_CELL_NS, .width = 9, .rank = 6 },
	[COL_BLOCKED] = { "blocked_ns", "blocked", TAP_CELL_NS, .width = 10, .rank = 4 },
	[COL_STOPPED] = { "stopped_ns", NULL, TAP_CELL_NS },
	[COL_UNKNOWN] = { "unknown_ns", "unknown", TAP_CELL_NS, .width = 10, .rank = 3,
			  .tint = TAP_TINT_YELLOW },
	[COL_MARK] = { NULL, "", TAP_CELL_LABEL, .width = 1, .tint = TAP_TINT_YELLOW },
	[COL_RUN] = { "run_ns", "run", TAP_CELL_NS, .width = 8 },
	[COL_CENSORED] = { "censored", NULL, TAP_CELL_COUNT },
	[COL_STATE] = { "state", "state", TAP_CELL_TEXT, .width = 5, .rank = 1 },
	[COL_WOKEN_BY] = { NULL, "woken by", TAP_CELL_LABEL, .width = 20, .rank = 5 },
	[COL_WOKEN_BY_TID] = { "woken_by_tid", NULL, TAP_CELL_INT },
	[COL_FROM_CPU] = { "from_cpu", "from cpu", TAP_CELL_INT, .width = 8, .rank = 8 },
	[COL_TO_CPU] = { "to_cpu", NULL, TAP_CELL_INT },
	[COL_LOST] = { "lost", NULL, TAP_CELL_COUNT },
	[COL_LOST_NS] = { "lost_within_ns", NULL, TAP_CELL_NS },
	[COL_UTIL_START] = { "util_start", "util", TAP_CELL_INT, .width = 4, .rank = 9 },
	[COL_UTIL_END] = { "util_end", "at end", TAP_CELL_INT, .width = 6, .rank = 9 },
	[COL_EST_START] = { "util_est_start", "util_est", TAP_CELL_INT, .width = 8, .rank = 9 },
	[COL_EST_END] = { "util_est_end", "at end", TAP_CELL_INT, .width = 6, .rank = 9 },
	[COL_EVENT] = { "event", NULL, TAP_CELL_TEXT },
	[COL_TEXT] = { "text", NULL, TAP_CELL_TEXT },
	[COL_NOTE] = { NULL, "", TAP_CELL_LABEL },
};

static const struct tap_column task_columns[] = {
	TAP_PASS_WHO_COLUMNS("", "task [tid/tgid]", 24),
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

/* What is kept of one kind of event. */
struct event_kind {
	bool made, is_util, is_shown;
	struct tap_printer *printer; /* of those that are shown */
	struct tap_buf name;	     /* "system:name", as the recording has them */
};

struct view {
	const struct timehist_opts *o;
	struct tap_pass pass;
	struct tap_timehist hist;
	struct tap_slices_sum sum;
	struct tap_report report;
	struct tap_table table;
	struct tap_column columns[NR_COLUMNS + 1];
	bool has_util; /* the recording tells it */
	struct tap_buf visual, visual_title, note, text;
	const struct event_kind *kind; /* of the event that is told; .text is what it says */
	struct event_kind *kinds; /* by tap_who_kind.index */
	unsigned int nr_kinds;
	struct tap_symbols *symbols; /* made with the first printer */
};

static bool has_events(const struct view *v)
{
	return v->o->pass.pick.events.nr;
}

static bool has_notes(const struct view *v)
{
	return v->o->wakeups || v->o->migrations || has_events(v);
}

static bool is_shown(const struct view *v, const struct tap_format *fmt)
{
	return has_events(v) && tap_pick_wants(&v->pass.pick, fmt);
}

static int make_printer(struct view *v, struct event_kind *k, const struct tap_format *fmt)
{
	const struct tap_reader_info *info = tap_reader_info(v->pass.in.reader);

	tap_buf_puts(&k->name, fmt->system);
	tap_buf_char(&k->name, ':');
	tap_buf_puts(&k->name, fmt->name);
	if (!v->symbols && tap_symbols_new(info->printk, info->kallsyms, &v->symbols))
		return -ENOMEM;
	if (tap_printer_new(fmt, &k->printer, NULL))
		return -ENOMEM;
	tap_printer_set_symbols(k->printer, v->symbols);
	return k->name.err;
}

static int make_kind(struct view *v, struct event_kind *k, const struct tap_format *fmt)
{
	k->made = true;
	k->is_util = v->has_util && tap_timehist_wants(fmt);
	k->is_shown = is_shown(v, fmt);
	return k->is_shown ? make_printer(v, k, fmt) : 0;
}

/* Return: 0 or -ENOMEM. */
static int get_kind(struct view *v, const struct tap_format *fmt, const struct event_kind **out)
{
	const struct tap_who_kind *kind = tap_who_kind(&v->pass.in.who, fmt);

	if (!kind)
		return -ENOMEM;
	if (kind->index >= v->nr_kinds) {
		unsigned int nr = kind->index * 2 + 8;
		struct event_kind *kinds = reallocarray(v->kinds, nr, sizeof(*kinds));

		if (!kinds)
			return -ENOMEM;
		memset(kinds + v->nr_kinds, 0, (nr - v->nr_kinds) * sizeof(*kinds));
		v->kinds = kinds;
		v->nr_kinds = nr;
	}
	*out = &v->kinds[kind->index];
	return (*out)->made ? 0 : make_kind(v, &v->kinds[kind->index], fmt);
}

static void release_kinds(struct view *v)
{
	for (unsigned int i = 0; i < v->nr_kinds; i++) {
		tap_printer_free(v->kinds[i].printer);
		tap_buf_release(&v->kinds[i].name);
	}
	free(v->kinds);
	tap_symbols_free(v->symbols);
}

static void cell_puts(struct tap_table *t, const char *s)
{
	tap_table_text(t, s, strlen(s));
}

static void cell_label(struct view *v, struct tap_table *t, const struct tap_task *task)
{
	uint32_t len;
	const char *label = tap_pass_label(&v->pass, task, &len);

	tap_table_text(t, label, len);
}

/* As tap_task.waker_tid: -1 is not known, 0 an idle CPU. */
static void cell_tid(struct view *v, int tid)
{
	const struct tap_task *task = tap_timeline_task(v->pass.timeline, tid);

	if (task)
		cell_label(v, &v->table, task);
	else if (!tid)
		cell_puts(&v->table, "<idle>");
	else
		tap_table_none(&v->table);
}

static void cell_int(struct tap_table *t, int n)
{
	if (n < 0)
		tap_table_none(t);
	else
		tap_table_s64(t, n);
}

static void cell_ns(struct tap_table *t, uint64_t ns, bool known)
{
	if (known)
		tap_table_u64(t, ns);
	else
		tap_table_none(t);
}

/* JSON and CSV: who it is, in three cells. */
static void cells_who(struct view *v, struct tap_table *t, const struct tap_task *task)
{
	if (!task) {
		for (int i = 0; i < 3; i++)
			tap_table_none(t);
		return;
	}
	tap_table_s64(t, task->tid);
	cell_int(t, tap_pass_tgid(&v->pass, task));
	tap_table_text(t, task->comm, strnlen(task->comm, TAP_TASK_COMM));
}

/* Who emitted an event, but neither sleeps nor wakes in the recording: its lists may have a name. */
static const struct tap_who_task *listed(struct view *v, const struct tap_row *row)
{
	bool is_listed = row->what == TAP_ROW_EVENT && !row->task && row->tid >= 0;

	return is_listed ? tap_who_task(&v->pass.in.who, row->tid) : NULL;
}

static void cells_listed(struct tap_table *t, const struct tap_who_task *task)
{
	tap_table_s64(t, task->tid);
	cell_int(t, task->tgid);
	if (task->comm_len)
		tap_table_text(t, task->comm, task->comm_len);
	else
		tap_table_none(t);
}

/* As tap_pass_label() has it. */
static void cell_listed(struct view *v, const struct tap_who_task *task)
{
	tap_buf_clear(&v->note);
	if (task->comm_len)
		tap_text_escape(&v->note, task->comm, task->comm_len);
	else
		tap_buf_puts(&v->note, "<...>");
	if (task->tid)
		tap_buf_printf(&v->note, " [%d", task->tid);
	if (task->tgid >= 0 && task->tgid != task->tid)
		tap_buf_printf(&v->note, "/%d", task->tgid);
	if (task->tid)
		tap_buf_puts(&v->note, task->own ? "]*" : "]");
	tap_table_text(&v->table, v->note.data, v->note.len);
}

static int tid_on_cpu(const struct view *v, int cpu)
{
	unsigned int nr;
	const struct tap_cpu *cpus = tap_timeline_cpus(v->pass.timeline, &nr);

	if (cpu < 0 || cpu >= (int)nr || !cpus[cpu].known)
		return -1;
	return cpus[cpu].task ? cpus[cpu].task->tid : 0;
}

/* "lost 120 events, 0.100 ms": how many, and within what time. */
static void cell_lost(struct view *v, const struct tap_row *row)
{
	tap_buf_clear(&v->note);
	if (row->lost_cnt)
		tap_buf_printf(&v->note, "lost %ju events", (uintmax_t)row->lost_cnt);
	else
		tap_buf_puts(&v->note, "lost some events");
	tap_buf_printf(&v->note, ", %.3f ms", (double)(row->to_ns - row->from_ns) / 1e6);
	tap_table_tint(&v->table, TAP_TINT_RED);
	tap_table_text(&v->table, v->note.data, v->note.len);
}

/* Who caused a wakeup. The timeline names tasks only: an interrupt wakes from an idle CPU. */
static int waker_of(const struct view *v, const struct tap_row *row)
{
	bool is_idle = row->what == TAP_ROW_WAKEUP && row->waker_tid < 0 &&
		       !tid_on_cpu(v, row->cpu);

	return is_idle ? 0 : row->waker_tid;
}

static void cell_emitter(struct view *v, const struct tap_row *row)
{
	const struct tap_who_task *t = listed(v, row);

	if (row->task)
		cell_label(v, &v->table, row->task);
	else if (t)
		cell_listed(v, t);
	else
		tap_table_none(&v->table);
}

/* Text: of a wakeup who caused it, of a migration who ran where it was seen; as perf has it. */
static void cell_about(struct view *v, const struct tap_row *row)
{
	switch (row->what) {
	case TAP_ROW_SLICE:
		cell_label(v, &v->table, row->task);
		break;
	case TAP_ROW_UNKNOWN:
		tap_table_tint(&v->table, TAP_TINT_YELLOW);
		cell_puts(&v->table, "unknown");
		break;
	case TAP_ROW_LOST:
		cell_lost(v, row);
		break;
	case TAP_ROW_WAKEUP:
		cell_tid(v, waker_of(v, row));
		break;
	case TAP_ROW_MIGRATION:
		cell_tid(v, tid_on_cpu(v, row->cpu));
		break;
	case TAP_ROW_EVENT:
		cell_emitter(v, row);
		break;
	}
}

static void cell_visual(struct view *v, const struct tap_row *row)
{
	static const char marks[] = {
		[TAP_ROW_SLICE] = 's', [TAP_ROW_UNKNOWN] = '?', [TAP_ROW_LOST] = '!',
		[TAP_ROW_WAKEUP] = 'w', [TAP_ROW_MIGRATION] = 'm', [TAP_ROW_EVENT] = 'e',
	};
	bool fits = row->cpu >= 0 && (size_t)row->cpu < v->visual.len;

	if (fits)
		v->visual.data[row->cpu] = marks[row->what];
	tap_table_text(&v->table, v->visual.data, v->visual.len);
	if (fits)
		v->visual.data[row->cpu] = ' ';
}

static void cells_times(struct view *v, const struct tap_row *row)
{
	static const enum tap_state kinds[] = { TAP_WAKING, TAP_PREEMPTED, TAP_SLEEPING,
						TAP_BLOCKED, TAP_STOPPED };
	bool is_slice = row->what == TAP_ROW_SLICE;
	bool is_unknown = row->what == TAP_ROW_UNKNOWN;
	uint64_t ns = row->to_ns - row->from_ns, unknown_ns;
	struct tap_table *t = &v->table;

	for (unsigned int i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		cell_ns(t, row->wait_ns[kinds[i]],
			is_slice && (row->waits_known || row->wait_ns[kinds[i]]));
	unknown_ns = is_unknown ? ns : row->wait_ns[TAP_UNKNOWN];
	cell_ns(t, unknown_ns, unknown_ns || (is_slice && row->waits_known));
	cell_puts(t, is_slice && !row->whole ? ">" : "");
	cell_ns(t, ns, is_slice);
	cell_ns(t, !row->whole, is_slice);
}

static void cells_util(struct view *v, const struct tap_row *row)
{
	cell_int(&v->table, row->start_util.util);
	cell_int(&v->table, row->end_util.util);
	cell_int(&v->table, row->start_util.util_est);
	cell_int(&v->table, row->end_util.util_est);
}

static void note_task(struct view *v, const char *what, const struct tap_task *task)
{
	uint32_t len;
	const char *label = tap_pass_label(&v->pass, task, &len);

	tap_buf_puts(&v->note, what);
	tap_buf_add(&v->note, label, len);
}

static void cell_note(struct view *v, const struct tap_row *row)
{
	tap_buf_clear(&v->note);
	if (row->what == TAP_ROW_WAKEUP) {
		note_task(v, "awakened: ", row->task);
	} else if (row->what == TAP_ROW_MIGRATION) {
		note_task(v, "migrated: ", row->task);
		tap_buf_printf(&v->note, " cpu %d => %d", row->from_cpu, row->to_cpu);
	} else if (row->what == TAP_ROW_EVENT) {
		tap_text_escape(&v->note, v->kind->name.data, v->kind->name.len);
		tap_buf_puts(&v->note, ": ");
		tap_text_escape(&v->note, v->text.data, v->text.len);
	}
	tap_table_text(&v->table, v->note.data, v->note.len);
}

/* JSON and CSV: which event, and what it says. */
static void cells_event(struct view *v, const struct tap_row *row)
{
	if (row->what != TAP_ROW_EVENT) {
		tap_table_none(&v->table);
		tap_table_none(&v->table);
		return;
	}
	tap_table_text(&v->table, v->kind->name.data, v->kind->name.len);
	tap_table_text(&v->table, v->text.data, v->text.len);
}

static void print_row(struct view *v, const struct tap_row *row)
{
	const struct tap_who_task *who = listed(v, row);
	static const char *const what[] = {
		[TAP_ROW_SLICE] = "slice", [TAP_ROW_UNKNOWN] = "unknown", [TAP_ROW_LOST] = "lost",
		[TAP_ROW_WAKEUP] = "wakeup", [TAP_ROW_MIGRATION] = "migration",
		[TAP_ROW_EVENT] = "event",
	};
	bool is_slice = row->what == TAP_ROW_SLICE;
	struct tap_table *t = &v->table;

	cell_puts(t, what[row->what]);
	tap_table_u64(t, row->from_ns);
	cell_int(t, row->cpu);
	if (v->o->cpu_visual)
		cell_visual(v, row);
	cell_about(v, row);
	if (!tap_table_skip(t, COL_THROTTLING - COL_TID + 1)) {
		if (who)
			cells_listed(t, who);
		else
			cells_who(v, t, row->task);
		tap_pass_put_throttling(&v->pass, t, row->task);
	}
	if (is_slice)
		tap_table_s64(t, row->task->prio);
	else
		tap_table_none(t);
	cells_times(v, row);
	if (is_slice && *row->end)
		cell_puts(t, row->end);
	else
		tap_table_none(t);
	cell_tid(v, is_slice ? row->waker_tid : -1);
	cell_int(t, waker_of(v, row));
	cell_int(t, row->from_cpu);
	cell_int(t, row->to_cpu);
	cell_ns(t, row->lost_cnt, row->lost_cnt);
	cell_ns(t, row->to_ns - row->from_ns, row->what == TAP_ROW_LOST);
	if (v->has_util)
		cells_util(v, row);
	if (has_events(v))
		cells_event(v, row);
	if (has_notes(v))
		cell_note(v, row);
	tap_table_row(t);
}

/* -p -t -c -g. Of a wakeup and a migration the task that it is about counts, as for slices. */
static bool task_is_wanted(struct view *v, const struct tap_row *row)
{
	if (row->task || v->pass.all_tasks || row->what != TAP_ROW_EVENT)
		return !row->task || tap_pass_task(&v->pass, row->task);
	return tap_pick_task(&v->pass.pick, &v->pass.in.who, row->tid, 0, NULL, 0, 0) > 0;
}

static bool row_is_wanted(struct view *v, const struct tap_row *row)
{
	return (row->cpu < 0 || tap_pass_cpu(&v->pass, row->cpu)) && task_is_wanted(v, row);
}

static int on_row(void *ctx, const struct tap_row *row)
{
	struct view *v = ctx;
	int ret = 0;

	if (!row_is_wanted(v, row))
		return 0;
	v->pass.matched |= row->task || row->what == TAP_ROW_EVENT;
	if (v->o->summary || v->o->with_summary)
		ret = tap_slices_add(&v->sum, row, v->pass.start_ns);
	if (!v->o->summary)
		print_row(v, row);
	return ret ? ret : v->report.err;
}

/* "012..": under it a mark stands where the row's CPU is. */
static int make_visual(struct view *v)
{
	unsigned int nr = tap_reader_info(v->pass.in.reader)->nr_cpus;

	for (unsigned int cpu = 0; cpu < nr; cpu++) {
		tap_buf_char(&v->visual_title, "0123456789abcdef"[cpu % 16]);
		tap_buf_char(&v->visual, ' ');
	}
	tap_buf_str(&v->visual_title);
	return v->visual_title.err ? v->visual_title.err : v->visual.err;
}

static bool records_util(const struct tap_survey *s)
{
	for (unsigned int i = 0; i < s->nr_kinds; i++)
		if (s->kinds[i].count && tap_timehist_wants(s->kinds[i].fmt))
			return true;
	return false;
}

/* The columns that this recording and these options have. */
static void make_columns(struct view *v)
{
	struct tap_column *to = v->columns;

	for (unsigned int i = 0; i < NR_COLUMNS; i++) {
		if ((i == COL_VISUAL && !v->o->cpu_visual) || (i == COL_NOTE && !has_notes(v)) ||
		    (i >= COL_UTIL_START && i <= COL_EST_END && !v->has_util) ||
		    ((i == COL_EVENT || i == COL_TEXT) && !has_events(v)))
			continue;
		*to = row_columns[i];
		if (i == COL_VISUAL) {
			to->title = v->visual_title.data;
			to->width = (unsigned int)v->visual_title.len;
			to->rank = to->width > FEW_CPUS ? 10 : 0;
		}
		to++;
	}
}

static void print_tasks(struct view *v)
{
	struct tap_table t;

	tap_table_begin(&t, &v->report, task_columns, "tasks");
	for (const struct tap_slices *s = v->sum.tasks; s < v->sum.tasks + v->sum.nr; s++) {
		tap_pass_who(&v->pass, &t, s->task);
		tap_table_u64(&t, s->run_ns);
		tap_table_u64(&t, s->slices);
		tap_table_u64(&t, s->censored);
		cell_ns(&t, s->min_ns, s->slices);
		cell_ns(&t, s->slices ? s->sum_ns / s->slices : 0, s->slices);
		cell_ns(&t, s->max_ns, s->slices);
		tap_table_u64(&t, s->task->migrations);
		tap_table_row(&t);
	}
	tap_table_end(&t);
}

static void print_totals(struct view *v, unsigned int nr_cpus, uint64_t switches)
{
	uint64_t window_ns = v->pass.end_ns - v->pass.start_ns, run_ns = 0;
	struct tap_report *r = &v->report;

	for (unsigned int i = 0; i < v->sum.nr; i++)
		run_ns += v->sum.tasks[i].run_ns;
	tap_report_object(r, "totals");
	tap_report_u64(r, "tasks", v->sum.nr);
	tap_report_u64(r, "switches", switches);
	tap_report_u64(r, "run_ns", run_ns);
	tap_report_u64(r, "window_ns", window_ns);
	tap_report_u64(r, "cpus", nr_cpus);
	tap_report_object_end(r);
	if (r->style == TAP_STYLE_TEXT)
		tap_buf_printf(&r->buf,
			       "\n%u tasks, %ju switches, run %.3f ms of %.3f ms x %u CPUs\n",
			       v->sum.nr, (uintmax_t)switches, (double)run_ns / 1e6,
			       (double)window_ns / 1e6, nr_cpus);
}

static void print_cpus(struct view *v)
{
	double window_ns = (double)(v->pass.end_ns - v->pass.start_ns);
	unsigned int nr, shown = 0;
	const struct tap_cpu *cpus = tap_timeline_cpus(v->pass.timeline, &nr);
	uint64_t switches = 0;
	struct tap_table t;

	tap_table_begin(&t, &v->report, cpu_columns, "cpus");
	for (unsigned int i = 0; i < nr; i++) {
		if (!tap_pass_cpu(&v->pass, (int)i))
			continue;
		tap_table_s64(&t, i);
		tap_table_u64(&t, cpus[i].idle_ns);
		tap_table_real(&t, 100.0 * (double)cpus[i].idle_ns / window_ns);
		tap_table_u64(&t, cpus[i].run_ns);
		tap_table_u64(&t, cpus[i].unknown_ns);
		tap_table_u64(&t, cpus[i].switches);
		tap_table_row(&t);
		switches += cpus[i].switches;
		shown++;
	}
	tap_table_end(&t);
	print_totals(v, shown, switches);
}

/* In JSON an object of its own, behind the lines of the rows. */
static int print_summary(struct view *v)
{
	struct tap_report *r = &v->report;

	if (v->o->with_summary) /* the rows have begun with what stands at the beginning */
		tap_screen_report(r, tap_pass_style(&v->pass), v->o->pass.wide);
	else
		tap_pass_begin(&v->pass, r, tap_pass_style(&v->pass));
	tap_slices_sort(&v->sum);
	if (r->style == TAP_STYLE_TEXT && v->o->with_summary)
		tap_buf_char(&r->buf, '\n');
	print_tasks(v);
	if (r->style == TAP_STYLE_TEXT)
		tap_buf_char(&r->buf, '\n');
	if (r->style != TAP_STYLE_CSV)
		print_cpus(v);
	return tap_report_close(r);
}

static bool wants_event(void *ctx, const struct tap_format *fmt)
{
	const struct view *v = ((struct tap_timehist *)ctx)->ctx;

	return (v->has_util && tap_timehist_wants(fmt)) || is_shown(v, fmt);
}

static int on_event(void *ctx, const struct tap_event *ev)
{
	struct tap_timehist *h = ctx;
	struct view *v = h->ctx;
	int ret = get_kind(v, ev->fmt, &v->kind);

	if (!ret && v->kind->is_util)
		ret = tap_timehist_event(h, v->pass.timeline, ev);
	if (ret || !v->kind->is_shown)
		return ret;
	tap_buf_clear(&v->text);
	tap_printer_run(v->kind->printer, ev->data, ev->size, &v->text);
	return v->text.err ? v->text.err : tap_timehist_show(h, v->pass.timeline, ev);
}

static const struct tap_pass_events events = { wants_event, on_event };

static enum tap_style row_style(const struct view *v)
{
	enum tap_style style = tap_pass_style(&v->pass);

	return style == TAP_STYLE_JSON ? TAP_STYLE_JSONL : style;
}

static int run_pass(struct view *v, struct tap_err *err)
{
	struct tap_observer rows = tap_timehist_observer;
	int ret;

	if (!v->o->wakeups)
		rows.wakeup = NULL;
	if (!v->o->migrations)
		rows.migration = NULL;
	ret = tap_pass_run(&v->pass, v->o->summary ? &tap_timehist_slices : &rows,
			   v->o->summary ? NULL : &events, &v->hist, err);

	if (!ret && tap_timehist_end(&v->hist) == -ENOMEM)
		ret = tap_err_set(err, -ENOMEM, "out of memory");
	return ret;
}

static int show(struct view *v, struct tap_err *err)
{
	int ret = tap_pass_check(&v->pass, err), written;

	if (ret)
		return ret;
	v->has_util = !v->o->summary && records_util(&v->pass.survey);
	v->hist = (struct tap_timehist){
		.start_ns = v->pass.start_ns, .end_ns = v->pass.end_ns,
		.survey = &v->pass.survey, .row = on_row, .ctx = v,
	};
	if (make_visual(v))
		return tap_err_set(err, -ENOMEM, "out of memory");
	make_columns(v);
	if (!v->o->summary) {
		tap_pass_begin(&v->pass, &v->report, row_style(v));
		tap_table_stream(&v->table, &v->report, v->columns, NULL);
	}
	ret = run_pass(v, err);
	tap_pass_note_throttling(&v->pass, &v->report);
	if (!v->o->summary) {
		tap_pass_note_sleep(&v->pass, &v->report);
		tap_table_end(&v->table);
	}
	written = v->o->summary ? 0 : tap_report_close(&v->report);
	if (!ret && !written && (v->o->summary || v->o->with_summary))
		written = print_summary(v);
	if (!written)
		return ret;
	errno = -written;
	return tap_err_set(err, written, "cannot write the slices: %m");
}

static int run_timehist(void *opts, const struct tap_strings *operands, char **rest)
{
	struct view v = { .o = opts };
	struct tap_err err = { 0 };
	bool usage = false;
	int ret;

	(void)operands;
	(void)rest;
	if (v.o->pass.csv && v.o->with_summary) {
		tap_err_set(&err, -EINVAL, "--csv and -S exclude each other: CSV is one table");
		return tap_cmd_fail(&err, true);
	}
	ret = tap_pass_open(&v.pass, &v.o->pass, &usage, &err);
	v.pass.mark_throttling = !v.o->summary;
	if (!ret)
		ret = show(&v, &err);
	ret = tap_pass_finish(&v.pass, ret, &err, usage);
	tap_timehist_release(&v.hist);
	tap_slices_release(&v.sum);
	tap_buf_release(&v.visual);
	tap_buf_release(&v.visual_title);
	tap_buf_release(&v.note);
	tap_buf_release(&v.text);
	release_kinds(&v);
	return ret;
}

const struct tap_cmd tap_cmd_timehist = {
	.name = "timehist",
	.help = "every slice, with its waits",
	.operands = TAP_CMD_FILE,
	.example = "schedtap timehist -i demo/trace.dat -C 0 -s",
	.opts = timehist_opts,
	.opts_size = sizeof(struct timehist_opts),
	.run = run_timehist,
};
