/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * From a recording to an observer: what every report of schedtap does. The recording is read twice: first
 * for what is missing in it, then for what an observer is told (timeline.h), which is certain then.
 */
#ifndef SCHEDTAP_RUN_H
#define SCHEDTAP_RUN_H

#include <schedtap/reader.h>
#include <schedtap/select.h>
#include <schedtap/timeline.h>

#ifdef __cplusplus
extern "C" {
#endif

/** struct tap_run_opts - What of a recording. All zero but .size: all of it. */
struct tap_run_opts {
	size_t size; /* sizeof(struct tap_run_opts) */
	/*
	 * Only intervals, wakeups and migrations of its tasks, and what its CPUs ran; its events are of no
	 * meaning here. Borrowed for the call. NULL: all.
	 */
	const struct tap_select *select;
	/* As --time of schedtap-latency(1), "1326.75,+2s" or "@12:03:04.5+-20ms". NULL: all. */
	const char *window;
	/* What the user should know beside the result: a sentence, without newline. NULL: nobody is told. */
	void (*note)(void *ctx, const char *sentence);
	/* How far "pass 1 of 2" has come, again and again: @done of @whole bytes. NULL: nobody is told. */
	void (*progress)(void *ctx, const char *what, uint64_t done, uint64_t whole);
	void *ctx; /* of both */
};

/**
 * tap_run() - Read a recording, and tell an observer.
 * @reader: borrowed; wherever it stands, it is read from its beginning, and stands at its end. Its limit,
 * marks and watch are lost.
 * @opts: NULL: all of it.
 * @observer: borrowed for the call.
 * @ctx: handed to the observer.
 *
 * Memory grows with tasks and CPUs, not with events.
 *
 * Return: 0; -EINVAL: a window that is none, or a size that this library does not know; -ENODATA: the
 * recording has no sched_switch, does not know the wall time that the window is in, or lies outside of
 * the window, or its stamps are no time; a reader's error; -ENOMEM; what the observer returned.
 */
TAP_API TAP_MUST_CHECK int tap_run(struct tap_reader *reader, const struct tap_run_opts *opts,
				   const struct tap_observer *observer, void *ctx,
				   struct tap_err *err);

#ifdef __cplusplus
}
#endif
#endif
