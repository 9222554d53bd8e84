/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Parts of a page (docs/internals/html.md) that are made when they are asked for. The recording is
 * opened once; a part reads of it what its window needs.
 */
#ifndef TAP_VIEW_PARTS_H
#define TAP_VIEW_PARTS_H

#include <pthread.h>

#include "show/drawn/part.h"
#include "show/out/input.h"

#define TAP_PART_MAX_TIDS 512u

struct tap_part_query {
	uint64_t from_ns, to_ns; /* from the window's beginning */
	unsigned int buckets;
	/* Rows of tasks: of these; of those that ran and waited most, with the curves; or of none.
	 */
	int tids[TAP_PART_MAX_TIDS];
	unsigned int nr_tids;
	bool has_most;
};

/* The texts of a request; NULL: it has none. @window_ns: how long the page's window is. Return: 0;
 * -EINVAL with a sentence. */
int tap_part_query_parse(struct tap_part_query *q, const char *from, const char *to,
			 const char *buckets, const char *tasks, uint64_t window_ns,
			 struct tap_err *err);

struct tap_parts {
	const struct tap_input_opts *input; /* borrowed */
	struct tap_run run; /* of the page's window: surveyed, and fed once */
	struct tap_lanes lanes;
	pthread_mutex_t lock; /* of all of it: whoever has it reads */
	bool is_prepared;
	struct tap_buf whole; /* the part that is all of the window */
	struct tap_err failed; /* it was not made */
};

/*
 * Opens the recording, and looks through it. @opts: borrowed until the close.
 * Return: 0; -errno with a sentence, and @usage says whether the options are to blame. Close in
 * either case.
 */
int tap_parts_open(struct tap_parts *p, const struct tap_input_opts *opts,
		   const struct tap_listener *listener, bool *usage, struct tap_err *err);
void tap_parts_close(struct tap_parts *p);

/* These may be called by several threads, which wait for each other. */

/* Makes the part that a page asks for first, with levels for windows of a thirtieth as well, if
 * nobody has. */
void tap_parts_prepare(struct tap_parts *p);
/* @is_gone: whether nobody wants it any more. Return: 0; -ECANCELED; -errno; each with a sentence.
 */
int tap_parts_get(struct tap_parts *p, const struct tap_part_query *q, bool (*is_gone)(void *ctx),
		  void *ctx, struct tap_buf *out, struct tap_err *err);

#endif
