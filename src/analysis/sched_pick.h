/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The schedtap:sched_pick event (events/pick.h), decoded to comparable numbers. */
#ifndef TAP_ANALYSIS_SCHED_PICK_H
#define TAP_ANALYSIS_SCHED_PICK_H

#include "timeline/sched_fields.h"

/* limit for group levels above a task (events/pick.h) */
#define TAP_PICK_LEVELS 8u

/* The entity of a group between the task and the CPU's queue. Units: see struct tap_sched_pick. */
struct tap_pick_level {
	int group;
	uint64_t weight;
	int64_t vtime, v, deadline; /* .vtime: V of the queue that the entity is in */
	uint64_t left_ns, protected_ns, slice_ns;
};

struct tap_sched_pick {
	uint64_t ts_ns;
	int cpu;
	/*
	 * the picked task; 0: another class picked, or the task was picked so that the owner of its
	 * mutex can run (proxy execution)
	 */
	int tid;
	int group;
	uint64_t weight;
	/* absolute virtual times: the queue's V, the entity's v and deadline */
	int64_t vtime, v, deadline;
	/*
	 * how long the task may run from now on: until its deadline; while protected (0: not
	 * known); and its requested slice (0: not known)
	 */
	uint64_t left_ns, protected_ns, slice_ns;
	int64_t lag_ns; /* the task's lag: service that it is owed */
	/*
	 * tasks in the queue: the picked one, waiting ones, and sleeping ones (delayed dequeue); 0:
	 * not known
	 */
	uint32_t nr_queued;
	/* like .nr_queued, but without sleeping tasks; including them if that is not recorded */
	uint32_t nr_runnable;
	/*
	 * of the previous task: it stays queued; it sleeps in the queue; its cgroup is throttled or
	 * it waits for a mutex there
	 */
	bool prev_queued, prev_delayed, prev_stopped;
	unsigned int nr_levels; /* 0 also if levels are not recorded, or were not read */
	/*
	 * [0] is the entity of .group, in its parent's queue; the last one is in the CPU's own
	 * queue, unless there are TAP_PICK_LEVELS. Not stored in this struct, which logs keep for
	 * each switch, because most tasks have one level or none.
	 */
	const struct tap_pick_level *levels;
};

/* The fields of one format. All zero: no format yet. */
struct tap_sched_pick_fields {
	const struct tap_format *fmt;
	struct tap_num tid, group, weight, vtime, lag, deadline, vprot, slice, nr_queued,
		nr_runnable, prev_queued, prev_delayed;
	struct tap_num donor, prev_throttled, prev_blocked;
	const struct tap_field *levels; /* NULL: not recorded */
};

/* Look up the fields. Return: true if the format is sched_pick and has all required fields. */
bool tap_sched_pick_init(struct tap_sched_pick_fields *f, const struct tap_format *fmt);
bool tap_is_sched_pick(const struct tap_format *fmt); /* sched_pick with all required fields */
/* Read only .lag_ns. */
int64_t tap_sched_pick_lag_ns(const struct tap_sched_pick_fields *f, const struct tap_event *ev);
/* Read all but the levels: @out has none. */
void tap_sched_pick_read(const struct tap_sched_pick_fields *f, const struct tap_event *ev,
			 struct tap_sched_pick *out);
/* Read the levels of the same event into @levels; @out points to them after that. */
void tap_sched_pick_read_levels(const struct tap_sched_pick_fields *f, const struct tap_event *ev,
				struct tap_pick_level levels[TAP_PICK_LEVELS],
				struct tap_sched_pick *out);
/*
 * Read an event of any format like tap_sched_pick_read(): @f is set to the fields of the event's
 * format.
 */
void tap_sched_pick_read_any(struct tap_sched_pick_fields *f, const struct tap_event *ev,
			     struct tap_sched_pick *out);

/* Return true if @a is before @b. Virtual times wrap. */
static inline bool tap_vtime_before(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a - (uint64_t)b) < 0;
}

#endif
