// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "report/run.h"

#include <errno.h>
#include <stdlib.h>

/* The recording's own window, within --time. 0 and UINT64_MAX: open. */
static void find_window(struct tap_run *run)
{
	struct tap_range said = run->rec.said;

	run->start_ns = run->pick.from_ns;
	run->end_ns = run->pick.to_ns;
	if (said.from_ns > run->start_ns)
		run->start_ns = said.from_ns;
	if (said.to_ns < run->end_ns)
		run->end_ns = said.to_ns;
	if (run->end_ns < run->start_ns)
		run->end_ns = run->start_ns;
	/* what is before --time tells the states at its start; before the recording's own is none */
	run->read_from_ns = run->start_ns;
	if (run->pick.from_ns && run->start_ns == run->pick.from_ns)
		run->read_from_ns -= run->start_ns > TAP_RUN_LOOKBACK_NS ? TAP_RUN_LOOKBACK_NS :
									run->start_ns;
}

/* A recording that does not say its window begins and ends with its events. */
static void close_window(struct tap_run *run, const struct tap_reader_span *span)
{
	bool is_empty = span->first_ns > span->last_ns || span->first_ns > run->end_ns;

	if (!run->rec.said.from_ns && !span->before && !is_empty && span->first_ns > run->start_ns)
		run->start_ns = span->first_ns;
	if (run->rec.said.to_ns == UINT64_MAX && !span->beyond && !is_empty &&
	    span->last_ns < run->end_ns)
		run->end_ns = span->last_ns;
	if (run->end_ns < run->start_ns || run->end_ns == UINT64_MAX)
		run->end_ns = run->start_ns;
	if (!run->start_ns && run->end_ns) /* to the timeline, 0 would be an open window */
		run->start_ns = 1;
}

static bool has_one_buffer(const struct tap_run *run)
{
	return tap_reader_info(run->rec.reader)->nr_buffers <= 1;
}

static uint16_t mark_for_survey(void *run, const struct tap_format *fmt)
{
	return tap_survey_wants(fmt, has_one_buffer(run));
}

static void begin_walk(struct tap_run *run, uint64_t from_ns, uint64_t to_ns,
		       uint16_t (*mark)(void *, const struct tap_format *))
{
	tap_reader_rewind(run->rec.reader);
	tap_reader_limit(run->rec.reader, from_ns, to_ns);
	tap_reader_mark(run->rec.reader, mark, run);
	tap_reader_unmerged(run->rec.reader, true);
}

