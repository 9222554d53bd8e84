/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A tracee is a program that this recording records: which of its events are wanted, and the rings
 * that are read. What goes wrong with one program is told with it, and ends nothing else.
 */
#ifndef TAP_RECORD_USER_TRACEE_H
#define TAP_RECORD_USER_TRACEE_H

#include <jansson.h>

#include "record/backend.h"
#include "record/user/filters.h"
#include "record/user/programs.h"
#include "record/user/rings.h"

/* In tap_user_tracee.ids, beside the recording's ids. */
#define TAP_USER_ID_UNKNOWN 0u
#define TAP_USER_ID_UNWANTED 1u

struct tap_user_source {
	struct tap_user_reader reader;
	struct tap_user_tracee *tracee;
	struct tap_user_item item; /* the next one, or NOTHING */
	uint64_t ns; /* its time */
	uint64_t last_ns; /* of the one before */
	bool stuck; /* the item's kind is not yet known: it is searched for once */
	bool failed; /* it is read no more */
	uint64_t taken; /* records, also those that are not wanted */
	/* of its last record, as that has it and as we have it; 0: none yet */
	uint32_t tid, tid_here;
};

struct tap_user_tracee {
	struct tap_user_program *p;
	uint16_t *ids; /* by the program's id */
	unsigned int nr_ids;
	struct tap_user_source **sources;
	unsigned int nr_sources, cap_sources;
	unsigned int events_seen, rings_seen; /* of the program's */
	bool *switched; /* by event: by this recording */
	unsigned int nr_switched;
	bool *filtered; /* by event: its filter is ours, as is that it has none */
	unsigned int nr_filtered;
	enum tap_user_from from; /* of the rings that were there when it was found */
	bool locked;
	uint32_t pid; /* its number as the recording has it; 0: not known */
	bool over; /* dead, and drained to the end */
	uint8_t mode; /* of the rings, before */
	uint8_t drained; /* moved when it is drained: so the program knows that we live */
	uint64_t refreshed_ns, alive_ns, lost_ns; /* when last */
	uint64_t told_lost; /* of the program's lost */
	uint64_t events, lost, raised;
	bool lost_unknown; /* of some losses the number is not known: .lost is a lower bound */
	bool is_anothers; /* another recorder records it */
	char *why; /* it is not recorded, or not all of it */
	/* that its records name -> as our pid namespace has them; UINT32_MAX: nobody's */
	struct tap_map tids;
};

/* What decides about a recording's programs. */
struct tap_user_choice {
	struct tap_plan *plan;
	uint8_t ring_shift;
	struct tap_user_pool *pool;
	/* made_ns of files: of the scope's processes, and of what was forked from them */
	struct tap_map families;
	bool stopped; /* nothing is switched on any more */
};

/*
 * Whether the scope lets this program take part. Where it names processes, those that were forked
 * from them do: of parents this is to be asked first.
 */
bool tap_user_in_scope(struct tap_user_choice *c, struct tap_user_program *p);
/* Whether a pattern of the plan matches. */
bool tap_user_is_wanted(const struct tap_plan *plan, const struct tap_user_kind *kind);

/*
 * @from: NOW: what is on was on before this recording; else its session file switched that on.
 * Return: NULL when out of memory.
 */
struct tap_user_tracee *tap_user_tracee_new(struct tap_user_program *p, enum tap_user_from from);
/* Switches off what was switched on, gives the program back. */
void tap_user_tracee_free(struct tap_user_tracee *t);

/* Locks the program for this recording. Sets .why where that fails. */
void tap_user_tracee_attach(struct tap_user_tracee *t, const struct tap_user_choice *c);

/* What a recording makes of a kind. */
struct tap_user_use {
	unsigned int id; /* TAP_USER_ID_UNWANTED: it cannot be had */
	const struct tap_user_filter *filter; /* NULL: all are wanted */
};

/*
 * Takes note of what is new in the program: @use_of is asked of kinds that are wanted. Gives events
 * their filters, and switches them on. Return: 0 or -ENOMEM.
 */
int tap_user_tracee_update(struct tap_user_tracee *t, const struct tap_user_choice *c,
			   struct tap_user_use (*use_of)(void *ctx,
							 const struct tap_user_kind *kind),
			   void *ctx);

/* Switches off what this recording switched on, and takes its filters. */
void tap_user_tracee_switch_off(struct tap_user_tracee *t);

/*
 * Whether rings wait until they are drained. A program that found no recorder, and asked just
 * before there was one, has set them to do without: they are set right. To be asked when heads
 * have been read.
 */
bool tap_user_tracee_waits(struct tap_user_tracee *t);

/* Keeps the first reason. */
void tap_user_tracee_fail(struct tap_user_tracee *t, const char *why);

/* @count: events that were lost; 0: not known. */
void tap_user_count_lost(struct tap_user_tracee *t, uint64_t count, struct tap_drain *res);

json_t *tap_user_tracee_json(const struct tap_user_tracee *t);

#endif
