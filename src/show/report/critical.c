// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* schedtap critical: the critical path of a task, of the recorded command, or of requests. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "show/report/critical.h"

#define SHOWN_CANDIDATES 5u

static const struct tap_opt options[] = {
	TAP_REPORT_OPTIONS_WITHOUT_CPUS,
	TAP_OPTION(struct critical_opts, command, "command", 0, NULL, TAP_OPT_FLAG,
		   "show the critical path of the recorded command [default without -p, -t, -c or "
		   "-g]"),
	TAP_OPTION(struct critical_opts, path, "path", 0, NULL, TAP_OPT_FLAG,
		   "print every step of the path in time order"),
	TAP_OPTION(struct critical_opts, between, "between", 0, "START,DONE", TAP_OPT_STRING,
		   "critical paths of requests: from event START to event DONE of the same task, "
		   "or with the same --by field"),
	TAP_OPTION(struct critical_opts, by, "by", 0, "FIELD", TAP_OPT_STRING,
		   "with --between: the field that pairs START and DONE of a request"),
	TAP_REPORT_TOP("the N tasks with the most time on the path, or with --between the N "
		       "longest requests [10"),
	{ 0 }
};

/* ---- choosing the task ---- */

static bool has_task_options(const struct tap_report_opts *o)
{
	const struct tap_select_words *words = &o->input.select;

	return words->tgids.nr || words->tids.nr || words->comms.nr || words->cgroups.nr;
}

static int check_options(const void *opts, struct tap_err *err)
{
	const struct critical_opts *o = opts;

	if (o->command && has_task_options(&o->common))
		return tap_err_set(err, -EINVAL,
				   "--command cannot be combined with -p, -t, -c or -g: it already "
				   "selects the recorded command's task");
	if (o->between && (o->command || o->path))
		return tap_err_set(err, -EINVAL,
				   "--between cannot be combined with --command or --path: it sums "
				   "up the paths of many requests");
	if (o->by && !o->between)
		return tap_err_set(err, -EINVAL, "--by needs --between");
	return o->between ? tap_request_source_init(&(struct tap_request_source){ 0 }, o->between,
						    o->by, err)
			  : 0;
}

static int refuse_many(struct tap_report *r, struct tap_err *err)
{
	struct tap_buf b = { 0 };
	int ret;

	for (unsigned int i = 0; i < r->nr_tasks && i < SHOWN_CANDIDATES; i++) {
		tap_buf_puts(&b, i ? ", " : "");
		tap_run_make_label(&r->run, &b, r->tasks[i]);
	}
	if (r->nr_tasks > SHOWN_CANDIDATES)
		tap_buf_printf(&b, " and %u more", r->nr_tasks - SHOWN_CANDIDATES);
	ret = tap_err_set(
		err, -EINVAL,
		"a critical path needs one task, but several match: %s; select one with -t, or "
		"with --time if a thread ID was reused",
		tap_buf_str(&b));
	tap_buf_release(&b);
	r->usage = true;
	return ret;
}

/* Find the recorded command's task among .tasks: the first one that had its tid. */
static int find_command(struct critical *c, struct tap_err *err)
{
	struct tap_report *r = &c->report;

	for (unsigned int i = 0; i < r->nr_tasks; i++)
		if (r->tasks[i]->tid == c->watch.command &&
		    (!c->task || r->tasks[i]->index < c->task->index))
			c->task = r->tasks[i];
	if (c->task)
		return 0;
	return tap_err_set(err, -ENODATA,
			   "the time window has no event of the recorded command, task %d",
			   c->watch.command);
}

static int find_task(struct critical *c, struct tap_err *err)
{
	struct tap_report *r = &c->report;
	int ret = tap_report_find_tasks(r, err);

	if (ret)
		return ret;
	if (c->watch.command)
		return find_command(c, err);
	if (!r->nr_tasks)
		return tap_err_set(err, -ENODATA,
				   "no task in the time window matches the filters, so there is no "
				   "critical path");
	if (r->nr_tasks > 1)
		return refuse_many(r, err);
	c->task = r->tasks[0];
	return 0;
}

