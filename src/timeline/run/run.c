// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "timeline/run/run.h"

#include <errno.h>
#include <stdlib.h>

#include "timeline/run/limits_content.h"
#include "timeline/run/stacks.h"

/* Set the run's window: the intersection of --time and the recording's own window. */
static void find_window(struct tap_run *run)
{
	struct tap_window *w = &run->window;

	*w = run->pick.window;
	if (run->rec.said.to_ns < w->to_ns)
		w->to_ns = run->rec.said.to_ns;
	/*
	 * events before --time show the states at its start; there is nothing before the
	 * recording's own window
	 */
	run->read_from_ns = w->from_ns > TAP_RUN_LOOKBACK_NS ? w->from_ns - TAP_RUN_LOOKBACK_NS : 0;
	if (run->rec.said.from_ns > w->from_ns)
		run->read_from_ns = w->from_ns = run->rec.said.from_ns;
	if (w->to_ns < w->from_ns)
		w->to_ns = w->from_ns;
}

/* If the description has no window, the recording begins and ends with its events. */
static void close_window(struct tap_run *run, const struct tap_reader_span *span)
{
	struct tap_window *w = &run->window;
	bool is_empty = span->first_ns > span->last_ns || span->first_ns > w->to_ns;

	if (!run->rec.said.from_ns && !span->before && !is_empty && span->first_ns > w->from_ns)
		w->from_ns = span->first_ns;
	if (run->rec.said.to_ns == UINT64_MAX && !span->beyond && !is_empty &&
	    span->last_ns < w->to_ns)
		w->to_ns = span->last_ns;
	if (w->to_ns < w->from_ns || w->to_ns == UINT64_MAX)
		w->to_ns = w->from_ns;
}

static bool has_one_buffer(const struct tap_run *run)
{
	return tap_reader_info(run->rec.reader)->nr_buffers <= 1;
}

static uint16_t mark_for_survey(void *run, const struct tap_format *fmt)
{
	return tap_survey_wants(fmt, has_one_buffer(run));
}

/* *@beyond: set to true if an event lies after the window. Return: 0 or 1; -ENOMEM. */
static int feed_batch(struct tap_run *run, const struct tap_event *const *events, unsigned int nr,
		      bool *beyond)
{
	int ret = 0;

	for (unsigned int from = 0, i = 0; ret >= 0 && from < nr; from = i) {
		while (i < nr && events[i]->ts_ns <= run->window.to_ns)
			i++;
		ret = tap_survey_events(&run->survey, events + from, i - from);
		if (ret || i == nr)
			continue;
		*beyond = true;
		ret = tap_survey_beyond(&run->survey, events[i++]);
		if (ret > 0)
			tap_reader_skip(run->rec.reader);
	}
	return ret;
}

/*
 * Without --time, few events lie after the window, so the survey's own pass counts events. With
 * --time a separate pass counts them.
 */
static bool counts_window(const struct tap_run *run)
{
	return !run->time.text;
}

/*
 * What a CPU ran at the window's end is certain only if the next switch on that CPU names the same
 * task as prev. So read on after the window, for each CPU up to its next switch, however late that
 * is: an idle CPU has few other events before it.
 */
static int feed_survey(struct tap_run *run, struct tap_reader_span *span, struct tap_err *err)
{
	const struct tap_event *const *events;
	bool beyond = false;
	int nr, code = 0;

	tap_reader_rewind(run->rec.reader);
	tap_reader_limit(run->rec.reader, run->read_from_ns,
			 counts_window(run) ? run->window.to_ns : UINT64_MAX);
	tap_reader_beyond(run->rec.reader);
	tap_reader_mark(run->rec.reader, mark_for_survey, run);
	tap_reader_unmerged(run->rec.reader, true);
	while (code >= 0 && (nr = tap_reader_batch(run->rec.reader, &events, err)) > 0)
		code = feed_batch(run, events, (unsigned int)nr, &beyond);
	*span = tap_reader_span(run->rec.reader);
	span->beyond |= beyond || span->last_ns > run->window.to_ns;
	return code < 0 ? tap_err_set(err, code, "out of memory") : nr;
}

