/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A backend turns what the kernel does into pages in the spool. All backends share
 * CLOCK_MONOTONIC. The session (session.h) makes a plan of who records which event, opens the
 * backends that the plan names, and then runs them: start, drain again and again, stop.
 */
#ifndef TAP_RECORD_BACKEND_H
#define TAP_RECORD_BACKEND_H

#include <jansson.h>

#include "file/page_writer.h"
#include "record/plan.h"

/* What one drain moved. */
struct tap_drain {
	uint64_t events; /* 0 where the backend cannot know without decoding */
	uint64_t stacks; /* of .events */
	uint64_t bytes, lost;
	bool lost_unknown; /* of some losses the number is not known: .lost is a lower bound */
	bool reset; /* events were discarded in a ring by others, and nobody knows how many */
	unsigned int fill_pct; /* of the fullest CPU's ring, before it was drained */
};

enum tap_drain_depth {
	TAP_DRAIN_PAGES, /* full ones */
	TAP_DRAIN_ALL, /* those that are being filled too */
	TAP_DRAIN_MISSES, /* and what was lost of which no record tells */
	TAP_DRAIN_LAST, /* after stop: all, and what is to be said at the end */
};

enum tap_backend_kind { TAP_BY_BPF, TAP_BY_TRACEFS, TAP_BY_USER };

struct tap_backend_ops {
	/* by which its own files know it: they are below the file that has the ops */
	enum tap_backend_kind kind;
	const char *name; /* "bpf", "tracefs", "user" */

	/*
	 * Prepares everything up to, but not, the flow of events, for the plan's events whose
	 * .backend is this one; sets their .status and .reason. On failure nothing is left behind.
	 * Return: 0; -EPERM, -EOPNOTSUPP with a sentence that names what is missing; -errno.
	 */
	int (*open)(struct tap_plan *plan, void **state, struct tap_err *err);
	/* Format texts of its events and what else belongs in front; borrowed until free. */
	int (*describe)(void *state, const struct tap_map *cgroups, struct tap_head *head,
			struct tap_err *err);
	/* Adds its buffer to the spool, before the start. */
	int (*add_buffer)(void *state, struct tap_page_writer *writer, struct tap_err *err);
	/* From here on events flow. */
	int (*start)(void *state, struct tap_err *err);
	/*
	 * Looks for what there is to record beside what was planned. @anew: whether describe() says
	 * more than the last time, which is written down before the next drain. May be NULL.
	 */
	int (*find)(void *state, bool *anew, struct tap_err *err);
	/* Before a head that a file will have: describe() is to say all by now, though it may take
	 * files to be read. May be NULL. */
	void (*settle)(void *state);
	/* Moves what is there. */
	int (*drain)(void *state, enum tap_drain_depth depth, struct tap_drain *res,
		     struct tap_err *err);
	/*
	 * Whether to go on. @left: of the scope's processes, how many the kernel has not seen end;
	 * those that wait for the recorder's end have ended as well. Children that they forked may
	 * still record. NULL: while there are any left.
	 */
	bool (*goes_on)(void *state, unsigned int left);
	/* Whether triggers switched the recording since this was asked last. Return: 1: on; 0: off;
	 * -1: they did not. May be NULL. */
	int (*switched)(void *state);
	/* Another backend's triggers did. May be NULL. */
	void (*switch_to)(void *state, bool on);
	/* Return: a descriptor that is readable when a drain should not wait; -1: none is. NULL:
	 * none ever is. */
	int (*wake_fd)(const void *state);
	/* No event is recorded after this returns. */
	int (*stop)(void *state, struct tap_err *err);
	/* Adds its share of the price and its loss totals to the meta. May be NULL. */
	void (*add_price)(void *state, json_t *price);
	/* Adds what else only it knows to the meta. May be NULL. */
	void (*add_meta)(void *state, json_t *meta);
	void (*free)(void *state);
};

extern const struct tap_backend_ops tap_backend_bpf;
extern const struct tap_backend_ops tap_backend_tracefs;
extern const struct tap_backend_ops tap_backend_user;

#endif
