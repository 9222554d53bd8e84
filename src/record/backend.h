/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A backend moves events from the kernel or from user-space programs to the spool, in sub-buffers.
 * The time stamps of all backends are CLOCK_MONOTONIC. The session (session.h) decides which
 * backend records which event (the plan), opens the backends that the plan names, and runs them:
 * start, drain repeatedly, stop.
 */
#ifndef TAP_RECORD_BACKEND_H
#define TAP_RECORD_BACKEND_H

#include <jansson.h>

#include "file/page_writer.h"
#include "record/plan.h"

/* What drains moved and lost. A backend adds its part. */
struct tap_drain {
	uint64_t events; /* 0 if the backend cannot count them without decoding */
	uint64_t stacks; /* stack traces; included in .events */
	uint64_t bytes, lost;
	bool lost_unknown; /* some losses could not be counted: .lost is a lower bound */
	bool reset; /* another process discarded events in a ring: their number is unknown */
	unsigned int fill_pct; /* fill level of the fullest CPU's ring, before it was drained */
};

enum tap_drain_depth {
	TAP_DRAIN_PAGES, /* full sub-buffers */
	TAP_DRAIN_ALL, /* also sub-buffers that are not full */
	TAP_DRAIN_MISSES, /* also count losses that no record in a ring shows */
	TAP_DRAIN_LAST, /* after .stop: all events, and what is reported once at the end */
};

enum tap_backend_kind { TAP_BY_BPF, TAP_BY_TRACEFS, TAP_BY_USER };

struct tap_backend_ops {
	/* for the backend's own files, which must not depend on the file that defines the ops */
	enum tap_backend_kind kind;
	const char *name; /* "bpf", "tracefs", "user" */

	/*
	 * Prepare the recording of the plan's events whose .backend is this one, but start no event
	 * yet; set their .status and .reason. On failure nothing is left open. Return: 0; -EPERM,
	 * -EOPNOTSUPP with a sentence that names what is missing; -errno.
	 */
	int (*open)(struct tap_plan *plan, void **state, struct tap_err *err);
	/*
	 * Set the format texts of its events, and the other parts of the head that only this
	 * backend knows. They stay valid until .free or the next .describe. @cgroups: id -> path,
	 * for names in the formats. Return: 0; -errno with a sentence.
	 */
	int (*describe)(void *state, const struct tap_map *cgroups, struct tap_head *head,
			struct tap_err *err);
	/* Add its buffer to the spool, before .start. Return: 0; -errno with a sentence. */
	int (*add_buffer)(void *state, struct tap_page_writer *writer, struct tap_err *err);
	/* Switch the events on. Return: 0; -errno with a sentence. */
	int (*start)(void *state, struct tap_err *err);
	/*
	 * Look for further things to record, such as programs that were started. @anew: set to true
	 * if .describe has more to say: the head is then written before the next drain. May be
	 * NULL. Return: 0; -errno with a sentence.
	 */
	int (*find)(void *state, bool *anew, struct tap_err *err);
	/*
	 * Complete what .describe sets, though it may take time to read files. Called before a file
	 * gets its head. May be NULL.
	 */
	void (*settle)(void *state);
	/*
	 * Hand recorded events over to the page writer, and add to @res. Return: 0; -errno with a
	 * sentence.
	 */
	int (*drain)(void *state, enum tap_drain_depth depth, struct tap_drain *res,
		     struct tap_err *err);
	/*
	 * Return: whether there is still something to record when the kernel has seen all but @left
	 * of the selected processes end; those that only wait for the recorder's end count as
	 * ended. Children that they forked may still record. NULL: as long as @left is not 0.
	 */
	bool (*goes_on)(void *state, unsigned int left);
	/*
	 * Return whether this backend's triggers switched the recording since the last call: 1: on;
	 * 0: off; -1: not switched. May be NULL.
	 */
	int (*switched)(void *state);
	/* Switch the recording on or off: another backend's trigger did. May be NULL. */
	void (*switch_to)(void *state, bool on);
	/*
	 * Return: a descriptor that becomes readable when the next drain should not wait; -1: there
	 * is none. NULL: always -1.
	 */
	int (*wake_fd)(const void *state);
	/*
	 * Switch the events off: none is recorded after this returns. Return: 0; -errno with a
	 * sentence.
	 */
	int (*stop)(void *state, struct tap_err *err);
	/* Add its overhead and its lost events to the description. May be NULL. */
	void (*add_price)(void *state, json_t *price);
	/* Add what else only this backend knows to the description. May be NULL. */
	void (*add_meta)(void *state, json_t *meta);
	void (*free)(void *state);
};

extern const struct tap_backend_ops tap_backend_bpf;
extern const struct tap_backend_ops tap_backend_tracefs;
extern const struct tap_backend_ops tap_backend_user;

#endif
