// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* schedtap latency: how long tasks waited for a CPU. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/latency.h"
#include "show/out/bars.h"
#include "show/report/report.h"

struct latency_opts {
	struct tap_report_opts common;
	int64_t worst;
	bool preempted, throttled, hist, over_time;
};

static const struct tap_opt options[] = {
	TAP_REPORT_OPTIONS,
	{ "preempted", 0, NULL, "show waits after a preemption instead of waits after a wakeup",
	  TAP_OPT_FLAG, offsetof(struct latency_opts, preempted) },
	{ "throttled", 0, NULL,
	  "show throttled time (a quota or budget was used up) instead of waits", TAP_OPT_FLAG,
	  offsetof(struct latency_opts, throttled) },
	TAP_REPORT_TOP("the N tasks with the longest waits [20"),
	{ "worst", 0, "N", "show the N longest waits, and the tasks that ran meanwhile",
	  TAP_OPT_INT, offsetof(struct latency_opts, worst), .min = 1, .max = 10000 },
	{ "hist", 0, NULL, "show the distribution of waits", TAP_OPT_FLAG,
	  offsetof(struct latency_opts, hist) },
	{ "over-time", 0, NULL, "show how the distribution changed over time", TAP_OPT_FLAG,
	  offsetof(struct latency_opts, over_time) },
	{ 0 }
};

#define COLUMNS 100u /* columns of --over-time for programs, independent of the screen */

struct latency {
	struct tap_report report;
	struct tap_latency latency;
	struct tap_plot plot;
};

static const struct latency_opts *opts_of(const struct tap_report *r)
{
	return (const struct latency_opts *)r->opts;
}

static struct tap_latency *latency_of(const struct tap_report *r)
{
	return &((struct latency *)r)->latency;
}

/* ---- tasks ---- */

/* clang-format off */
#define STAT_COLUMNS \
	TAP_TASK_COLUMNS("", "task", 26), \
	TAP_THROTTLING_COLUMN, \
	{ "count", "waits", TAP_CELL_COUNT, .width = 8 }, \
	{ "censored", "censored", TAP_CELL_COUNT, .width = 8, .rank = 4, \
	  .tint = TAP_TINT_YELLOW }, \
	{ "min_ns", NULL, TAP_CELL_NS }, \
	{ "avg_ns", "avg", TAP_CELL_NS, .width = 9, .rank = 2 }, \
	{ "p50_ns", "p50", TAP_CELL_NS, .width = 9, .rank = 3, .same_unit = true }, \
	{ "p90_ns", "p90", TAP_CELL_NS, .width = 9, .rank = 6, .same_unit = true }, \
	{ "p99_ns", "p99", TAP_CELL_NS, .width = 9, .rank = 1, .same_unit = true }, \
	{ "p999_ns", "p99.9", TAP_CELL_NS, .width = 9, .rank = 7, .same_unit = true }, \
	{ "max_ns", "max", TAP_CELL_NS, .width = 10, .same_unit = true }, \
	{ "max_at_ns", "max at", TAP_CELL_AT, .width = 16, .rank = 5 }, \
	{ "max_cpu", "cpu", TAP_CELL_INT, .width = 3, .rank = 8 }
/* clang-format on */

static const struct tap_column stat_columns[] = { STAT_COLUMNS,
						  { "same_cpu_count", NULL, TAP_CELL_COUNT },
						  { "same_cpu_avg_ns", NULL, TAP_CELL_NS },
						  { "same_cpu_max_ns", NULL, TAP_CELL_NS },
						  { "migrated_count", NULL, TAP_CELL_COUNT },
						  { "migrated_avg_ns", NULL, TAP_CELL_NS },
						  { "migrated_max_ns", NULL, TAP_CELL_NS },
						  { "wakeup_path_count", NULL, TAP_CELL_COUNT },
						  { "wakeup_path_avg_ns", NULL, TAP_CELL_NS },
						  { "wakeup_path_max_ns", NULL, TAP_CELL_NS },
						  { "queued_count", NULL, TAP_CELL_COUNT },
						  { "queued_avg_ns", NULL, TAP_CELL_NS },
						  { "queued_max_ns", NULL, TAP_CELL_NS },
						  { 0 } };

