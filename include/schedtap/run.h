/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Read a recording for watchers (watcher.h), as every report of schedtap does. The recording is
 * read twice: the first pass finds where events are missing, and the second calls the watchers, so
 * that each state they see is either certain or TAP_STATE_UNKNOWN.
 */
#ifndef SCHEDTAP_RUN_H
#define SCHEDTAP_RUN_H

#include <schedtap/reader.h>
#include <schedtap/select.h>
#include <schedtap/watcher.h>

#ifdef __cplusplus
extern "C" {
#endif

/** struct tap_run_opts - Which part of a recording to read. If only .size is set, all of it. */
struct tap_run_opts {
	size_t size; /* sizeof(struct tap_run_opts) */
	/*
	 * The tasks and CPUs that watchers with .pick are called for. Events that it names are
	 * ignored. Borrowed for the call. NULL: all tasks and CPUs.
	 */
	const struct tap_select *select;
	/*
	 * The time window, in the form of schedtap-latency(1)'s --time: "1326.75,+2s" or
	 * "@12:03:04.5+-20ms". NULL: the whole recording.
	 */
	const char *window;
	/*
	 * Called with something the user should know in addition to the result: one sentence,
	 * without a newline. May be NULL.
	 */
	void (*note)(void *ctx, const char *sentence);
	/*
	 * Called repeatedly with the progress of @what, such as "pass 1 of 2": @done of @whole
	 * bytes were read. May be NULL.
	 */
	void (*progress)(void *ctx, const char *what, uint64_t done, uint64_t whole);
	void *ctx; /* passed to .note and .progress */
};

/**
 * tap_run() - Read a recording for watchers.
 * @reader: borrowed. It is read from its beginning, whatever its position, and is at its end
 * afterwards. The limit, marks and watch function that were set on it are removed.
 * @opts: NULL: read the whole recording, for all tasks and CPUs.
 * @watchers: @nr_watchers of them, 1 to TAP_MAX_WATCHERS; borrowed for the call. They are called in
 * this order.
 *
 * Memory grows with the number of tasks and CPUs, not with the number of events.
 *
 * Return: 0; -EINVAL: .window is malformed, @nr_watchers is out of range, or a .size is not one
 * that this library knows; -ENODATA: the recording has no sched_switch events, lies outside
 * .window, does not contain the wall-clock time that .window refers to, or its time stamps count
 * ticks instead of nanoseconds; -E2BIG: the recording's own filter has more patterns than any
 * recorder accepts; an error of the reader; -ENOMEM; a value other than 0 that a watcher returned.
 */
TAP_API TAP_MUST_CHECK int tap_run(struct tap_reader *reader, const struct tap_run_opts *opts,
				   const struct tap_watcher *watchers, unsigned int nr_watchers,
				   struct tap_err *err);

#ifdef __cplusplus
}
#endif
#endif
