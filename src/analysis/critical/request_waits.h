/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the waits for a CPU on the paths of some requests were for. Which these are is known when
 * all has been told: so what the timeline tells is told once more (docs/internals/critical.md), and
 * of each wait what is on a path is kept. Pieces (analysis/explain/piece.h) of a request that are
 * of one kind and one task are one, and all of a request's add up to what its path waited.
 */
#ifndef TAP_CRITICAL_REQUEST_WAITS_H
#define TAP_CRITICAL_REQUEST_WAITS_H

#include "analysis/critical/requests.h"
#include "analysis/explain/waits.h"

/* A wait, or what of it is on the path. */
struct tap_request_wait {
	uint64_t from_ns, to_ns;
	uint64_t left_ns; /* that is not explained yet */
	int tid;
	unsigned int request;
};

struct tap_request_why {
	struct tap_piece *pieces; /* owned; after the end the one that began first comes first */
	unsigned int nr_pieces, cap_pieces;
	struct tap_request_wait longest; /* .to_ns 0: it did not wait */
	unsigned int longest_task; /* whose: its index */
};

struct tap_request_waits { /* all zero: none */
	struct tap_request_why *requests; /* owned */
	unsigned int nr_requests;
	/* of those that are being told: */
	struct tap_request_wait *v; /* owned; by task, in the order of time */
	unsigned int nr, cap;
	struct tap_map near; /* inside: of each tid the place in .v that was looked for last */
};

/* Of a request, the waits on its path; what was known of it is forgotten. @number: its. @tasks: by
 * index. Return: 0 or -ENOMEM, here and below. */
int tap_request_waits_find(struct tap_request_waits *w, unsigned int number,
			   const struct tap_request *request, struct tap_walk *walk,
			   struct tap_task *const *tasks);
/* They are about to be told. */
int tap_request_waits_begin(struct tap_request_waits *w);
/* Where one of those of the task begins or ends, next behind @ns. Return: UINT64_MAX: none does. */
uint64_t tap_request_waits_split(const struct tap_request_waits *w, const struct tap_task *task,
				 uint64_t ns);
/* A wait is over. @timeline: whose tasks the pieces are to have, which may be another than the one
 * that tells. */
int tap_request_waits_told(struct tap_request_waits *w, const struct tap_wait_told *told,
			   const struct tap_timeline *timeline);
/* All has been told: what is left is unknown. Then others may be found. */
int tap_request_waits_end(struct tap_request_waits *w);
bool tap_request_why_is_known(const struct tap_request_why *why); /* nothing is unknown */
void tap_request_waits_release(struct tap_request_waits *w);

#endif
