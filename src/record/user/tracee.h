/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A tracee is a program that this recording records, with its wanted events and the rings that are
 * read. A failure of one program is reported with it and does not affect others.
 */
#ifndef TAP_RECORD_USER_TRACEE_H
#define TAP_RECORD_USER_TRACEE_H

#include <jansson.h>

#include "record/backend.h"
#include "record/user/filters.h"
#include "record/user/programs.h"
#include "record/user/rings.h"

/* Values in tap_user_tracee.ids besides the recording's ids. */
#define TAP_USER_ID_UNKNOWN 0u
#define TAP_USER_ID_UNWANTED 1u

struct tap_user_source {
	struct tap_user_reader reader;
	struct tap_user_tracee *tracee;
	struct tap_user_item item; /* the next item, or TAP_USER_NOTHING */
	uint64_t ns; /* the item's time */
	uint64_t last_ns; /* the previous item's time */
	bool stuck; /* the item's kind is unknown; it is looked for once */
	bool failed; /* not read any more */
	uint64_t taken; /* number of records read, also unwanted ones */
	/*
	 * the last record's thread id, as the program recorded it and in the recorder's pid
	 * namespace; 0: none yet
	 */
	uint32_t tid, tid_here;
};

struct tap_user_tracee {
	struct tap_user_program *p;
	uint16_t *ids; /* indexed by the program's event ids */
	unsigned int nr_ids;
	struct tap_user_source **sources;
	unsigned int nr_sources, cap_sources;
	/* number of the program's events and rings that were processed */
	unsigned int events_seen, rings_seen;
	bool *switched; /* by event: switched on by this recording */
	unsigned int nr_switched;
	bool *filtered; /* by event: its filter, or its having none, was set by this recording */
	unsigned int nr_filtered;
	enum tap_user_from from; /* for the rings that existed when it was found */
	bool locked;
	uint32_t pid; /* its pid in the recording; 0: unknown */
	bool over; /* ended and drained to the end */
	uint8_t mode; /* the rings' mode before this recording */
	/* changed with each drain, which shows the program that the recorder is alive */
	uint8_t drained;
	/* time of the last refresh, check and loss report */
	uint64_t refreshed_ns, alive_ns, lost_ns;
	uint64_t told_lost; /* part of the program's `lost` that was reported */
	uint64_t events, lost, raised;
	bool lost_unknown; /* the number of some losses is unknown: .lost is a lower bound */
	bool is_anothers; /* another recorder records it */
	char *why; /* why it is not recorded, or not completely */
	/*
	 * thread id in its records -> id in the recorder's pid namespace; UINT32_MAX: not one of
	 * its threads
	 */
	struct tap_map tids;
};

/* What determines which programs are recorded, and how. */
struct tap_user_choice {
	struct tap_plan *plan;
	uint8_t ring_shift;
	struct tap_user_pool *pool;
	/*
	 * set of .made_ns: of the control files of selected processes and their descendants; a
	 * program is a child of one if its .parent_ns is in the set
	 */
	struct tap_map families;
	bool stopped; /* do not switch anything on any more */
};

/*
 * Return true if the filters by task select this program. If processes are selected (-p), programs
 * forked from them are, too: so call this for parents first.
 */
bool tap_user_in_scope(struct tap_user_choice *c, struct tap_user_program *p);
/* Return true if a pattern of the plan matches the kind. */
bool tap_user_is_wanted(const struct tap_plan *plan, const struct tap_user_kind *kind);

/*
 * @from: TAP_USER_NOW: events that are on were on before this recording; else its session file
 * switched them on. Return: NULL if out of memory.
 */
struct tap_user_tracee *tap_user_tracee_new(struct tap_user_program *p, enum tap_user_from from);
/* Switch off what was switched on, and unlock the program. */
void tap_user_tracee_free(struct tap_user_tracee *t);

/* Lock the program for this recording; on failure, .why has the reason. */
void tap_user_tracee_attach(struct tap_user_tracee *t, const struct tap_user_choice *c);

/* How a recording uses a kind. */
struct tap_user_use {
	unsigned int id; /* TAP_USER_ID_UNWANTED: it cannot be recorded */
	const struct tap_user_filter *filter; /* NULL: all events are wanted */
};

/*
 * Process new events and rings of the program: call @use_of for wanted kinds, set filters, and
 * switch events on. Return: 0 or -ENOMEM.
 */
int tap_user_tracee_update(struct tap_user_tracee *t, const struct tap_user_choice *c,
			   struct tap_user_use (*use_of)(void *ctx,
							 const struct tap_user_kind *kind),
			   void *ctx);

/* Switch off what this recording switched on, and remove its filters. */
void tap_user_tracee_switch_off(struct tap_user_tracee *t);

/*
 * Return true if the rings discard new events when they are full, so that nothing is overwritten
 * before it is drained. A program may have set them to overwrite because it saw no living recorder
 * just before this one came: then set the mode again. Call this after heads have been read.
 */
bool tap_user_tracee_waits(struct tap_user_tracee *t);

/* Set the reason of a failure; the first one is kept. */
void tap_user_tracee_fail(struct tap_user_tracee *t, const char *why);

/* @count: number of lost events; 0: unknown. */
void tap_user_count_lost(struct tap_user_tracee *t, uint64_t count, struct tap_drain *res);

json_t *tap_user_tracee_json(const struct tap_user_tracee *t);

#endif
