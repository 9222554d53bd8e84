/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The tasks and CPUs to which a recording was limited, from the member "only" of its description.
 * The recording has all events of these tasks and CPUs: the timeline gets that guarantee as a
 * struct tap_promise (timeline/promise.h).
 *
 * The options -p, -t, -c and -g alone do not determine the set of tasks. New threads of a recorded
 * process and, with --follow, children of a recorded task are recorded too, and with -g a task is
 * recorded while it is in one of the cgroups. So task creation and cgroup moves are read first, in
 * one pass in time order: tap_limits_begin(), tap_limits_event() for each event, tap_limits_end().
 */
#ifndef TAP_ANALYSIS_LIMITS_H
#define TAP_ANALYSIS_LIMITS_H

#include <jansson.h>

#include "event/select/select.h"
#include "timeline/run/cgroups.h"
#include "timeline/timeline.h"

struct tap_limits {
	/* NULL: the recording is not limited, or its limits are unknown */
	const struct tap_promise *promise;
	struct tap_promise own;
	struct tap_cpus cpus; /* owned; -C */
	json_t *only; /* the member "only", owned; NULL: there is no .promise */
	/* owned; the values of -p, -t, -c and -g; NULL: no filter by task */
	struct tap_select *select;
	bool follows; /* --follow */
	const struct tap_cgroups *cgroups; /* borrowed */
	struct tap_timeline *lives; /* owned; used during the pass, otherwise NULL */
	const struct tap_lists *lists; /* borrowed, for the pass */
	struct tap_map tids; /* tids that are recorded because of -p or -t */
	/* With -g: the times at which tasks entered or left the cgroups. */
	struct tap_limit_move {
		uint64_t ns;
		unsigned int before; /* the same tid's previous move: its index plus one; 0: none */
		bool inside;
	} * moves; /* owned */
	unsigned int nr_moves, cap_moves;
	struct tap_map newest; /* tid -> index of its latest move, plus one */
};

/*
 * Read the limits from @meta, the recording's description, which may be NULL. An older description
 * has the command line instead of "only" (timeline/run/limits_command.h). Malformed members are
 * ignored.
 *
 * Return: 0; -E2BIG: the filter has more patterns than any recorder accepts, and matching them
 * would take minutes; -ENOMEM.
 */
int tap_limits_init(struct tap_limits *l, const json_t *meta, const struct tap_cgroups *cgroups);
void tap_limits_release(struct tap_limits *l);

/*
 * Set the limits of a recording that has no .promise. @only: an object like the description's
 * "only" (limits_content.h); ownership passes to @l. Return: 0 or -ENOMEM.
 */
int tap_limits_set(struct tap_limits *l, json_t *only);

/* Return true if the pass over task creation and cgroup moves is needed. */
static inline bool tap_limits_ask_tasks(const struct tap_limits *l)
{
	return l->select && (l->select->by & ~(unsigned int)TAP_SELECT_COMMS);
}

/*
 * Begin the pass. @lists: the task lists; must outlive the pass. Return: 0 or -ENOMEM, also for the
 * functions below.
 */
int tap_limits_begin(struct tap_limits *l, const struct tap_lists *lists);
/* The mark function (tap_reader_mark()) for the pass: 0 for events that it does not need. */
uint16_t tap_limits_mark(void *unused, const struct tap_format *fmt);
int tap_limits_event(struct tap_limits *l, const struct tap_event *ev);
int tap_limits_end(struct tap_limits *l);

#endif