/* JSON has same_cpu, migrated, wakeup_path and queued as objects in the row, not as columns. */
static const struct tap_column json_columns[] = { STAT_COLUMNS, { 0 } };

static uint64_t avg_ns(const struct tap_latency_part *part)
{
	return part->count ? part->sum_ns / part->count : 0;
}

static void put_part(struct tap_table *t, const struct tap_latency_part *part)
{
	tap_table_u64(t, part->count);
	tap_table_u64_if(t, part->count, avg_ns(part));
	tap_table_u64_if(t, part->count, part->max_ns);
}

static void put_part_members(struct tap_page *p, const char *key,
			     const struct tap_latency_part *part)
{
	tap_page_object(p, key);
	tap_page_u64(p, "count", part->count);
	tap_page_u64_if(p, "avg_ns", part->count, avg_ns(part));
	tap_page_u64_if(p, "max_ns", part->count, part->max_ns);
	tap_page_object_end(p);
}

static void put_waits(struct tap_table *t, const struct tap_latency_stat *s)
{
	static const double parts[] = { 0.5, 0.9, 0.99, 0.999 };

	tap_table_u64(t, s->waits.min);
	tap_table_u64(t, (uint64_t)(tap_hist_mean(&s->waits) + 0.5));
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		tap_table_u64(t, tap_hist_quantile(&s->waits, parts[i]));
	tap_table_u64(t, s->waits.max);
	tap_table_u64(t, s->max_at_ns);
	tap_table_id(t, s->max_cpu);
}

/* Add the cells after the task's. */
static void put_stat(struct tap_table *t, const struct tap_latency_stat *s)
{
	tap_table_u64(t, s->waits.count);
	tap_table_u64(t, s->censored);
	if (s->waits.count)
		put_waits(t, s);
	else
		tap_table_nones(t, 9);
	if (tap_page_is_for(t->page, TAP_FOR_PROGRAMS)) {
		put_part_members(t->page, "same_cpu", &s->same_cpu);
		put_part_members(t->page, "migrated", &s->migrated);
		put_part_members(t->page, "wakeup_path", &s->wakeup_path);
		put_part_members(t->page, "queued", &s->queued);
	} else {
		put_part(t, &s->same_cpu);
		put_part(t, &s->migrated);
		put_part(t, &s->wakeup_path);
		put_part(t, &s->queued);
	}
}

static void put_all(struct tap_report *r, struct tap_table *t)
{
	tap_table_puts(t, "all");
	tap_table_nones(t, 4);
	put_stat(t, &latency_of(r)->all);
	tap_table_row(t);
}

/* For people, the sum of all tasks is the table's first row. */
static void put_all_above(struct tap_report *r, struct tap_table *t)
{
	if (tap_page_is_for(&r->page, TAP_FOR_PEOPLE))
		put_all(r, t);
}

static void put_task(struct tap_report *r, struct tap_table *t, unsigned int i)
{
	const struct tap_task *task = r->tasks[i];

	tap_task_cells(&r->run, t, task);
	tap_throttling_cell(&r->run, t, task);
	put_stat(t, &latency_of(r)->tasks[task->index]);
}

static int by_max(const void *a, const void *b, void *ctx)
{
	const struct tap_task *x = *(struct tap_task *const *)a, *y = *(struct tap_task *const *)b;
	const struct tap_latency_stat *stats = ctx;
	uint64_t x_ns = stats[x->index].waits.max, y_ns = stats[y->index].waits.max;

	if (x_ns != y_ns)
		return x_ns > y_ns ? -1 : 1;
	return x->index < y->index ? -1 : x->index > y->index;
}

