// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The library's door to the timeline (schedtap/run.h): a run for an observer of somebody else's. */
#include <schedtap/run.h>

#include "base/sized.h"
#include "run/run.h"

struct observed {
	struct tap_run run;
	struct tap_observer told; /* whose functions are called */
	void *ctx;
	const struct tap_run_opts *opts;
};

static void on_note(void *ctx, const struct tap_err *note)
{
	const struct tap_run_opts *opts = ((struct observed *)ctx)->opts;

	opts->note(opts->ctx, note->text);
}

static void on_progress(void *ctx, const char *what, uint64_t done, uint64_t whole)
{
	const struct tap_run_opts *opts = ((struct observed *)ctx)->opts;

	opts->progress(opts->ctx, what, done, whole);
}

static int on_interval(void *ctx, const struct tap_interval *s)
{
	struct observed *o = ctx;

	return tap_run_task(&o->run, s->task) ? o->told.interval(o->ctx, s) : 0;
}

static int on_cpu(void *ctx, const struct tap_cpu_interval *s)
{
	struct observed *o = ctx;

	return tap_run_cpu(&o->run, s->cpu) ? o->told.cpu(o->ctx, s) : 0;
}

static int on_wakeup(void *ctx, const struct tap_wakeup *w)
{
	struct observed *o = ctx;

	return tap_run_task(&o->run, w->task) ? o->told.wakeup(o->ctx, w) : 0;
}

static int on_migration(void *ctx, const struct tap_migration *m)
{
	struct observed *o = ctx;

	return tap_run_task(&o->run, m->task) ? o->told.migration(o->ctx, m) : 0;
}

static int observe(struct observed *o, struct tap_err *err)
{
	const struct tap_observer observer = {
		.states = o->told.states, .lost_states = o->told.lost_states,
		.interval = o->told.interval ? on_interval : NULL, .cpu = o->told.cpu ? on_cpu : NULL,
		.unknown_cpus_only = o->told.unknown_cpus_only,
		.wakeup = o->told.wakeup ? on_wakeup : NULL,
		.migration = o->told.migration ? on_migration : NULL,
	};
	struct tap_task *const *tasks;
	unsigned int nr;
	int ret = tap_run_survey(&o->run, err);

	if (!ret)
		ret = tap_run_check_needs(&o->run, TAP_NEEDS_SWITCHES, err);
	if (!ret)
		ret = tap_run_feed(&o->run, &observer, NULL, o, err);
	if (ret || !o->told.end)
		return ret;
	tasks = tap_timeline_tasks(o->run.timeline, &nr);
	return o->told.end(o->ctx, tasks, nr);
}

int tap_run(struct tap_reader *reader, const struct tap_run_opts *opts,
	    const struct tap_observer *observer, void *ctx, struct tap_err *err)
{
	struct tap_run_opts own = { 0 };
	struct observed o = { .ctx = ctx, .opts = &own };
	struct tap_listener listener;
	int ret = tap_sized_take(&o.told, sizeof(o.told), observer, err);

	if (!ret && opts)
		ret = tap_sized_take(&own, sizeof(own), opts, err);
	if (ret)
		return ret;
	listener = (struct tap_listener){
		own.note ? on_note : NULL, own.progress ? on_progress : NULL, &o,
	};
	ret = tap_run_borrow(&o.run, reader, own.select, own.window, &listener, err);
	if (!ret)
		ret = observe(&o, err);
	tap_run_close(&o.run);
	tap_reader_limit(reader, 0, UINT64_MAX);
	tap_reader_watch(reader, NULL, NULL);
	return ret;
}
