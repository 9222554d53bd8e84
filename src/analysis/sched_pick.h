/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What schedtap:sched_pick says (events/pick.h), in numbers that can be compared. */
#ifndef TAP_ANALYSIS_SCHED_PICK_H
#define TAP_ANALYSIS_SCHED_PICK_H

#include "timeline/sched_fields.h"

/* Groups above the task, at most (events/pick.h). */
#define TAP_PICK_LEVELS 8u

/* The entity of a group on its way to the CPU's queue. Units as in struct tap_sched_pick. */
struct tap_pick_level {
	int group;
	uint64_t weight;
	int64_t vtime, v, deadline; /* .vtime: of the queue that the entity stands in */
	uint64_t left_ns, protected_ns, slice_ns;
};

struct tap_sched_pick {
	uint64_t ts_ns;
	int cpu;
	/* who was picked; 0: another class picked, or it was picked that the owner of its mutex can
	 * run */
	int tid;
	int group;
	uint64_t weight;
	/* virtual, absolute: V, v, and of v's entity the deadline */
	int64_t vtime, v, deadline;
	/* so long it may run from here on: to its deadline, while protected (0: not told), and the
	 * slice it asks for (0: likewise) */
	uint64_t left_ns, protected_ns, slice_ns;
	int64_t lag_ns; /* what it is owed */
	/* it, those that wait, and those that sleep and are dequeued late; 0: not told */
	uint32_t nr_queued;
	/* the same without those that sleep; where that is not told, with them */
	uint32_t nr_runnable;
	/* of who leaves: it stays in the queue; it sleeps there; its cgroup is throttled, or it
	 * waits for a mutex there */
	bool prev_queued, prev_delayed, prev_stopped;
	unsigned int nr_levels; /* 0 also: not recorded, or not read */
	/*
	 * [0] is the entity of .group, which stands in its parent's queue; the last one stands in
	 * the CPU's own queue, unless there are TAP_PICK_LEVELS. Not part of this struct, which
	 * logs keep for each switch, because most tasks have one level or none.
	 */
	const struct tap_pick_level *levels;
};

/* The fields of one format. All zero: of none yet. */
struct tap_sched_pick_fields {
	const struct tap_format *fmt;
	struct tap_num tid, group, weight, vtime, lag, deadline, vprot, slice, nr_queued,
		nr_runnable, prev_queued, prev_delayed;
	struct tap_num donor, prev_throttled, prev_blocked;
	const struct tap_field *levels; /* NULL: not recorded */
};

/* Return: whether it is sched_pick, and has what the rest follows from. */
bool tap_sched_pick_init(struct tap_sched_pick_fields *f, const struct tap_format *fmt);
bool tap_is_sched_pick(const struct tap_format *fmt); /* likewise */
/* Reads .lag_ns alone. */
int64_t tap_sched_pick_lag_ns(const struct tap_sched_pick_fields *f, const struct tap_event *ev);
/* Reads all but the levels: @out has none. */
void tap_sched_pick_read(const struct tap_sched_pick_fields *f, const struct tap_event *ev,
			 struct tap_sched_pick *out);
/* Reads the levels of the same event into @levels, to which @out points from then on. */
void tap_sched_pick_read_levels(const struct tap_sched_pick_fields *f, const struct tap_event *ev,
				struct tap_pick_level levels[TAP_PICK_LEVELS],
				struct tap_sched_pick *out);
/* The same of events of any formats: @f becomes those of the event's. */
void tap_sched_pick_read_any(struct tap_sched_pick_fields *f, const struct tap_event *ev,
			     struct tap_sched_pick *out);

/* Of two virtual times, which wrap. */
static inline bool tap_vtime_before(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a - (uint64_t)b) < 0;
}

#endif
