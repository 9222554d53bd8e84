// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The second pass over a recording: feed its events to the timeline, and to the watchers that want
 * them.
 */
#include <errno.h>

#include "timeline/run/selected.h"

/*
 * Marks of events: bit 0 is set if the timeline wants the event, and bit i + 1 if watcher i wants
 * it.
 */
#define FOR_TIMELINE 1u
#define FOR_WATCHERS 0xfffeu
#define FOR_WATCHER(i) (2u << (i))

struct feed {
	struct tap_run *run;
	const struct tap_watcher *watchers;
	unsigned int nr;
	unsigned int for_loss; /* the mark of lost events */
	unsigned int any; /* the marks of all formats, combined by OR */
	/* marks of the watchers with .before, .event and .early */
	unsigned int before, after, early;
	/* copies of what is needed for each event: the window's start, and each watcher's .event */
	uint64_t from_ns;
	bool has_begun; /* an event within the window was read */
	struct tap_timeline *timeline;
	struct {
		int (*event)(void *ctx, const struct tap_timeline *t, const struct tap_event *ev);
		void *ctx;
	} calls[TAP_MAX_WATCHERS];
};

static unsigned int find_mark(const struct feed *feed, const struct tap_format *fmt)
{
	unsigned int mark = 0;

	for (unsigned int i = 0; i < feed->nr; i++) {
		const struct tap_watcher *w = &feed->watchers[i];

		if (w->ops->wants && w->ops->wants(w->ctx, fmt))
			mark |= FOR_WATCHER(i);
	}
	return mark;
}

static uint16_t mark_for_feed(void *arg, const struct tap_format *fmt)
{
	struct feed *feed = arg;
	unsigned int mark = find_mark(feed, fmt);

	if (tap_timeline_wants(fmt, feed->run->by_cgroup))
		mark |= FOR_TIMELINE;
	feed->any |= mark;
	return (uint16_t)mark;
}

static bool is_selected_task(void *run, const struct tap_task *task, uint64_t ns)
{
	return tap_run_is_selected(run, task, ns);
}

static bool is_selected_cpu(void *run, int cpu)
{
	return tap_run_cpu(run, cpu);
}

static int start_feed(struct feed *feed, struct tap_err *err)
{
	struct tap_run *run = feed->run;
	struct tap_timeline_opts opts = {
		.window = run->window,
		.survey = &run->survey,
		.promise = run->rec.limits.promise,
		.lists = &run->rec.ids.lists,
		.cgroup_paths = &run->rec.ids.cgroups.paths,
		.throttling = run->nr_throttling,
		.nr_cpus = tap_reader_info(run->rec.reader)->nr_cpus,
		.watchers = feed->watchers,
		.nr_watchers = feed->nr,
		.selected = {
			.task = run->all_tasks ? NULL : is_selected_task,
			.cpu = run->pick.select->by & TAP_SELECT_CPUS ? is_selected_cpu
								       : NULL,
			.ctx = run,
		},
	};

	feed->for_loss = find_mark(feed, NULL);
	for (unsigned int i = 0; i < feed->nr; i++) {
		feed->before |= feed->watchers[i].ops->before ? FOR_WATCHER(i) : 0;
		feed->after |= feed->watchers[i].ops->event ? FOR_WATCHER(i) : 0;
		feed->calls[i].event = feed->watchers[i].ops->event;
		feed->calls[i].ctx = feed->watchers[i].ctx;
		feed->early |= feed->watchers[i].ops->early ? FOR_WATCHER(i) : 0;
	}
	tap_reader_rewind(run->rec.reader);
	tap_reader_limit(run->rec.reader, run->read_from_ns, run->window.to_ns);
	tap_reader_unmerged(run->rec.reader, false);
	tap_reader_mark(run->rec.reader, mark_for_feed, feed);
	tap_recording_watch(&run->rec, "pass 2 of 2");
	tap_timeline_free(run->timeline);
	run->timeline = NULL;
	if (tap_timeline_new(&opts, &run->timeline))
		return tap_err_nomem(err);
	run->rec.ids.timeline = feed->timeline = run->timeline;
	feed->from_ns = run->window.from_ns;
	return 0;
}

/* Call .before of the watchers in @mark. */
static int call_before(const struct feed *feed, const struct tap_event *ev, unsigned int mark)
{
	int ret = 0;

	if (ev->ts_ns < feed->from_ns)
		mark &= feed->early;
	for (; mark && !ret; mark &= mark - 1) {
		const struct tap_watcher *w = &feed->watchers[__builtin_ctz(mark) - 1];

		ret = w->ops->before(w->ctx, feed->timeline, ev);
	}
	return ret;
}

/* Call .event of the watchers in @mark. */
static inline int call_event(const struct feed *feed, const struct tap_event *ev, unsigned int mark)
{
	int ret = 0;

	if (__builtin_expect(ev->ts_ns < feed->from_ns, 0))
		mark &= feed->early;
	for (; mark && !ret; mark &= mark - 1) {
		unsigned int i = (unsigned int)__builtin_ctz(mark) - 1;

		ret = feed->calls[i].event(feed->calls[i].ctx, feed->timeline, ev);
	}
	return ret;
}

