/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Why tasks on the critical paths of some requests waited for a CPU. These waits are known only at
 * the end of a run, so the recording is read again (docs/internals/critical.md), and of each wait
 * the part on a path is kept. A request's components (analysis/explain/piece.h) of one kind and
 * task are joined, and all of them add up to the waiting time on its path.
 */
#ifndef TAP_CRITICAL_REQUEST_WAITS_H
#define TAP_CRITICAL_REQUEST_WAITS_H

#include "analysis/critical/requests.h"
#include "analysis/explain/waits.h"

/* A wait, or the part of it that is on the path. */
struct tap_request_wait {
	uint64_t from_ns, to_ns;
	uint64_t left_ns; /* not explained yet */
	int tid;
	unsigned int request;
};

struct tap_request_why {
	struct tap_piece *pieces; /* owned; sorted by their start after tap_request_waits_end() */
	unsigned int nr_pieces, cap_pieces;
	struct tap_request_wait longest; /* .to_ns 0: no wait */
	unsigned int longest_task; /* the .index of the task of .longest */
};

struct tap_request_waits { /* all zero: empty */
	struct tap_request_why *requests; /* owned; by number */
	unsigned int nr_requests;
	/* of those requests that this pass is for: */
	/* owned; sorted by task and time after tap_request_waits_begin() */
	struct tap_request_wait *v;
	unsigned int nr, cap;
	struct tap_map near; /* private: tid -> index in .v where it was last looked up */
};

/*
 * Find the waits on the path of a request, and discard its earlier results. @number: the request's
 * number. @tasks: by .index. Return: 0 or -ENOMEM, also for the functions below.
 */
int tap_request_waits_find(struct tap_request_waits *w, unsigned int number,
			   const struct tap_request *request, struct tap_walk *walk,
			   struct tap_task *const *tasks);
/* The pass is about to begin. */
int tap_request_waits_begin(struct tap_request_waits *w);
/*
 * Return the next time after @ns at which one of the task's waits begins or ends; UINT64_MAX: none
 * does.
 */
uint64_t tap_request_waits_split(const struct tap_request_waits *w, const struct tap_task *task,
				 uint64_t ns);
/*
 * A wait is over. @timeline: has the tasks that components refer to; it may be another one than
 * that of the pass.
 */
int tap_request_waits_told(struct tap_request_waits *w, const struct tap_wait_told *ended,
			   const struct tap_timeline *timeline);
/*
 * The pass is over: what was not explained is unknown. Afterwards waits of other requests may be
 * found.
 */
int tap_request_waits_end(struct tap_request_waits *w);
/* Return true if no component is unknown. */
bool tap_request_why_is_known(const struct tap_request_why *why);
void tap_request_waits_release(struct tap_request_waits *w);

#endif