/* Report formats to the survey that it was not fed. */
static void note_kinds(struct tap_run *run)
{
	struct tap_tally t;

	for (unsigned int i = 0; tap_reader_tally(run->rec.reader, i, &t); i++)
		if (t.count && !tap_survey_wants(t.fmt, has_one_buffer(run)))
			tap_survey_note(&run->survey, t.fmt);
}

/*
 * Count the throttling event types in the recording. A type counts even if the recording has no
 * event of it.
 */
static unsigned int count_throttling(const struct tap_run *run)
{
	static const char *const names[TAP_NR_THROTTLING] = { "sched_throttle",
							      "sched_throttle_wakeup",
							      "sched_unthrottle" };
	unsigned int nr = 0;
	struct tap_tally t;

	for (unsigned int i = 0; tap_reader_tally(run->rec.reader, i, &t); i++)
		for (unsigned int k = 0; k < TAP_NR_THROTTLING; k++)
			nr += !strcmp(t.fmt->system, "schedtap") && !strcmp(t.fmt->name, names[k]);
	return nr;
}

static int count_kinds(struct tap_run *run)
{
	struct tap_tally t;

	for (unsigned int i = 0; tap_reader_tally(run->rec.reader, i, &t); i++)
		if (tap_survey_count(&run->survey, t.fmt, t.count))
			return -ENOMEM;
	return 0;
}

static int read_limits(struct tap_run *run, struct tap_err *err)
{
	struct tap_limits *limits = &run->rec.limits;
	const struct tap_event *const *events;
	int nr = 0, ret = tap_limits_begin(limits, &run->rec.ids.lists);

	tap_reader_rewind(run->rec.reader);
	tap_reader_unmerged(run->rec.reader, false);
	tap_reader_limit(run->rec.reader, 0, UINT64_MAX);
	tap_reader_mark(run->rec.reader, tap_limits_mark, NULL);
	while (!ret && (nr = tap_reader_batch(run->rec.reader, &events, err)) > 0)
		for (int i = 0; !ret && i < nr; i++)
			ret = tap_limits_event(limits, events[i]);
	if (!ret && nr < 0)
		return nr;
	ret = ret ?: tap_limits_end(limits);
	return ret ? tap_err_set(err, ret, "out of memory") : 0;
}

static uint16_t mark_switches(void *unused, const struct tap_format *fmt)
{
	(void)unused;
	return tap_sched_kind(fmt) == TAP_SCHED_SWITCH;
}

static int read_content(struct tap_run *run, struct tap_limits_content *c, struct tap_err *err)
{
	const struct tap_event *const *events;
	int nr = 0, ret = 0;

	tap_reader_rewind(run->rec.reader);
	tap_reader_unmerged(run->rec.reader, true);
	tap_reader_limit(run->rec.reader, 0, UINT64_MAX);
	tap_reader_mark(run->rec.reader, mark_switches, NULL);
	while (!ret && !c->has_losses && (nr = tap_reader_batch(run->rec.reader, &events, err)) > 0)
		for (int i = 0; !ret && i < nr; i++)
			ret = tap_limits_content_event(c, events[i]);
	return ret ? tap_err_set(err, ret, "out of memory") : nr < 0 ? nr : 0;
}

/*
 * A recording of another program with broken chains of switches, but without lost events, may be
 * limited to some tasks. Return: 1: it is; 0: it is not; -errno.
 */
static int find_limits(struct tap_run *run, struct tap_err *err)
{
	struct tap_limits_content c = { 0 };
	json_t *only = NULL;
	int ret = 0;

	if (run->rec.limits.promise || json_object_get(run->rec.meta, "tool") ||
	    !run->survey.nr_breaks || run->survey.nr_losses)
		return 0;
	ret = read_content(run, &c, err);
	if (!ret && (tap_limits_content_only(&c, &only) ||
		     (only && tap_limits_set(&run->rec.limits, only))))
		ret = tap_err_nomem(err);
	tap_limits_content_release(&c);
	return ret ? ret : !!only;
}