/* ---- the report ---- */

static int begin_requests(struct critical *c, struct tap_err *err)
{
	const struct critical_opts *o = tap_critical_opts(&c->report);
	unsigned int nr;
	const struct tap_format *const *formats = tap_reader_formats(c->report.run.rec.reader, &nr);

	c->request_watch = (struct tap_request_watch){ &c->source, &c->requests };
	tap_report_watch(&c->report, &tap_request_watch_ops, &c->request_watch, 0);
	return tap_request_source_init(&c->source, o->between, o->by, err)
		       ?: tap_request_source_check(&c->source, formats, nr, err);
}

static int begin_critical(struct tap_report *r, struct tap_err *err)
{
	struct critical *c = tap_critical_of(r);
	int ret = tap_event_stacks_are_in(&r->run.survey) ? tap_report_open_stacks(r, err) : 0;

	r->run.mark_throttling = true;
	c->path.keeps = tap_critical_opts(r)->path;
	c->watch.stacks = r->stacks;
	if (!ret && tap_critical_is_between(r))
		return begin_requests(c, err);
	if (ret || has_task_options(r->opts))
		return ret;
	c->watch.command = tap_recording_command(&r->run.rec);
	if (!c->watch.command)
		return tap_err_set(err, -ENODATA,
				   "'%.300s' does not say which command was recorded: select a "
				   "task with -t or -c",
				   r->run.rec.path);
	return 0;
}

/* Set .tasks to the tasks on the path. */
static int use_tasks_of_path(struct critical *c, struct tap_err *err)
{
	struct tap_report *r = &c->report;
	unsigned int nr;
	struct tap_task *const *tasks = tap_timeline_tasks(r->run.timeline, &nr);

	free(r->tasks);
	r->nr_tasks = 0;
	r->tasks = calloc(c->path.nr_tasks + 1, sizeof(struct tap_task *));
	if (!r->tasks)
		return tap_err_nomem(err);
	for (unsigned int i = 0; i < c->path.nr_tasks; i++)
		r->tasks[r->nr_tasks++] = tasks[c->path.tasks[i].task];
	return 0;
}

static int find_path(struct critical *c, struct tap_err *err)
{
	struct tap_report *r = &c->report;
	int ret = find_task(c, err);

	if (ret)
		return ret;
	r->matched = true;
	c->life = tap_critical_watch_life(&c->watch, r->run.timeline, c->task);
	ret = tap_path_find(&c->path, &c->walk, c->task->index, c->life.from_ns, c->life.to_ns);
	return ret ? tap_err_set(err, ret, "out of memory") : use_tasks_of_path(c, err);
}

static int end_critical(struct tap_report *r, struct tap_err *err)
{
	struct critical *c = tap_critical_of(r);

	c->walk.log = &c->watch.log;
	return tap_critical_is_between(r) ? tap_critical_find_requests(c, err) : find_path(c, err);
}

static void release_critical(struct tap_report *r)
{
	struct critical *c = tap_critical_of(r);

	tap_walk_release(&c->walk);
	tap_critical_watch_release(&c->watch);
	tap_request_source_release(&c->source);
	tap_requests_release(&c->requests);
	tap_request_times_release(&c->times);
	tap_request_waits_release(&c->waits);
	tap_path_release(&c->path);
	tap_buf_release(&c->text);
}

/* ---- output ---- */

/*
 * Print "make [812]: scheduling on the path: 312.000 ms of 8100.000 ms (3.9 %) is the most that a
 * perfect scheduler could save."
 */
static void put_sentence(struct tap_report *r, struct tap_table *t)
{
	struct critical *c = tap_critical_of(r);
	const struct tap_path_sum *all = &c->path.all;
	struct tap_buf *b = &c->text;

	(void)t;
	tap_run_make_label(&r->run, b, c->task);
	tap_buf_puts(b, ": scheduling on the path: ");
	tap_critical_put_share(b, tap_path_scheduling_ns(all), all->ns,
			       all->state_ns[TAP_PATH_UNKNOWN]);
	tap_page_sentence(&r->page, b->data, b->len);
}