/* Set .tasks to the tasks that waited, the one with the longest wait first. */
static int find_tasks(struct tap_report *r, struct tap_err *err)
{
	const struct tap_latency *latency = latency_of(r);
	unsigned int nr;
	struct tap_task *const *tasks = tap_timeline_tasks(r->run.timeline, &nr);

	r->tasks = calloc(latency->nr_tasks + 1, sizeof(struct tap_task *));
	if (!r->tasks)
		return tap_err_nomem(err);
	for (unsigned int i = 0; i < nr && i < latency->nr_tasks; i++)
		if (latency->tasks[i].waits.count || latency->tasks[i].censored)
			r->tasks[r->nr_tasks++] = tasks[i];
	qsort_r(r->tasks, r->nr_tasks, sizeof(struct tap_task *), by_max, latency->tasks);
	return 0;
}

/* Suggest --preempted if there are only such waits: a task that never sleeps is never woken. */
static void note_preempted(struct tap_report *r)
{
	const struct tap_latency *latency = latency_of(r);
	unsigned int nr;
	struct tap_task *const *tasks = tap_timeline_tasks(r->run.timeline, &nr);
	bool any = false;

	/* unknown with -C: total_ns covers all CPUs */
	if (latency->state != TAP_STATE_WAKING || latency->all.waits.count ||
	    r->run.pick.select->by & TAP_SELECT_CPUS)
		return;
	for (unsigned int i = 0; i < nr && !any; i++)
		any = tap_run_has_task(&r->run, tasks[i]) &&
		      tasks[i]->total_ns[TAP_STATE_PREEMPTED];
	if (any)
		tap_recording_note(&r->run.rec, "no wait after a wakeup, but tasks waited after "
						"being preempted: add --preempted");
}

/*
 * Table for people: the waits of all tasks, by whether the task then ran on its previous CPU or on
 * another one. Other styles have this split as columns or members of the table of tasks.
 */
static const struct tap_column part_columns[] = { { NULL, "ran", TAP_CELL_LABEL, .width = 26 },
						  { NULL, "waits", TAP_CELL_COUNT, .width = 8 },
						  { NULL, "avg", TAP_CELL_NS, .width = 9 },
						  { NULL, "max", TAP_CELL_NS, .width = 10,
						    .same_unit = true },
						  { 0 } };

static void put_parts(struct tap_report *r, struct tap_table *t)
{
	tap_table_puts(t, "on the CPU of before");
	put_part(t, &latency_of(r)->all.same_cpu);
	tap_table_row(t);
	tap_table_puts(t, "on another CPU");
	put_part(t, &latency_of(r)->all.migrated);
	tap_table_row(t);
}

/* Table for people: the two parts of the waits of all tasks that can be divided. */
static const struct tap_column queue_columns[] = {
	{ NULL, "part of the wait", TAP_CELL_LABEL, .width = 26 },
	{ NULL, "waits", TAP_CELL_COUNT, .width = 8 },
	{ NULL, "avg", TAP_CELL_NS, .width = 9 },
	{ NULL, "max", TAP_CELL_NS, .width = 10, .same_unit = true },
	{ 0 }
};

static void put_queued(struct tap_report *r, struct tap_table *t)
{
	tap_table_puts(t, "wakeup path");
	put_part(t, &latency_of(r)->all.wakeup_path);
	tap_table_row(t);
	tap_table_puts(t, "in the run queue");
	put_part(t, &latency_of(r)->all.queued);
	tap_table_row(t);
}

static bool with_queued(const struct tap_report *r)
{
	return latency_of(r)->all.queued.count;
}

/* ---- over time ---- */

static const struct tap_column time_columns[] = { { "from_ns", NULL, TAP_CELL_AT },
						  { "to_ns", NULL, TAP_CELL_AT },
						  { "count", NULL, TAP_CELL_COUNT },
						  { "censored", NULL, TAP_CELL_COUNT },
						  { "unknown_ns", NULL, TAP_CELL_NS },
						  { "p50_ns", NULL, TAP_CELL_NS },
						  { "p99_ns", NULL, TAP_CELL_NS },
						  { "max_ns", NULL, TAP_CELL_NS },
						  { 0 } };

