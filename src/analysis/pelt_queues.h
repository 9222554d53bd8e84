/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which tasks are in the fair class's queue of each CPU, and of a cgroup there, according to the
 * timeline: the inputs of load tracking for a queue's averages, and for those of the entity that
 * represents a cgroup in its parent's queue.
 *
 * A task is queued while it runs and while it waits: from its sched_wakeup on, or from sched_waking
 * on if sched_wakeup is not recorded. Other tasks that have had no event yet may be queued too:
 * none once the CPU was idle, because its queue was empty then; otherwise as many as
 * sched_update_nr_running (v6.14) leaves. A loss makes them unknown again.
 *
 * sched_pelt_se shows which group the scheduler has a task in: a cgroup with the CPU controller, or
 * none (an autogroup). Before that event the task list shows the task's cgroup, and so the groups
 * above it; it is then not known to which queue the task's weight belongs.
 *
 * A task that goes to sleep while others run may stay in its queue, where it adds only its weight
 * (delayed dequeue, v6.12): until the CPU is idle, or an event shows that no such tasks remain. The
 * entity of its group may stay queued too, until the CPU is idle. At such a sleep, and at the
 * wakeup that ends it, only the task's own queue is updated before its number of tasks changes.
 * Queues above it count the new number from their last update on, and the entities in between keep
 * their number until a task of their group is enqueued or dequeued.
 */
#ifndef TAP_ANALYSIS_PELT_QUEUES_H
#define TAP_ANALYSIS_PELT_QUEUES_H

#include <limits.h>

#include "timeline/run/cgroups.h"
#include "timeline/timeline.h"
#include "analysis/losses.h"

/*
 * A switch or a wakeup updates the averages of its tasks before it is traced, all with one clock
 * reading. The time between such an update and the event that follows it within this time does not
 * belong to the state that seems to end with the event.
 */
#define TAP_PELT_SAME_SWITCH_NS 20000u

struct tap_pelt_group {
	uint64_t cgroup; /* kernfs id; TAP_PELT_ROOT: all tasks of the CPU */
	const char *path; /* NULL: not known */
};

#define TAP_PELT_ROOT 1u
#define TAP_PELT_ANY_NUMBER UINT_MAX

/* Where a task is, relative to a group. */
enum tap_pelt_place {
	TAP_PELT_OUTSIDE,
	TAP_PELT_DIRECT, /* in the group's own queue */
	TAP_PELT_BELOW, /* in the queue of a group below it, or in one of these, unknown which */
	TAP_PELT_NOWHERE_KNOWN,
};

/* The state of a group on a CPU. */
struct tap_pelt_held {
	bool runs;
	/*
	 * runnable tasks, including groups below it: lower and upper bound; or TAP_PELT_ANY_NUMBER
	 */
	unsigned int nr, nr_max;
	uint64_t weight; /* total weight of the tasks and entities in its own queue */
	bool runs_known, weight_known;
	/* a sleeping task may still be queued there (delayed dequeue): .weight is not known */
	bool late;
	bool stale; /* and the .nr of the group's entity is not known either */
};

struct tap_pelt_queues_opts {
	const struct tap_survey *survey; /* after tap_survey_end() */
	const struct tap_cgroups *cgroups;
	/*
	 * Called when the state of this CPU's groups held until @ts_ns and is about to change.
	 * Return: 0, or -errno, which stops the run.
	 */
	int (*change)(void *ctx, const struct tap_timeline *t, int cpu, uint64_t ts_ns);
	/*
	 * Called when the task may have gone to sleep there and stayed queued, or is woken from
	 * such a sleep. May be NULL.
	 */
	void (*late)(void *ctx, int cpu, const struct tap_task *task, uint64_t ts_ns);
	void *ctx;
};

struct tap_pelt_queues {
	struct tap_pelt_queues_opts opts;
	bool has_wakeups; /* sched_wakeup was recorded */

	/* private */
	const struct tap_timeline *timeline; /* the timeline of the last call */
	struct tap_pelt_queue *queues; /* owned; indexed by CPU */
	struct tap_pelt_member *members; /* owned; indexed by tap_task.index */
	unsigned int nr_queues, nr_members;
	struct tap_queue_reading *reading; /* owned; the fields of the formats, by format id */
	unsigned int nr_reading;
	struct tap_losses losses;
	uint64_t at_ns; /* losses up to this time were applied */
};

/* @opts is copied. */
void tap_pelt_queues_init(struct tap_pelt_queues *q, const struct tap_pelt_queues_opts *opts);
void tap_pelt_queues_release(struct tap_pelt_queues *q);

/*
 * ctx: struct tap_pelt_queues. Also uses events that the timeline does not: sched_wakeup,
 * sched_update_nr_running, sched_pelt_se. Must come before watchers that call
 * tap_pelt_queues_held().
 */
extern const struct tap_watcher_ops tap_pelt_queues_ops;

enum tap_pelt_place tap_pelt_place_of(const struct tap_pelt_queues *q, const struct tap_task *task,
				      const struct tap_pelt_group *group);
/* Return @group's state on the CPU after the last event. After a loss everything is unknown. */
struct tap_pelt_held tap_pelt_queues_held(struct tap_pelt_queues *q, const struct tap_timeline *t,
					  int cpu, const struct tap_pelt_group *group,
					  uint64_t ts_ns);
/*
 * Return the cgroup's number in an event. TAP_PELT_ROOT for the root cgroup, also from 32-bit
 * kernels, whose numbers have a generation above it, and from kernels without groups. 0: an
 * autogroup.
 */
uint64_t tap_pelt_cgroup_in(const struct tap_num *cgroup, const struct tap_event *ev);
/*
 * Return the fair class's weight for a priority (sched_prio_to_weight[]); 0: another class, or
 * priority not known.
 */
uint64_t tap_pelt_weight(int prio);

#endif
