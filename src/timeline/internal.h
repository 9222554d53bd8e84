/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The state of a timeline, for the files of this folder. An event goes to fast_path.h and, if that
 * does not handle it, to events.c, which updates tasks (tasks.h, lives.h) and CPUs (cpus.h). Both
 * decide by the table in transitions.h. When a task leaves its state, intervals.h decides whether
 * the time spent there is certain, using the holes that holes.h has applied so far.
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
	uint64_t now_ns; /* time of the last event */
	struct tap_cpu *cpus;
	unsigned int nr_cpus, cap_cpus;
	int max_cpus; /* CPU numbers in events must be lower: the machine has no more CPUs */
	struct tap_tasks tasks;
	struct tap_sched_formats formats;
	struct tap_prev_states prev_states;
	const struct tap_format *prev_states_of;
	unsigned int buffer[TAP_NR_SCHED_KINDS];
	bool has_waking, has_wakeup, has_migrate, has_breaks;
	bool lacks_cpus; /* some CPUs are not recorded */
	bool no_wakeups; /* the survey found no wakeup events: a sleep lasts until the task runs */
	bool has_queueings; /* see tap_survey_has_queueings(): a sleep lasts until the queueing */

	/* for the fast path: the event formats it handles, and when it may be used */
	struct tap_format no_format; /* a format that no event has; a NULL format marks a loss */
	const struct tap_format *switch_fmt, *waking_fmt, *lean_fmt;
	const struct tap_sched_fields *switches, *wakings;
	/* no hole that is known so far overlaps what began at this time or later */
	uint64_t fast_since_ns;
	/* it may be used in [fast_from_ns, fast_from_ns + fast_ns) */
	uint64_t fast_from_ns, fast_ns;

	/* next entries of the survey, which are applied when their time comes */
	uint64_t next_hole_ns; /* when the next hole, loss or origin is applied */
	uint64_t next_break_ns; /* start of the first break that is not in the past */
	unsigned int next_hole, next_loss, next_break, next_origin;
	uint64_t hole_end_ns; /* the latest end of all holes that have begun */
	/*
	 * the latest end of intervals that have begun in which sched_switch was switched off on an
	 * unknown CPU
	 */
	uint64_t off_end_ns;
};

/*
 * Return @cpu, which an event names, or -1 if the machine has no such CPU: a damaged event must not
 * make reports allocate or show rows for it.
 */
static inline int tap_cpu_named(const struct tap_timeline *t, int cpu)
{
	return cpu < t->max_cpus ? cpu : -1;
}

#endif