static void put_column(struct tap_report *r, struct tap_table *t, unsigned int i)
{
	const struct tap_latency_column *c = &latency_of(r)->columns[i];

	tap_table_u64(t, c->from_ns);
	tap_table_u64(t, c->to_ns);
	tap_table_u64(t, c->waits.count);
	tap_table_u64(t, c->censored);
	tap_table_u64(t, c->unknown_ns);
	tap_table_u64_if(t, c->waits.count, tap_hist_quantile(&c->waits, 0.5));
	tap_table_u64_if(t, c->waits.count, tap_hist_quantile(&c->waits, 0.99));
	tap_table_u64_if(t, c->waits.count, c->waits.max);
}

static unsigned int nr_columns(const struct tap_report *r)
{
	return latency_of(r)->nr_columns;
}

static void put_over_time(struct tap_report *r, struct tap_table *t)
{
	tap_out_bars_over_time(&t->page->buf, &((struct latency *)r)->plot, latency_of(r)->columns);
}

/* ---- the longest waits ---- */

static const struct tap_column worst_columns[] = {
	TAP_TASK_COLUMNS("", "worst waits of", 26),
	TAP_THROTTLING_COLUMN,
	{ "wait_ns", "wait", TAP_CELL_NS, .width = 10 },
	{ "queued_ns", "queued", TAP_CELL_NS, .width = 10, .rank = 5 },
	{ "from_ns", "from", TAP_CELL_AT, .width = 16, .rank = 2 },
	{ "to_ns", "to", TAP_CELL_AT, .width = 16, .rank = 7 },
	{ NULL, "time of day", TAP_CELL_LABEL, .width = 18, .rank = 3 },
	{ "cpu", "cpu", TAP_CELL_INT, .width = 3, .rank = 1 },
	{ "prev_cpu", "before", TAP_CELL_INT, .width = 6, .rank = 6 },
	{ NULL, "woken by", TAP_CELL_LABEL, .width = 26, .rank = 4 },
	{ "waker_tid", NULL, TAP_CELL_INT },
	{ "waker_tgid", NULL, TAP_CELL_INT },
	{ "waker_comm", NULL, TAP_CELL_TEXT },
	{ "waker_cpu", NULL, TAP_CELL_INT },
	{ NULL, "idle CPUs", TAP_CELL_LABEL, .width = 9, .rank = 3 },
	{ NULL, "on that CPU meanwhile, us", TAP_CELL_LABEL },
	{ 0 }
};

static void put_waker(struct tap_report *r, struct tap_table *t, const struct tap_latency_worst *w)
{
	/* after a preemption, the last wakeup has nothing to do with this wait */
	int tid = latency_of(r)->state == TAP_STATE_WAKING ? w->waker_tid : -1;

	tap_waker_cells(&r->run, t, tap_timeline_task(r->run.timeline, tid), tid);
	tap_table_id(t, tid >= 0 ? w->waker_cpu : -1);
}

static void put_named_us(struct tap_buf *b, const char *name, size_t len, uint64_t ns)
{
	if (!ns)
		return;
	if (b->len)
		tap_buf_puts(b, ", ");
	tap_buf_add(b, name, len);
	tap_buf_printf(b, " %ju.%03u", (uintmax_t)(ns / 1000), (unsigned int)(ns % 1000));
}

static void put_meanwhile(struct tap_run *run, struct tap_buf *b, const struct tap_latency_worst *w)
{
	char others[32];

	for (unsigned int i = 0; i < w->nr_ran; i++) {
		uint32_t len;
		const char *label = tap_run_label(run, w->ran[i].task, &len);

		put_named_us(b, label, len, w->ran[i].ns);
	}
	snprintf(others, sizeof(others), "%u others", w->nr_others);
	put_named_us(b, others, strlen(others), w->others_ns);
	put_named_us(b, "<idle>", 6, w->idle_ns);
	put_named_us(b, "<offline>", 9, w->offline_ns);
	put_named_us(b, "<unknown>", 9, w->unknown_ns);
	if (w->is_part)
		tap_buf_puts(b, b->len ? ", ..." : "...");
}