/*
 * Find out since when switches of all CPUs were recorded. A recording of schedtap contains that
 * time, and in another trace.dat events were enabled on all CPUs at once. perf enables events CPU
 * by CPU, and may record only some tasks. With --time, events outside the window are missing, which
 * may show that tasks are hidden from tracing.
 */
static int find_on(struct tap_run *run, const struct tap_reader_span *span, struct tap_err *err)
{
	bool is_whole = !run->time.text || (!span->before && !span->beyond);
	int ret;

	if (!tap_reader_info(run->rec.reader)->begins_at_once || !is_whole)
		/* perf.data, or part of a recording: survey.on_from_ns keeps its default */
		return 0;
	run->survey.on_from_ns = run->rec.said.from_ns;
	ret = tap_unswitched_read(&run->rec, &run->survey, run->read_from_ns, &run->looks, err);
	run->survey.looks = run->looks.v;
	run->survey.nr_looks = run->looks.nr;
	return ret;
}

static int survey_window(struct tap_run *run, struct tap_err *err)
{
	struct tap_reader_span span;
	int ret;

	if (tap_survey_init(&run->survey, run->window))
		return tap_err_nomem(err);
	run->survey.promise = run->rec.limits.promise;
	run->survey.lists = &run->rec.ids.lists;
	ret = feed_survey(run, &span, err);
	note_kinds(run);
	run->nr_throttling = count_throttling(run);
	if (!ret && !counts_window(run) &&
	    (run->read_from_ns != run->window.from_ns || span.beyond))
		ret = tap_recording_count(&run->rec, run->window.from_ns, run->window.to_ns, err);
	run->survey.bytes = tap_reader_span(run->rec.reader).bytes;
	close_window(run, &span);
	if (!ret && count_kinds(run))
		ret = tap_err_nomem(err);
	ret = ret ?: find_on(run, &span, err);
	if (!ret && tap_survey_end(&run->survey))
		ret = tap_err_nomem(err);
	return ret;
}

int tap_run_find_window(struct tap_run *run, struct tap_err *err)
{
	run->all_tasks = !(run->pick.select->by & TAP_SELECT_TASKS);
	run->by_cgroup = run->pick.select->by & TAP_SELECT_CGROUPS;
	return tap_recording_window(&run->rec, &run->time, &run->pick.window, err);
}

int tap_run_borrow(struct tap_run *run, struct tap_reader *reader, const struct tap_select *select,
		   const char *window, const struct tap_listener *listener, struct tap_err *err)
{
	int ret;

	*run = (struct tap_run){ .pick.select = select ? select : &tap_select_all };
	ret = tap_time_option_parse(&run->time, window, err);
	if (!ret)
		ret = tap_recording_borrow(&run->rec, reader, listener, err);
	return ret ? ret : tap_run_find_window(run, err);
}

int tap_run_survey(struct tap_run *run, struct tap_err *err)
{
	const char *ticks = tap_reader_info(run->rec.reader)->ticks;
	int ret = 0;

	if (ticks)
		return tap_err_set(
			err, -ENODATA,
			"the time stamps in '%.300s' come from the clock '%s', which counts ticks, "
			"not nanoseconds: only `schedtap dump` can show this recording",
			run->rec.path, ticks);
	find_window(run);
	tap_recording_watch(&run->rec, "pass 1 of 2");
	if (tap_limits_ask_tasks(&run->rec.limits))
		ret = read_limits(run, err);
	ret = ret ?: survey_window(run, err) ?: find_limits(run, err);
	if (ret > 0) {
		tap_survey_release(&run->survey);
		ret = read_limits(run, err) ?: survey_window(run, err);
	}
	if (!ret && run->time.text && !run->survey.events)
		ret = tap_recording_check_window(&run->rec, &run->time, run->pick.window, err);
	return ret;
}

