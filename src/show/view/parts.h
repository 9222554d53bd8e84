/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Parts of a page (docs/internals/html.md) that are made on request. The recording is opened once;
 * for each part only the requested window is read.
 */
#ifndef TAP_VIEW_PARTS_H
#define TAP_VIEW_PARTS_H

#include <pthread.h>

#include "show/drawn/part.h"
#include "show/out/input.h"

#define TAP_PART_MAX_TIDS 512u

struct tap_part_query {
	uint64_t from_ns, to_ns; /* relative to the beginning of the page's window */
	unsigned int buckets;
	/*
	 * Rows of tasks: those in .tids; with .has_most the tasks that ran and waited most, with
	 * their curves; or none.
	 */
	int tids[TAP_PART_MAX_TIDS];
	unsigned int nr_tids;
	bool has_most;
};

/*
 * Parse a request's parameters; NULL: missing. @window_ns: length of the page's window. Return: 0;
 * -EINVAL with a sentence.
 */
int tap_part_query_parse(struct tap_part_query *q, const char *from, const char *to,
			 const char *buckets, const char *tasks, uint64_t window_ns,
			 struct tap_err *err);

struct tap_parts {
	const struct tap_input_opts *input; /* borrowed */
	struct tap_run run; /* run of the page's window: surveyed, and read once */
	struct tap_lanes lanes;
	pthread_mutex_t lock; /* protects all members; held while the recording is read */
	bool is_prepared;
	struct tap_buf whole; /* the part for the whole window */
	struct tap_err failed; /* why .whole could not be made */
};

/*
 * Open the recording and survey it. @opts: borrowed until the close. Return: 0; -errno with a
 * sentence, and @usage says whether the options are to blame. Close @p in either case.
 */
int tap_parts_open(struct tap_parts *p, const struct tap_input_opts *opts,
		   const struct tap_listener *listener, bool *usage, struct tap_err *err);
void tap_parts_close(struct tap_parts *p);

/* These may be called by several threads, which wait for each other. */

/*
 * Make the part that the page requests first, unless it exists. It has the finest levels, which
 * suffice to zoom to a thirtieth of the window.
 */
void tap_parts_prepare(struct tap_parts *p);
/*
 * Make a part. @is_gone: returns true if the client no longer waits for it. Return: 0; -ECANCELED;
 * -errno; each with a sentence.
 */
int tap_parts_get(struct tap_parts *p, const struct tap_part_query *q, bool (*is_gone)(void *ctx),
		  void *ctx, struct tap_buf *out, struct tap_err *err);

#endif
