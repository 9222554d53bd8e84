/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads a recording for watchers (watcher.h), as every report of schedtap does. The recording is
 * read twice: first to find where events are missing, then to call the watchers, for whom each
 * state is certain or TAP_STATE_UNKNOWN.
 */
#ifndef SCHEDTAP_RUN_H
#define SCHEDTAP_RUN_H

#include <schedtap/reader.h>
#include <schedtap/select.h>
#include <schedtap/watcher.h>

#ifdef __cplusplus
extern "C" {
#endif

/** struct tap_run_opts - What of a recording. All zero but .size: all of it. */
struct tap_run_opts {
	size_t size; /* sizeof(struct tap_run_opts) */
	/*
	 * The tasks and CPUs that watchers with .pick are called for; the events that it names have
	 * no effect here. Borrowed for the call. NULL: all.
	 */
	const struct tap_select *select;
	/* As --time of schedtap-latency(1), "1326.75,+2s" or "@12:03:04.5+-20ms". NULL: all. */
	const char *window;
	/* What the user should know beside the result: a sentence, without newline. NULL: nobody is
	 * told. */
	void (*note)(void *ctx, const char *sentence);
	/* How far "pass 1 of 2" has come, again and again: @done of @whole bytes. NULL: nobody is
	 * told. */
	void (*progress)(void *ctx, const char *what, uint64_t done, uint64_t whole);
	void *ctx; /* of both */
};

/**
 * tap_run() - Read a recording for watchers.
 * @reader: borrowed; wherever it stands, it is read from its beginning, and stands at its end. Its
 * limit, marks and watch are lost.
 * @opts: NULL: all of it.
 * @watchers: @nr_watchers of them, from 1 to TAP_MAX_WATCHERS; borrowed for the call. They are
 * called in their order.
 *
 * Memory grows with tasks and CPUs, not with events.
 *
 * Return: 0; -EINVAL: a window that is none, too many watchers, or a size that this library does
 * not know; -ENODATA: the recording has no sched_switch, does not know the wall time that the
 * window is in, or lies outside of the window, or its stamps are no time; a reader's error;
 * -ENOMEM; what a watcher returned.
 */
TAP_API TAP_MUST_CHECK int tap_run(struct tap_reader *reader, const struct tap_run_opts *opts,
				   const struct tap_watcher *watchers, unsigned int nr_watchers,
				   struct tap_err *err);

#ifdef __cplusplus
}
#endif
#endif
