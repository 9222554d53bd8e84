/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a timeline keeps, for the files of this room. An event goes to fast_path.h, and if that does
 * not fit it to events.c, which knows what it means for tasks (tasks.h, lives.h) and CPUs (cpus.h).
 * Both decide by the table in transitions.h. When a task leaves its state, intervals.h judges
 * whether the time it spent there is certain, by the holes that holes.h has brought up to date.
 */
#ifndef TAP_TIMELINE_INTERNAL_H
#define TAP_TIMELINE_INTERNAL_H

#include "timeline/prev_state.h"
#include "timeline/tasks.h"
#include "timeline/watchers.h"

/*
 * A waking of a task that still runs is either over at once (the task stays runnable), or finds the
 * task going to sleep. Then the task is switched out within this time, unless interrupts, a
 * contended run-queue lock or a hypervisor delay one of the two CPUs. So a waking within this time
 * casts doubt on a sleep, and an earlier waking counts only where events prove it.
 */
#define TAP_ON_ITS_WAY_OUT_NS 10000u

struct tap_timeline {
	struct tap_timeline_opts opts;
	struct tap_watchers watchers;
	uint64_t now_ns; /* of the last event */
	struct tap_cpu *cpus;
	unsigned int nr_cpus, cap_cpus;
	int max_cpus; /* events name only CPUs below: the machine has no more */
	struct tap_tasks tasks;
	struct tap_sched_formats formats;
	struct tap_prev_states prev_states;
	const struct tap_format *prev_states_of;
	unsigned int buffer[TAP_NR_SCHED_KINDS];
	bool has_waking, has_wakeup, has_migrate, has_breaks;
	bool lacks_cpus; /* some are not recorded */
	bool no_wakeups; /* the survey says so: a sleep lasts until its task runs */

	/* of the fast path: the formats it is for, and when */
	struct tap_format no_format; /* no event has it; none at all is what a loss has */
	const struct tap_format *switch_fmt, *waking_fmt;
	const struct tap_sched_fields *switches, *wakings;
	uint64_t fast_since_ns; /* what has lasted from then on is touched by no hole yet */
	uint64_t fast_from_ns, fast_ns; /* its first instant, and how many more it is for */

	/* what the survey knows takes effect when its time comes */
	uint64_t next_hole_ns; /* of the next hole or loss */
	uint64_t next_break_ns; /* of the first break that is not in the past */
	unsigned int next_hole, next_loss, next_break, next_origin;
	uint64_t hole_end_ns; /* of those that have begun, the latest */
	/* likewise, of those in which switches were off for a part that nobody knows */
	uint64_t off_end_ns;
};

/* Return: the CPU that an event names; -1 if the machine has none of this number: a damaged event
 * must not make reports allow for it. */
static inline int tap_cpu_named(const struct tap_timeline *t, int cpu)
{
	return cpu < t->max_cpus ? cpu : -1;
}

#endif
