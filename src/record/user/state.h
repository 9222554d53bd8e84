/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the backend for programs' events knows, and its two halves: discovery.c says who takes part,
 * merge.c moves what they recorded.
 */
#ifndef TAP_RECORD_USER_STATE_H
#define TAP_RECORD_USER_STATE_H

#include "record/user/clock.h"
#include "record/user/filters.h"
#include "record/user/out.h"
#include "record/user/sessions.h"
#include "record/user/tracee.h"

#define TAP_USER_ID_FIRST 0x4000u /* above a kernel's, */
#define TAP_USER_ID_LAST 0x6fffu /* below those of our own definitions */

struct tap_user_recorded_kind {
	const struct tap_user_kind *kind;
	unsigned int id;
	struct tap_buf text;
	struct tap_user_filter *filter; /* owned; NULL: all are wanted */
	/* a filter that makes no sense for it; borrowed from the plan; NULL: none */
	const char *refused;
	bool told; /* .. which the plan said at the start */
};

/* The sources of a CPU; those with an item stand first, as a heap: the earliest on top. */
struct tap_user_cpu {
	struct tap_user_source **v;
	unsigned int nr, cap, ready;
};

struct tap_user_state {
	struct tap_plan *plan; /* the session's */
	/* its own: the backend of the events that it adds to the plan */
	const struct tap_backend_ops *ops;
	struct tap_user_set *set;
	struct tap_user_choice choice;
	struct tap_user_sessions sessions;
	struct tap_user_clock clock;
	struct tap_user_pair now; /* when the drain began: mono_ns is the limit of what it takes */
	unsigned int next_other, next_to_refresh;
	bool anew;
	struct tap_user_recorded_kind *recorded; /* the kinds that have an id */
	unsigned int nr_recorded, cap_recorded;
	unsigned int nr_first_kinds; /* that programs had when the recording began */
	uint16_t *kind_ids; /* by the kind's number; 0: not asked for yet */
	unsigned int nr_kind_ids;
	struct tap_head_format *formats;
	struct tap_buf lost_text;
	struct tap_user_tracee **tracees;
	unsigned int nr_tracees, cap_tracees;
	struct tap_user_cpu *cpus;
	struct tap_user_out out;
	struct tap_user_pool pool;
	struct tap_user_source **busy; /* whose rings fill: when heads were read last */
	unsigned int nr_busy, cap_busy;
	/* when this drain makes way for others; when busy rings are polled again */
	uint64_t pause_ns, relieve_ns;
	bool paused; /* there is more */
	unsigned int steps; /* records since the clock was read last */
	unsigned int first_cpu; /* whose turn it is */
	uint64_t scanned_ns, start_ns, pids_read_ns;
	json_t *past; /* programs that are over, or missing */
};

/* Reads the clocks. */
void tap_user_set_now(struct tap_user_state *s);

/* What programs that are there have, so that it stands in the recording's head from the start. */
int tap_user_discover_kinds(struct tap_user_state *s, struct tap_err *err);
/* Adds those that are there; from now on, all others have come later. */
int tap_user_discover_first(struct tap_user_state *s, struct tap_err *err);
/* Adds those that came. */
int tap_user_discover_new(struct tap_user_state *s, struct tap_err *err);

/* The backend's find(): the same, when it is time, and reads those that are known anew. */
int tap_user_discover(void *state, bool *anew, struct tap_err *err);
/*
 * At the end: compares the programs that say that they record with those that were recorded
 * (account.c). The difference is a loss, of programs that are named.
 */
int tap_user_lose_programs(struct tap_user_state *s, struct tap_drain *res, struct tap_err *err);

/* Its goes_on(), its drain(). */
bool tap_user_lives(void *state, unsigned int left);
int tap_user_drain(void *state, enum tap_drain_depth depth, struct tap_drain *res,
		   struct tap_err *err);

#endif