/* Return: 0, or 1 where something is @beyond the window; -ENOMEM. */
static int feed_batch(struct tap_run *run, const struct tap_event *const *events, unsigned int nr,
		      bool *beyond)
{
	int ret = 0;

	for (unsigned int from = 0, i = 0; ret >= 0 && from < nr; from = i) {
		while (i < nr && events[i]->ts_ns <= run->end_ns)
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
 * What a CPU ran at the window's end is certain only if the switch that ends it fits. So each is
 * read on to that, wherever it is: an idle CPU has little else on its way there.
 */
static int feed_survey(struct tap_run *run, struct tap_reader_span *span, struct tap_err *err)
{
	const struct tap_event *const *events;
	bool beyond = false;
	int nr, code = 0;

	begin_walk(run, run->read_from_ns, UINT64_MAX, mark_for_survey);
	while (code >= 0 && (nr = tap_reader_batch(run->rec.reader, &events, err)) > 0)
		code = feed_batch(run, events, (unsigned int)nr, &beyond);
	*span = tap_reader_span(run->rec.reader);
	span->beyond = beyond || span->last_ns > run->end_ns;
	return code < 0 ? tap_err_set(err, code, "out of memory") : nr;
}

/* Only the window is to be counted. */
static int count_window(struct tap_run *run, struct tap_err *err)
{
	const struct tap_event *const *events;
	int nr;

	begin_walk(run, run->start_ns, run->end_ns, tap_mark_none);
	do
		nr = tap_reader_batch(run->rec.reader, &events, err);
	while (nr > 0);
	return nr;
}

/* Those that were fed the survey knows by itself. */
static void note_kinds(struct tap_run *run)
{
	struct tap_tally t;

	for (unsigned int i = 0; tap_reader_tally(run->rec.reader, i, &t); i++)
		if (t.count && !tap_survey_wants(t.fmt, has_one_buffer(run)))
			tap_survey_note(&run->survey, t.fmt);
}

static int count_kinds(struct tap_run *run)
{
	struct tap_tally t;

	for (unsigned int i = 0; tap_reader_tally(run->rec.reader, i, &t); i++)
		if (tap_survey_count(&run->survey, t.fmt, t.count))
			return -ENOMEM;
	return 0;
}

static int survey(struct tap_run *run, struct tap_err *err)
{
	struct tap_reader_span span;
	int ret;

	if (tap_survey_init(&run->survey, run->start_ns, run->end_ns))
		return tap_err_set(err, -ENOMEM, "out of memory");
	ret = feed_survey(run, &span, err);
	note_kinds(run);
	if (!ret && (run->read_from_ns != run->start_ns || span.beyond))
		ret = count_window(run, err);
	run->survey.bytes = tap_reader_span(run->rec.reader).bytes;
	close_window(run, &span);
	if (!ret && (count_kinds(run) || tap_survey_end(&run->survey)))
		ret = tap_err_set(err, -ENOMEM, "out of memory");
	return ret;
}

static int set_window(struct tap_run *run, struct tap_err *err)
{
	struct tap_range range;
	int ret = tap_recording_window(&run->rec, &run->window, &range, err);

	if (ret)
		return ret;
	run->pick.from_ns = range.from_ns;
	run->pick.to_ns = range.to_ns;
	run->all_tasks = !(run->pick.select->by & TAP_SELECT_TASKS);
	return 0;
}

int tap_run_input(struct tap_run *run, const char *path, const struct tap_select_words *words,
		  const char *window, const char *clock_name, const struct tap_listener *listener,
		  bool *usage, struct tap_err *err)
{
	const struct tap_format *const *formats;
	enum tap_clock clock;
	unsigned int nr;
	int ret;

	*run = (struct tap_run){ 0 };
	*usage = true;
	ret = tap_window_parse(&run->window, window, err);
	if (!ret)
		ret = tap_clock_parse(clock_name, &clock, err);
	if (ret)
		return ret;
	*usage = false;
	ret = tap_recording_open(&run->rec, path, listener, err);
	if (ret)
		return ret;
	*usage = true;
	formats = tap_reader_formats(run->rec.reader, &nr);
	ret = tap_pick_init(&run->pick, words, formats, nr, err);
	if (!ret)
		ret = set_window(run, err);
	if (!ret)
		ret = tap_recording_show(&run->rec, clock, err);
	*usage = ret;
	return ret;
}

int tap_run_borrow(struct tap_run *run, struct tap_reader *reader, const struct tap_select *select,
		   const char *window, const struct tap_listener *listener, struct tap_err *err)
{
	int ret;

	*run = (struct tap_run){ .pick.select = select ? select : &tap_select_all };
	ret = tap_window_parse(&run->window, window, err);
	if (!ret)
		ret = tap_recording_borrow(&run->rec, reader, listener, err);
	return ret ? ret : set_window(run, err);
}

static int refuse_ticks(const struct tap_run *run, struct tap_err *err)
{
	const char *ticks = tap_reader_info(run->rec.reader)->ticks;

	if (!ticks)
		return 0;
	return tap_err_set(err, -ENODATA, "'%.300s' has stamps of the clock '%s', which are no time: only "
			   "`schedtap dump` shows them", run->rec.path, ticks);
}

int tap_run_survey(struct tap_run *run, struct tap_err *err)
{
	struct tap_range range = { run->pick.from_ns, run->pick.to_ns };
	int ret = refuse_ticks(run, err);

	if (ret)
		return ret;
	find_window(run);
	tap_recording_watch(&run->rec, "pass 1 of 2");
	ret = survey(run, err);
	if (!ret && run->window.text && !run->survey.events)
		ret = tap_recording_check_window(&run->rec, &run->window, range, err);
	return ret;
}

static bool has(const struct tap_survey *s, enum tap_needs what)
{
	switch (what) {
	case TAP_NEEDS_WAKEUPS:
		return tap_survey_has_wakeups(s);
	case TAP_NEEDS_MIGRATIONS:
		return s->buffer[TAP_SCHED_MIGRATE] != TAP_NO_BUFFER;
	case TAP_NEEDS_SWITCHES:
		return tap_survey_has_switches(s);
	}
	return false;
}

int tap_run_check_needs(const struct tap_run *run, unsigned int needed, struct tap_err *err)
{
	static const struct {
		enum tap_needs what;
		const char *events, *why;
	} needs[] = {
		{ TAP_NEEDS_WAKEUPS, "sched_waking and no sched_wakeup", "when a wait began is not known" },
		{ TAP_NEEDS_MIGRATIONS, "sched_migrate_task", "either that event was not recorded, or nothing was moved" },
		{ TAP_NEEDS_SWITCHES, "sched_switch", "who ran is not known" },
	};

	for (size_t i = 0; i < sizeof(needs) / sizeof(*needs); i++)
		if ((needed & needs[i].what) && !has(&run->survey, needs[i].what))
			return tap_err_set(err, -ENODATA, "'%.300s' has no %s events%s: %s",
					   run->rec.path, needs[i].events,
					   run->window.text ? " in that window" : "", needs[i].why);
	return 0;
}

/* What events are for, as marks. */
enum { FOR_TIMELINE = 1, FOR_REPORT = 2 };

struct feed {
	const struct tap_run *run;
	const struct tap_run_events *events; /* or NULL */
	void *ctx;
	bool any_for_report;
};

static uint16_t mark_for_feed(void *arg, const struct tap_format *fmt)
{
	struct feed *feed = arg;
	uint16_t mark = 0;

	if (tap_timeline_wants(fmt, feed->run->pick.select->by & TAP_SELECT_CGROUPS))
		mark |= FOR_TIMELINE;
	if (feed->events && feed->events->wants(feed->ctx, fmt))
		mark |= FOR_REPORT;
	feed->any_for_report |= mark & FOR_REPORT;
	return mark;
}

static int start(struct tap_run *run, const struct tap_observer *observer, struct feed *feed,
		 struct tap_err *err)
{
	struct tap_timeline_opts opts = {
		.start_ns = run->start_ns, .end_ns = run->end_ns, .survey = &run->survey,
		.lists = &run->rec.ids.lists,
		.nr_cpus = tap_reader_info(run->rec.reader)->nr_cpus, .observer = observer,
		.ctx = feed->ctx,
	};

	tap_reader_rewind(run->rec.reader);
	tap_reader_limit(run->rec.reader, run->read_from_ns, run->end_ns);
	tap_reader_unmerged(run->rec.reader, false);
	tap_reader_mark(run->rec.reader, mark_for_feed, feed);
	tap_recording_watch(&run->rec, "pass 2 of 2");
	if (tap_timeline_new(&opts, &run->timeline))
		return tap_err_set(err, -ENOMEM, "out of memory");
	run->rec.ids.timeline = run->timeline;
	return 0;
}

static int failed(const struct tap_run *run, int code, struct tap_err *err)
{
	errno = -code;
	return tap_err_set(err, code, "cannot make sense of '%.300s': %m", run->rec.path);
}

/* Return: 0; -errno of the timeline or the report. */
static int feed_events(const struct feed *feed, const struct tap_event *const *batch,
		       unsigned int nr)
{
	struct tap_timeline *t = feed->run->timeline;
	int ret = 0;

	if (!feed->any_for_report)
		return tap_timeline_events(t, batch, nr);
	for (unsigned int from = 0, i = 0; !ret && from < nr; from = i) {
		while (i < nr && !(batch[i]->mark & FOR_REPORT)) /* losses have no mark */
			i++;
		ret = tap_timeline_events(t, batch + from, i - from);
		if (ret || i == nr)
			break;
		if (batch[i]->mark & FOR_TIMELINE)
			ret = tap_timeline_event(t, batch[i]);
		if (!ret && batch[i]->ts_ns >= feed->run->start_ns)
			ret = feed->events->event(feed->ctx, batch[i]);
		i++;
	}
	return ret;
}

/* Without switches nothing is certain: then there is nothing to tell. */
static bool is_of_use(const struct feed *feed)
{
	return feed->any_for_report || tap_survey_has_switches(&feed->run->survey);
}

int tap_run_feed(struct tap_run *run, const struct tap_observer *observer,
		 const struct tap_run_events *events, void *ctx, struct tap_err *err)
{
	struct feed feed = { .run = run, .events = events, .ctx = ctx };
	const struct tap_event *const *batch;
	int ret, nr, code = 0;

	ret = start(run, observer, &feed, err);
	while (!ret && !code && is_of_use(&feed)) {
		nr = tap_reader_batch(run->rec.reader, &batch, err);
		if (nr <= 0) {
			ret = nr;
			break;
		}
		code = feed_events(&feed, batch, (unsigned int)nr);
	}
	tap_reader_mark(run->rec.reader, NULL, NULL); /* @feed is gone soon */
	if (ret)
		return ret;
	if (!code)
		code = tap_timeline_end(run->timeline);
	if (!code)
		tap_run_note_unknown(run);
	return code ? failed(run, code, err) : 0;
}

void tap_run_note_unknown(const struct tap_run *run)
{
	const struct tap_select_ids *tgids = &run->pick.select->tgids;
	unsigned int nr, unknown = 0;
	struct tap_task *const *tasks = tap_timeline_tasks(run->timeline, &nr);

	for (unsigned int i = 0; tgids->nr && i < nr; i++)
		unknown += tap_timeline_had(run->timeline, tasks[i]) && tap_task_tgid(tasks[i]) < 0 &&
			   !tap_map_get(&tgids->set, (uint64_t)tasks[i]->tid);
	if (unknown)
		tap_recording_note(&run->rec, "-p leaves out %u task%s whose process is not known: record "
				   "task_newtask, which tells it", unknown, unknown == 1 ? "" : "s");
}

void tap_run_close(struct tap_run *run)
{
	tap_task_names_release(run);
	tap_buf_release(&run->scratch);
	tap_timeline_free(run->timeline);
	tap_survey_release(&run->survey);
	tap_pick_release(&run->pick);
	tap_recording_close(&run->rec);
}
