// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The library's tap_run() (schedtap/run.h), for watchers that the calling program provides. */
#include <schedtap/run.h>

#include "base/sized.h"
#include "timeline/run/run.h"

static void on_note(void *ctx, const struct tap_err *note)
{
	const struct tap_run_opts *opts = ctx;

	opts->note(opts->ctx, note->text);
}

static void on_progress(void *ctx, const char *what, uint64_t done, uint64_t whole)
{
	const struct tap_run_opts *opts = ctx;

	opts->progress(opts->ctx, what, done, whole);
}

/*
 * Copy the watchers into @to and their functions into @ops: the program may have been built with an
 * older, smaller struct tap_watcher_ops.
 */
static int take_watchers(const struct tap_watcher *from, unsigned int nr,
			 struct tap_watcher_ops *ops, struct tap_watcher *to, struct tap_err *err)
{
	int ret = nr && nr <= TAP_MAX_WATCHERS
			  ? 0
			  : tap_err_set(err, -EINVAL, "a run takes 1 to %d watchers",
					TAP_MAX_WATCHERS);

	for (unsigned int i = 0; !ret && i < nr; i++) {
		ret = tap_sized_take(&ops[i], sizeof(ops[i]), from[i].ops, err);
		to[i] = from[i];
		to[i].ops = &ops[i];
	}
	return ret;
}

static int watch_run(struct tap_run *run, const struct tap_watcher *watchers, unsigned int nr,
		     struct tap_err *err)
{
	int ret = tap_run_survey(run, err);

	if (!ret)
		ret = tap_run_check_needs(run, TAP_NEEDS_SWITCHES, err);
	return ret ? ret : tap_run_watch(run, watchers, nr, err);
}

int tap_run(struct tap_reader *reader, const struct tap_run_opts *opts,
	    const struct tap_watcher *watchers, unsigned int nr_watchers, struct tap_err *err)
{
	struct tap_watcher_ops ops[TAP_MAX_WATCHERS] = { 0 };
	struct tap_watcher own_watchers[TAP_MAX_WATCHERS];
	struct tap_run_opts own = { 0 };
	struct tap_listener listener;
	struct tap_run run;
	int ret = take_watchers(watchers, nr_watchers, ops, own_watchers, err);

	if (!ret && opts)
		ret = tap_sized_take(&own, sizeof(own), opts, err);
	if (ret)
		return ret;
	listener = (struct tap_listener){ own.note ? on_note : NULL,
					  own.progress ? on_progress : NULL, &own };
	ret = tap_run_borrow(&run, reader, own.select, own.window, &listener, err);
	if (!ret)
		ret = watch_run(&run, own_watchers, nr_watchers, err);
	tap_run_close(&run);
	tap_reader_limit(reader, 0, UINT64_MAX);
	tap_reader_watch(reader, NULL, NULL);
	return ret;
}
