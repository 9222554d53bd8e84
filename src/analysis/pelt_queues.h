/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Who is in the fair class's queue of each CPU, and of a cgroup there, by what the timeline tells:
 * what load tracking makes a queue's averages of, and those of the entity that a cgroup is in its
 * parent's queue.
 *
 * A task is queued while it runs and while it waits, from its sched_wakeup on; where that was not
 * recorded from sched_waking on. Others may wait there that nothing was told of yet: none of them
 * from when the CPU was idle on, for then its queue was empty, and else as many as
 * sched_update_nr_running (v6.14) leaves. A loss makes them unknown again.
 *
 * In which group the scheduler has a task its sched_pelt_se tells: a cgroup with the CPU
 * controller, or none (an autogroup). Before that the list of tasks says in which cgroup it is, so
 * below which groups; and which task's weight is in which queue is not known.
 *
 * Who went to sleep beside others may stay in its queue, and then adds to its weight alone (delayed
 * dequeue, v6.12): until the CPU is idle, or is told to have none of these. So may the entity of
 * its group: until the CPU is idle. Of such a sleep, and of the wakeup that ends it, only the
 * task's own queue is updated before its number changes: those above count the new one from their
 * last update on, and the entities between keep the number that they had until a task of their
 * group is enqueued or dequeued.
 */
#ifndef TAP_ANALYSIS_PELT_QUEUES_H
#define TAP_ANALYSIS_PELT_QUEUES_H

#include <limits.h>

#include "timeline/run/cgroups.h"
#include "timeline/timeline.h"
#include "analysis/losses.h"

/*
 * A switch or a wakeup updates who comes and who goes before it is traced, all with one reading of
 * the clock. What lies between such an update and the event that follows it so soon is not the
 * state that seems to end there.
 */
#define TAP_PELT_SAME_SWITCH_NS 20000u

struct tap_pelt_group {
	uint64_t cgroup; /* kernfs id; TAP_PELT_ROOT: all tasks of the CPU */
	const char *path; /* NULL: not known */
};

#define TAP_PELT_ROOT 1u
#define TAP_PELT_ANY_NUMBER UINT_MAX

/* Where a task is as seen from a group. */
enum tap_pelt_place {
	TAP_PELT_OUTSIDE,
	TAP_PELT_DIRECT, /* itself in the group's own queue */
	TAP_PELT_BELOW, /* in that of a group below it, or nobody knows in which */
	TAP_PELT_NOWHERE_KNOWN,
};

/* What a group has on a CPU. */
struct tap_pelt_held {
	bool runs;
	/* runnable, with those of groups below it: at least, and at most; TAP_PELT_ANY_NUMBER */
	unsigned int nr, nr_max;
	uint64_t weight; /* of what is in its own queue */
	bool runs_known, weight_known;
	bool late; /* someone may sleep there in a queue: .weight is not known */
	bool stale; /* nor is the .nr that the group's entity has */
};

struct tap_pelt_queues_opts {
	const struct tap_survey *survey; /* after its end */
	const struct tap_cgroups *cgroups;
	/* What is held on this CPU was so up to @ts_ns, and will be something else. Return: 0, or
	 * -errno, which stops. */
	int (*change)(void *ctx, const struct tap_timeline *t, int cpu, uint64_t ts_ns);
	/* The task may have gone to sleep there and stayed queued, or is woken out of that. Or
	 * NULL. */
	void (*late)(void *ctx, int cpu, const struct tap_task *task, uint64_t ts_ns);
	void *ctx;
};

struct tap_pelt_queues {
	struct tap_pelt_queues_opts opts;
	bool has_wakeups; /* sched_wakeup was recorded */

	/* inside */
	const struct tap_timeline *timeline; /* the one that called last */
	struct tap_pelt_queue *queues; /* owned; by CPU */
	struct tap_pelt_member *members; /* owned; by tap_task.index */
	unsigned int nr_queues, nr_members;
	struct tap_queue_reading *reading; /* owned; by format */
	unsigned int nr_reading;
	struct tap_losses losses;
	uint64_t at_ns; /* losses up to here are known */
};

/* @opts is copied. */
void tap_pelt_queues_init(struct tap_pelt_queues *q, const struct tap_pelt_queues_opts *opts);
void tap_pelt_queues_release(struct tap_pelt_queues *q);

/*
 * ctx: struct tap_pelt_queues. Its events say more than the timeline does: sched_wakeup,
 * sched_update_nr_running, sched_pelt_se. Must come before watchers that ask for what is held.
 */
extern const struct tap_watcher_ops tap_pelt_queues_ops;

enum tap_pelt_place tap_pelt_place_of(const struct tap_pelt_queues *q, const struct tap_task *task,
				      const struct tap_pelt_group *group);
/* What @group holds on the CPU, as of what was told last. Where that was a loss nothing is known.
 */
struct tap_pelt_held tap_pelt_queues_held(struct tap_pelt_queues *q, const struct tap_timeline *t,
					  int cpu, const struct tap_pelt_group *group,
					  uint64_t ts_ns);
/* The number of a cgroup in an event: of the root TAP_PELT_ROOT, above which 32-bit kernels count,
 * and of kernels without groups. 0: an autogroup. */
uint64_t tap_pelt_cgroup_in(const struct tap_num *cgroup, const struct tap_event *ev);
/* The fair class's weight for this priority (sched_prio_to_weight[]); 0: it is of another class, or
 * not known. */
uint64_t tap_pelt_weight(int prio);

#endif
