/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The tasks and CPUs to which a recording was limited, as its description says ("only"). It has all
 * events of these: that is the promise which the timeline is given (timeline/promise.h).
 *
 * The filter's own words are not enough for that. A process's new threads and, with --follow, the
 * children of a recorded task are recorded as well, and with -g a task is recorded while it is in
 * one of the cgroups. So the recording's births and moves are read first: one pass, in time order,
 * tap_limits_event() for each event and then tap_limits_end().
 */
#ifndef TAP_ANALYSIS_LIMITS_H
#define TAP_ANALYSIS_LIMITS_H

#include <jansson.h>

#include "event/select/select.h"
#include "timeline/run/cgroups.h"
#include "timeline/timeline.h"

struct tap_limits {
	/* NULL: the recording is not limited, or its limits are not known */
	const struct tap_promise *promise;
	struct tap_promise own;
	struct tap_cpus cpus; /* owned; -C */
	json_t *only; /* as "only" is; NULL: there is no .promise */
	/* owned; -p, -t, -c and -g as they were given; NULL: no filter by task */
	struct tap_select *select;
	bool follows; /* --follow */
	const struct tap_cgroups *cgroups; /* borrowed */
	struct tap_timeline *lives; /* of the pass; NULL before and after it */
	const struct tap_lists *lists; /* borrowed, for the pass */
	struct tap_map tids; /* recorded because of -p or -t */
	/* With -g: when a task entered the cgroups, or left them. */
	struct tap_limit_move {
		uint64_t ns;
		unsigned int before; /* of the same tid: index plus one; 0: none */
		bool inside;
	} * moves; /* owned */
	unsigned int nr_moves, cap_moves;
	struct tap_map newest; /* tid -> index of its newest move, plus one */
};

/*
 * Reads the limits from @meta, the description, or NULL. An older description has the command line
 * instead of "only" (timeline/run/limits_command.h). Malformed members limit nothing. Return: 0;
 * -E2BIG: its filter has more patterns than recorders accept, and matching them would take minutes;
 * -ENOMEM.
 */
int tap_limits_init(struct tap_limits *l, const json_t *meta, const struct tap_cgroups *cgroups);
void tap_limits_release(struct tap_limits *l);

/* The limits of a recording without .promise, as "only" is (limits_content.h); taken. Return: 0 or
 * -ENOMEM. */
int tap_limits_set(struct tap_limits *l, json_t *only);

/* Return true if keeping the promise needs the pass over births and moves. */
static inline bool tap_limits_ask_tasks(const struct tap_limits *l)
{
	return l->select && (l->select->by & ~(unsigned int)TAP_SELECT_COMMS);
}

/* @lists: of tasks; must outlive the pass. Return: 0 or -ENOMEM, as are the others. */
int tap_limits_begin(struct tap_limits *l, const struct tap_lists *lists);
/* The mark (tap_reader_mark()) of the events that it needs; 0 of others. */
uint16_t tap_limits_mark(void *unused, const struct tap_format *fmt);
int tap_limits_event(struct tap_limits *l, const struct tap_event *ev);
int tap_limits_end(struct tap_limits *l);

#endif