static void put_members(struct tap_report *r, struct tap_table *t)
{
	struct critical *c = tap_critical_of(r);
	uint64_t scheduling_ns = tap_path_scheduling_ns(&c->path.all);
	struct tap_page *p = t->page;

	tap_page_object(p, "task");
	tap_task_members(p, c->task);
	tap_page_object_end(p);
	tap_page_at(p, "from_ns", c->life.from_ns);
	tap_page_at(p, "to_ns", c->life.to_ns);
	tap_page_u64(p, "path_ns", c->path.all.ns);
	tap_page_u64(p, "scheduling_ns", scheduling_ns);
	tap_page_real(p, "scheduling_pct", tap_pct(scheduling_ns, c->path.all.ns));
}

static const struct tap_column state_columns[] = { { "state", "state", TAP_CELL_TEXT, .width = 28 },
						   { "path_ns", "time", TAP_CELL_NS, .width = 10 },
						   { "path_pct", "%", TAP_CELL_REAL, .width = 5,
						     .places = 1 },
						   { 0 } };

static void put_states(struct tap_report *r, struct tap_table *t)
{
	const struct tap_path_sum *all = &tap_critical_of(r)->path.all;

	for (enum tap_path_state s = 0; s < TAP_NR_PATH_STATES; s++) {
		if (!all->state_ns[s])
			continue;
		tap_table_puts(t, tap_path_state_name(s));
		tap_table_u64(t, all->state_ns[s]);
		tap_table_real(t, tap_pct(all->state_ns[s], all->ns));
		tap_table_row(t);
	}
}

/* The state columns below are in the order of enum tap_path_state. */
#define STATE_COLUMN(name, title)                                                                  \
	{                                                                                          \
		name "_ns", title, TAP_CELL_NS, .width = 9, .same_unit = true                      \
	}
static const struct tap_column task_columns[] = { TAP_TASK_COLUMNS("", "task", 28),
						  { "path_ns", "time", TAP_CELL_NS, .width = 10 },
						  { "path_pct", "%", TAP_CELL_REAL, .width = 5,
						    .places = 1 },
						  STATE_COLUMN("unknown", "unknown"),
						  STATE_COLUMN("running", "running"),
						  STATE_COLUMN("waking", "waking"),
						  STATE_COLUMN("preempted", "preempted"),
						  STATE_COLUMN("throttled", NULL),
						  STATE_COLUMN("disk", NULL),
						  STATE_COLUMN("network", NULL),
						  STATE_COLUMN("timer", NULL),
						  STATE_COLUMN("blocked", NULL),
						  STATE_COLUMN("interrupt", NULL),
						  STATE_COLUMN("asleep", NULL),
						  { 0 } };

static void put_task(struct tap_report *r, struct tap_table *t, unsigned int i)
{
	const struct tap_path *path = &tap_critical_of(r)->path;
	const struct tap_path_sum *sum = &path->tasks[i];

	tap_task_cells(&r->run, t, r->tasks[i]);
	tap_table_u64(t, sum->ns);
	tap_table_real(t, tap_pct(sum->ns, path->all.ns));
	for (enum tap_path_state s = 0; s < TAP_NR_PATH_STATES; s++)
		tap_table_u64(t, sum->state_ns[s]);
}

static const struct tap_column segment_columns[] = {
	{ "from_ns", "from", TAP_CELL_AT, .width = 19 }, { "to_ns", NULL, TAP_CELL_AT },
	{ "path_ns", "time", TAP_CELL_NS, .width = 10 }, TAP_TASK_COLUMNS("", "task", 28),
	{ "state", "state", TAP_CELL_TEXT, .width = 9 }, { 0 }
};

static void put_segment(struct tap_report *r, struct tap_table *t, unsigned int i)
{
	const struct tap_path_segment *s = &tap_critical_of(r)->path.segments[i];
	unsigned int nr;

	tap_table_u64(t, s->from_ns);
	tap_table_u64(t, s->to_ns);
	tap_table_u64(t, s->to_ns - s->from_ns);
	tap_task_cells(&r->run, t, tap_timeline_tasks(r->run.timeline, &nr)[s->task]);
	tap_table_puts(t, tap_path_state_name(s->state));
}