int tap_run_check_needs(const struct tap_run *run, unsigned int needed, struct tap_err *err)
{
	const struct tap_survey *s = &run->survey;
	/* the user did not ask for the events that such a recording lacks */
	const bool lean = tap_survey_has_queueings(s);
	const struct {
		enum tap_needs what;
		bool is_there;
		const char *events, *why;
	} needs[] = {
		{ TAP_NEEDS_WAKEUPS, tap_survey_has_wakeups(s), "sched_waking and no sched_wakeup",
		  lean ? "record them, too, with -e sched_waking"
		       : "without them the start of a wait is unknown" },
		{ TAP_NEEDS_MIGRATIONS, s->buffer[TAP_SCHED_MIGRATE] != TAP_NO_BUFFER,
		  "sched_migrate_task",
		  lean ? "record them, too, with -e sched_migrate_task"
		       : "the event was not recorded, or no task migrated" },
		{ TAP_NEEDS_SWITCHES, tap_survey_has_switches(s), "sched_switch",
		  "without them it is unknown which task ran" },
		{ TAP_NEEDS_STACKS, tap_event_stacks_are_in(s), "kernel_stack and no user_stack",
		  "record stacks with `schedtap record --stack sched_switch --stack "
		  "sched_waking`" },
		{ TAP_NEEDS_THROTTLING, run->nr_throttling, "sched_throttle",
		  "without them it is unknown which task was throttled" },
	};

	if ((needed & TAP_NEEDS_MIGRATIONS) && s->promise && s->promise->cpus)
		return tap_err_set(err, -ENODATA,
				   "'%.300s' was recorded on some CPUs only (-C): migrations that "
				   "other CPUs performed are missing",
				   run->rec.path);
	if ((needed & TAP_NEEDS_MIGRATIONS) && s->promise && s->promise->lacks_migrations)
		return tap_err_set(
			err, -ENODATA,
			"'%.300s' lacks some migrations: over tracefs with -p or -t, the kernel "
			"leaves out migrations that unrecorded tasks caused (use -b bpf)",
			run->rec.path);
	for (size_t i = 0; i < sizeof(needs) / sizeof(*needs); i++)
		if ((needed & needs[i].what) && !needs[i].is_there)
			return tap_err_set(err, -ENODATA, "'%.300s' has no %s events%s: %s",
					   run->rec.path, needs[i].events,
					   run->time.text ? " in the time window" : "",
					   needs[i].why);
	return 0;
}

bool tap_run_has(const struct tap_run *run, bool (*is)(void *ctx, const struct tap_format *fmt),
		 void *ctx)
{
	for (unsigned int i = 0; i < run->survey.nr_kinds; i++)
		if (is(ctx, run->survey.kinds[i].fmt))
			return true;
	return false;
}

void tap_run_note_unknown(const struct tap_run *run)
{
	const struct tap_select_ids *tgids = &run->pick.select->tgids;
	unsigned int nr, unknown = 0, no_cgroup = 0;
	struct tap_task *const *tasks = tap_timeline_tasks(run->timeline, &nr);

	for (unsigned int i = 0; tgids->nr && i < nr; i++)
		unknown += tap_timeline_had(run->timeline, tasks[i]) &&
			   tap_task_tgid(tasks[i]) < 0 &&
			   !tap_map_get(&tgids->set, (uint64_t)tasks[i]->tid);
	for (unsigned int i = 0; run->pick.select->cgroups.nr && i < nr; i++)
		no_cgroup += tap_timeline_had(run->timeline, tasks[i]) &&
			     !tap_cgroups_path(&run->rec.ids.cgroups, tap_task_cgroup(tasks[i]));
	if (no_cgroup)
		tap_recording_note(&run->rec, "-g leaves out %u task%s whose cgroup is not known",
				   no_cgroup, no_cgroup == 1 ? "" : "s");
	if (unknown)
		tap_recording_note(&run->rec,
				   "-p leaves out %u task%s whose process is not known: record "
				   "task_newtask, which contains the process ID",
				   unknown, unknown == 1 ? "" : "s");
}

void tap_run_close(struct tap_run *run)
{
	tap_task_names_release(run);
	tap_looks_release(&run->looks);
	free(run->lives);
	tap_buf_release(&run->scratch);
	tap_timeline_free(run->timeline);
	tap_survey_release(&run->survey);
	tap_pick_release(&run->pick);
	tap_recording_close(&run->rec);
}