static unsigned int mark_of(const struct feed *feed, const struct tap_event *ev)
{
	return ev->fmt ? ev->mark : feed->for_loss | FOR_TIMELINE;
}

/*
 * Return the index of the next event, from @i on, that some watcher wants; @nr if there is none.
 * Lost events have no format, and so no mark of their own.
 */
static unsigned int find_wanted(const struct feed *feed, const struct tap_event *const *batch,
				unsigned int i, unsigned int nr)
{
	if (feed->for_loss)
		while (i < nr && !(mark_of(feed, batch[i]) & FOR_WATCHERS))
			i++;
	else
		while (i < nr && !(batch[i]->mark & FOR_WATCHERS))
			i++;
	return i;
}

static int feed_wanted(const struct feed *feed, const struct tap_event *ev)
{
	const unsigned int mark = mark_of(feed, ev);
	int ret = mark & feed->before ? call_before(feed, ev, mark & feed->before) : 0;

	if (!ret && (mark & FOR_TIMELINE))
		ret = tap_timeline_event(feed->timeline, ev);
	return ret ? ret : call_event(feed, ev, mark & feed->after);
}

static int begin_window(struct feed *feed)
{
	int ret = tap_timeline_begin(feed->timeline);

	feed->has_begun = true;
	for (unsigned int i = 0; !ret && i < feed->nr; i++)
		if (feed->watchers[i].ops->begin)
			ret = feed->watchers[i].ops->begin(feed->watchers[i].ctx, feed->timeline);
	return ret;
}

/* Return: 0; -errno of the timeline; what a watcher returned. */
static int feed_events(const struct feed *feed, const struct tap_event *const *batch,
		       unsigned int nr)
{
	struct tap_timeline *t = feed->timeline;
	int ret = 0;

	if (!((feed->any | feed->for_loss) & FOR_WATCHERS))
		return tap_timeline_events(t, batch, nr);
	for (unsigned int from = 0, i; !ret && from < nr; from = i + 1) {
		i = find_wanted(feed, batch, from, nr);
		ret = i > from ? tap_timeline_events(t, batch + from, i - from) : 0;
		if (!ret && i < nr)
			ret = feed_wanted(feed, batch[i]);
	}
	return ret;
}

/*
 * Feed a batch in which the window may begin, and call begin_window() between the events before the
 * window and the events in it.
 */
static int feed_first_events(struct feed *feed, const struct tap_event *const *batch,
			     unsigned int nr)
{
	unsigned int early = 0;
	int ret;

	while (early < nr && batch[early]->ts_ns < feed->from_ns)
		early++;
	ret = feed_events(feed, batch, early);
	if (!ret && early < nr)
		ret = begin_window(feed);
	return ret ? ret : feed_events(feed, batch + early, nr - early);
}

/*
 * Check that the numbers of CPUs and tasks are plausible, since reports keep state for each.
 * Return: as tap_reader_check_state().
 */
static int check_state(struct tap_run *run, struct tap_err *err)
{
	unsigned int nr_cpus, nr_tasks;

	tap_timeline_cpus(run->timeline, &nr_cpus);
	tap_timeline_tasks(run->timeline, &nr_tasks);
	return tap_reader_check_state(run->rec.reader, nr_cpus, nr_tasks, err);
}

int tap_run_watch(struct tap_run *run, const struct tap_watcher *watchers, unsigned int nr_watchers,
		  struct tap_err *err)
{
	struct feed feed = { .run = run, .watchers = watchers, .nr = nr_watchers };
	const struct tap_event *const *batch;
	int ret = tap_run_find_selected(run, err) ?: start_feed(&feed, err), nr, code = 0;
	/* without switches no state is certain, so there is nothing to report */
	bool is_of_use = (feed.any & FOR_WATCHERS) || tap_survey_has_switches(&run->survey);

	while (!ret && !code && is_of_use && !(ret = check_state(run, err))) {
		nr = tap_reader_batch(run->rec.reader, &batch, err);
		if (nr <= 0) {
			ret = nr;
			break;
		}
		code = feed.has_begun ? feed_events(&feed, batch, (unsigned int)nr)
				      : feed_first_events(&feed, batch, (unsigned int)nr);
	}
	/* the marks refer to @feed, which goes out of scope */
	tap_reader_mark(run->rec.reader, NULL, NULL);
	if (ret)
		return ret;
	if (!code && !feed.has_begun)
		code = begin_window(&feed);
	if (!code)
		code = tap_timeline_end(run->timeline);
	if (code) {
		errno = -code;
		return tap_err_set(err, code, "cannot analyse '%.300s': %m", run->rec.path);
	}
	tap_run_note_unknown(run);
	return 0;
}