static void put_meanwhile_text(struct tap_run *run, struct tap_table *t,
			       const struct tap_latency_worst *w)
{
	struct tap_buf b = { 0 };

	tap_cpus_text(&w->idle, &b);
	tap_table_puts(t, b.len ? tap_buf_str(&b) : "none");
	tap_buf_clear(&b);
	put_meanwhile(run, &b, w);
	tap_table_text(t, b.data, b.len);
	tap_buf_release(&b);
}

static void put_meanwhile_members(struct tap_report *r, const struct tap_latency_worst *w)
{
	struct tap_page *p = &r->page;

	tap_page_cpus(p, "idle_cpus", &w->idle);
	tap_page_array(p, "ran");
	for (unsigned int i = 0; i < w->nr_ran; i++) {
		tap_page_object(p, NULL);
		tap_task_members(p, w->ran[i].task);
		tap_page_u64(p, "run_ns", w->ran[i].ns);
		tap_page_object_end(p);
	}
	tap_page_array_end(p);
	tap_page_u64(p, "others_run_ns", w->others_ns);
	tap_page_u64(p, "idle_ns", w->idle_ns);
	tap_page_u64(p, "offline_ns", w->offline_ns);
	tap_page_u64(p, "unknown_ns", w->unknown_ns);
	tap_page_bool(p, "ran_is_part", w->is_part);
}

/* Add the time of day, to find the wait in the logs of other programs. */
static void put_tod(const struct tap_run *run, struct tap_table *t, uint64_t ts_ns)
{
	struct tap_wall wall = run->rec.wall;
	char text[TAP_WALL_TEXT];

	wall.shown = TAP_SHOW_TOD;
	if (wall.is_known)
		tap_table_text(t, text, tap_wall_text(&wall, ts_ns, text));
	else
		tap_table_none(t);
}

static void put_worst(struct tap_report *r, struct tap_table *t, unsigned int i)
{
	const struct tap_latency_worst *w = &latency_of(r)->worst[i];

	tap_task_cells(&r->run, t, w->task);
	tap_throttling_cell(&r->run, t, w->task);
	tap_table_u64(t, w->to_ns - w->from_ns);
	tap_table_u64_if(t, w->queued_ns >= 0, (uint64_t)w->queued_ns);
	tap_table_u64(t, w->from_ns);
	tap_table_u64(t, w->to_ns);
	put_tod(&r->run, t, w->from_ns);
	tap_table_id(t, w->cpu);
	tap_table_id(t, w->run_cpu);
	put_waker(r, t, w);
	put_meanwhile_text(&r->run, t, w);
	if (tap_page_is_for(&r->page, TAP_FOR_PROGRAMS))
		put_meanwhile_members(r, w);
}

static unsigned int nr_worst(const struct tap_report *r)
{
	return latency_of(r)->nr_worst;
}

/* ---- the report ---- */

static bool with_hist(const struct tap_report *r)
{
	return opts_of(r)->hist;
}

static bool with_over_time(const struct tap_report *r)
{
	return opts_of(r)->over_time;
}

static bool with_worst(const struct tap_report *r)
{
	return opts_of(r)->worst;
}

static void put_which(struct tap_report *r, struct tap_table *t)
{
	tap_page_puts(t->page, "wait", tap_state_name(latency_of(r)->state));
}

static void put_hist(struct tap_report *r, struct tap_table *t)
{
	tap_out_bars(t->page, "hist", &latency_of(r)->all.waits);
}

static int check_options(const void *opts, struct tap_err *err)
{
	const struct latency_opts *o = opts;

	if (tap_input_style(&o->common.input)->audience == TAP_FOR_SHEETS &&
	    (o->hist || o->over_time || o->worst))
		return tap_err_set(
			err, -EINVAL,
			"--csv prints only one table: leave out --hist, --over-time and --worst");
	if (o->preempted && o->throttled)
		return tap_err_set(
			err, -EINVAL,
			"--preempted and --throttled cannot be combined: use one at a time");
	return 0;
}