static unsigned int nr_segments(const struct tap_report *r)
{
	return tap_critical_of(r)->path.nr_segments;
}

static bool is_one(const struct tap_report *r)
{
	return !tap_critical_is_between(r);
}

static bool with_path(const struct tap_report *r)
{
	return tap_critical_opts(r)->path;
}

static bool with_tasks(const struct tap_report *r)
{
	return is_one(r) && (!with_path(r) || tap_report_audience(r) != TAP_FOR_SHEETS);
}

static bool has_interrupts(const struct critical *c)
{
	return c->watch.tells_interrupts || c->watch.interrupts.tells_timers;
}

static void put_interrupts(struct tap_report *r, struct tap_table *t)
{
	const struct critical *c = tap_critical_of(r);

	tap_page_bool(t->page, "interrupts_told", has_interrupts(c));
}

static void put_note(struct tap_report *r, struct tap_table *t)
{
	const struct critical *c = tap_critical_of(r);
	static const char note[] =
		"interrupts were not recorded: a task that a timer woke counts as woken by the "
		"interrupted task (schedtap record --stack sched_waking)";

	(void)t;
	if (!has_interrupts(c))
		tap_page_sentence(&r->page, note, sizeof(note) - 1);
}

static const struct tap_section sections[] = {
	{ TAP_FOR_PROGRAMS, .put = put_interrupts },
	{ TAP_FOR_PROGRAMS, is_one, .put = put_members },
	{ TAP_FOR_PEOPLE, is_one, .put = put_sentence },
	{ TAP_FOR_PEOPLE | TAP_FOR_PROGRAMS, is_one, .before = "\n", .key = "states",
	  .columns = state_columns, .put = put_states },
	{ TAP_FOR_ALL, with_tasks, .before = "\n", .key = "tasks", .columns = task_columns,
	  .row = put_task, .nr = tap_report_nr_tasks, .noun = "task" },
	{ TAP_FOR_ALL, with_path, .before = "\n", .key = "path", .columns = segment_columns,
	  .row = put_segment, .nr = nr_segments },
	{ TAP_FOR_PROGRAMS, tap_critical_is_between, .put = tap_critical_put_members },
	{ TAP_FOR_PEOPLE, tap_critical_is_between, .put = tap_critical_put_sentence },
	{ TAP_FOR_PEOPLE | TAP_FOR_PROGRAMS, tap_critical_is_between, .before = "\n",
	  .key = "times", .columns = tap_critical_time_columns, .put = tap_critical_put_times },
	{ TAP_FOR_ALL, tap_critical_is_between, .before = "\n", .key = "requests",
	  .columns = tap_critical_request_columns, .row = tap_critical_put_request,
	  .nr = tap_critical_nr_shown },
	{ TAP_FOR_PEOPLE, tap_critical_is_between, .put = tap_critical_put_waits },
	{ TAP_FOR_PEOPLE, .put = put_note },
	TAP_NOTE_THROTTLING,
	{ 0 }
};

const struct tap_report_type tap_report_critical = {
	.cmd = {
		.name = "critical",
		.help = "the critical path of a task or command",
		.operands = TAP_CMD_TASK,
		.example = "schedtap critical",
		.opts = options,
		.opts_size = sizeof(struct critical_opts),
		.defaults = &(const struct critical_opts){ .common.top = -1 },
	},
	.size = sizeof(struct critical),
	.top = 10,
	.needs = TAP_NEEDS_WAKEUPS | TAP_NEEDS_SWITCHES,
	.watchers = (const struct tap_report_watcher[]){
		{ &tap_critical_watch_ops, offsetof(struct critical, watch) }, { 0 } },
	.sections = sections,
	.check = check_options,
	.begin = begin_critical,
	.end = end_critical,
	.release = release_critical,
};
