/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A backend turns what the kernel does into pages in the spool. All backends share
 * CLOCK_MONOTONIC. The session (session.h) makes a plan of who records which event, opens the
 * backends that the plan names, and then runs them: start, drain again and again, stop.
 */
#ifndef TAP_CAPTURE_BACKEND_H
#define TAP_CAPTURE_BACKEND_H

#include <jansson.h>

#include "base/buf.h"
#include "capture/pids.h"
#include "event/defs.h"
#include "recording/page_writer.h"
#include "select/select.h"

enum tap_event_status {
	TAP_EVENT_PLANNED,
	TAP_EVENT_ON,
	TAP_EVENT_ABSENT, /* this kernel does not have it */
	TAP_EVENT_FAILED, /* it has, but it could not be switched on */
};

/* One event to record. */
struct tap_plan_event {
	char *system, *name;
	const struct tap_def *def; /* NULL: known only from tracefs */
	char *filter;		   /* kernel filter, or NULL */
	const struct tap_backend_ops *backend;
	enum tap_event_status status;
	char *reason; /* why it is absent or failed */
};

/*
 * Events that the kernel does not have: those of programs, which may come while the recording
 * runs. They join the plan's events as they are found.
 */
struct tap_plan_pattern {
	const struct tap_select_word *word; /* NULL: all; borrowed */
	char *note; /* what the user should know about it, or NULL */
};

struct tap_plan {
	struct tap_plan_event *events;
	unsigned int nr_events;
	struct tap_plan_pattern *patterns;
	unsigned int nr_patterns;
	const struct tap_select *select; /* processes and threads by the recorder's numbers; borrowed */
	bool follow; /* children of its processes too */
	struct tap_pids pids;
	uint64_t buffer_bytes; /* per CPU */
	uint64_t program_bytes; /* per program and CPU; 0: as the program has it */
	unsigned int nr_cpus;  /* tap_machine_nr_cpus() */
	bool bpf_ringbuf;      /* use the fallback transport (tests) */
};

/* What one drain moved. */
struct tap_drain {
	uint64_t events; /* 0 where the backend cannot know without decoding */
	uint64_t bytes, lost;
	bool reset; /* events were discarded in a ring by others, and nobody knows how many */
	unsigned int fill_pct; /* of the fullest CPU's ring, before it was drained */
};

struct tap_backend_ops {
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
	/* Adds its buffer to the spool; from here on events flow. */
	int (*start)(void *state, struct tap_page_writer *writer, struct tap_err *err);
	/*
	 * Looks for what there is to record beside what was planned. @anew: whether describe() says
	 * more than the last time, which is written down before the next drain. May be NULL.
	 */
	int (*find)(void *state, bool *anew, struct tap_err *err);
	/* Moves what is there. @last: after stop, take incomplete pages too. */
	int (*drain)(void *state, bool last, struct tap_drain *res, struct tap_err *err);
	/*
	 * Whether to go on. @left: of the scope's processes, how many the kernel has not seen end; those that wait for the
	 * recorder's end have ended as well. Children that they forked may still record. NULL: while there are any left.
	 */
	bool (*lives)(void *state, unsigned int left);
	/* Return: a descriptor that is readable when a drain should not wait; -1: none is. NULL: none ever is. */
	int (*calls)(const void *state);
	/* No event is recorded after this returns. */
	int (*stop)(void *state, struct tap_err *err);
	/* Adds its share of the price and its loss totals to the meta. May be NULL. */
	void (*account)(void *state, json_t *price);
	/* Adds what else only it knows to the meta. May be NULL. */
	void (*tell)(void *state, json_t *meta);
	void (*free)(void *state);
};

extern const struct tap_backend_ops tap_backend_bpf;
extern const struct tap_backend_ops tap_backend_tracefs;
extern const struct tap_backend_ops tap_backend_user;

/* Sets an event's outcome; the reason is a printf format. */
void tap_plan_outcome(struct tap_plan_event *ev, enum tap_event_status status, const char *fmt, ...)
	TAP_PRINTF(3, 4);

#endif