static int begin_latency(struct tap_report *r, struct tap_err *err)
{
	const struct latency_opts *o = opts_of(r);
	enum tap_state state = o->throttled   ? TAP_STATE_THROTTLED
			       : o->preempted ? TAP_STATE_PREEMPTED
					      : TAP_STATE_WAKING;
	struct latency *l = (struct latency *)r;

	if (state == TAP_STATE_WAKING && !tap_survey_has_queueings(&r->run.survey) &&
	    tap_run_check_needs(&r->run, TAP_NEEDS_WAKEUPS, err))
		return -ENODATA;
	if (state == TAP_STATE_THROTTLED && tap_run_check_needs(&r->run, TAP_NEEDS_THROTTLING, err))
		return -ENODATA;
	r->run.mark_throttling = true;
	if (o->worst)
		tap_report_watch(r, &tap_latency_past_ops, &l->latency, 0);
	tap_report_watch(r, &tap_latency_ops, &l->latency, TAP_PICK_TASKS | TAP_PICK_CPUS)->states =
		TAP_LATENCY_STATES(state);
	l->plot = tap_report_plot(r);
	if (tap_report_audience(r) != TAP_FOR_PEOPLE)
		l->plot.columns = COLUMNS;
	if (tap_latency_init(&l->latency, state, (unsigned int)o->worst) ||
	    (o->over_time &&
	     tap_latency_split(&l->latency, &r->run.window, &r->run.survey, l->plot.columns)))
		return tap_err_nomem(err);
	return 0;
}

static int end_latency(struct tap_report *r, struct tap_err *err)
{
	note_preempted(r);
	return find_tasks(r, err);
}

static void release_latency(struct tap_report *r)
{
	tap_latency_release(latency_of(r));
}

#define TASKS                                                                                      \
	.key = "tasks", .put = put_all_above, .row = put_task, .nr = tap_report_nr_tasks,          \
	.noun = "task"

static const struct tap_section sections[] = {
	{ TAP_FOR_PROGRAMS, .put = put_which },
	{ TAP_FOR_PROGRAMS, .key = "all", .columns = json_columns, .put = put_all,
	  .is_object = true },
	{ TAP_FOR_PROGRAMS, .columns = json_columns, TASKS },
	{ TAP_FOR_PEOPLE | TAP_FOR_SHEETS, .columns = stat_columns, TASKS },
	{ TAP_FOR_PEOPLE, .before = "\n", .columns = part_columns, .put = put_parts },
	{ TAP_FOR_PEOPLE, with_queued, .before = "\n", .columns = queue_columns,
	  .put = put_queued },
	{ TAP_FOR_ALL, with_hist, .before = "\n", .put = put_hist },
	{ TAP_FOR_PEOPLE, with_over_time, .before = "\n", .put = put_over_time },
	{ TAP_FOR_PROGRAMS, with_over_time, .key = "over_time", .columns = time_columns,
	  .row = put_column, .nr = nr_columns },
	{ TAP_FOR_ALL, with_worst, .before = "\n", .key = "worst", .columns = worst_columns,
	  .row = put_worst, .nr = nr_worst },
	TAP_NOTE_THROTTLING,
	{ 0 }
};

const struct tap_report_type tap_report_latency = {
	.cmd = {
		.name = "latency",
		.help = "how long tasks waited for a CPU",
		.operands = TAP_CMD_FILE,
		.example = "schedtap latency --worst 5",
		.opts = options,
		.opts_size = sizeof(struct latency_opts),
		.defaults = &(const struct latency_opts){ .common.top = -1 },
	},
	.size = sizeof(struct latency),
	.top = 20,
	.needs = TAP_NEEDS_SWITCHES,
	.sections = sections,
	.check = check_options,
	.begin = begin_latency,
	.end = end_latency,
	.release = release_latency,
};
