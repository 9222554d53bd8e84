/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * State of the backend for programs' events. discovery.c decides which programs are recorded,
 * merge.c moves their records.
 */
#ifndef TAP_RECORD_USER_STATE_H
#define TAP_RECORD_USER_STATE_H

#include "record/user/clock.h"
#include "record/user/filters.h"
#include "record/user/out.h"
#include "record/user/sessions.h"
#include "record/user/tracee.h"

#define TAP_USER_ID_FIRST 0x4000u /* above a kernel's event ids */
#define TAP_USER_ID_LAST 0x6fffu /* below those of schedtap's own definitions */

struct tap_user_recorded_kind {
	const struct tap_user_kind *kind;
	unsigned int id;
	struct tap_buf text;
	struct tap_user_filter *filter; /* owned; NULL: all events are wanted */
	/* text of a filter that is invalid for this kind; borrowed from the plan; NULL: none */
	const char *refused;
	bool reported; /* the plan reported `refused` at the start */
};

/* The sources of a CPU. Those with an item come first, as a heap with the earliest on top. */
struct tap_user_cpu {
	struct tap_user_source **v;
	unsigned int nr, cap, ready;
};

struct tap_user_state {
	struct tap_plan *plan; /* the session's */
	/* this backend's operations, for the events that it adds to the plan */
	const struct tap_backend_ops *ops;
	struct tap_user_set *set;
	struct tap_user_choice choice;
	struct tap_user_sessions sessions;
	struct tap_user_clock clock;
	/* time at the start of the drain, which takes items up to mono_ns */
	struct tap_user_pair now;
	unsigned int next_other, next_to_refresh;
	bool anew;
	struct tap_user_recorded_kind *recorded; /* the kinds that have an id in the recording */
	unsigned int nr_recorded, cap_recorded;
	unsigned int nr_first_kinds; /* number of kinds that existed when the recording began */
	uint16_t *kind_ids; /* by a kind's number; 0: not decided yet */
	unsigned int nr_kind_ids;
	struct tap_head_format *formats;
	struct tap_buf lost_text;
	struct tap_user_tracee **tracees;
	unsigned int nr_tracees, cap_tracees;
	struct tap_user_cpu *cpus;
	struct tap_user_out out;
	struct tap_user_pool pool;
	struct tap_user_source **busy; /* sources whose rings were filling at the last poll */
	unsigned int nr_busy, cap_busy;
	/* when this drain makes way for other backends; when to poll busy rings again */
	uint64_t pause_ns, relieve_ns;
	bool paused; /* the drain left items */
	unsigned int steps; /* records since the clock was last read */
	unsigned int first_cpu; /* the CPU that the next drain starts with */
	uint64_t scanned_ns, start_ns, pids_read_ns;
	json_t *past; /* programs that have ended or are missing */
};

/* Read the clocks into s->now. */
void tap_user_set_now(struct tap_user_state *s);

/*
 * Discover the kinds of running programs, so that they are in the recording's head from the start.
 */
int tap_user_discover_kinds(struct tap_user_state *s, struct tap_err *err);
/* Add the running programs; all others have come later. */
int tap_user_discover_first(struct tap_user_state *s, struct tap_err *err);
/* Add new programs. */
int tap_user_discover_new(struct tap_user_state *s, struct tap_err *err);

/* The backend's find(): if it is time, add new programs and read known ones again. */
int tap_user_discover(void *state, bool *anew, struct tap_err *err);
/*
 * At the end, compare programs that say they record with those that were recorded (account.c).
 * Missing programs are reported by name, as a loss.
 */
int tap_user_lose_programs(struct tap_user_state *s, struct tap_drain *res, struct tap_err *err);

/* The backend's goes_on() and drain(). */
bool tap_user_lives(void *state, unsigned int left);
int tap_user_drain(void *state, enum tap_drain_depth depth, struct tap_drain *res,
		   struct tap_err *err);

#endif
