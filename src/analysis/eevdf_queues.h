/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which tasks waited in the fair class's queues, and from when to when. A stay is a task's time in
 * the queues of one CPU without running. The pick that ends a stay shows the task's v, which was
 * the same for the whole stay, and its deadline, weight and group. The group, whose queue the task
 * was in, and the weight of other stays are those of the task's last pick.
 *
 * A task that goes to sleep may stay in its queue (delayed dequeue). No event reports when it
 * leaves; picks report how many sleep.
 */
#ifndef TAP_ANALYSIS_EEVDF_QUEUES_H
#define TAP_ANALYSIS_EEVDF_QUEUES_H

#include "analysis/eevdf_overrun.h"
#include "analysis/sched_pick.h"

/* A run is not judged if more tasks waited. */
#define TAP_EEVDF_WAITERS 32u
/* More stays are not kept for one CPU, apart from those that last: hostile recordings have them. */
#define TAP_EEVDF_STAYS (1u << 16)

struct tap_eevdf_stay {
	uint64_t from_ns, to_ns; /* UINT64_MAX: it lasts */
	unsigned int task; /* tap_task.index */
	int group;
	uint64_t weight;
	int64_t v, deadline;
	bool is_asleep, has_v;
	bool is_picked; /* a pick ended it; .weight 0: another class's */
	bool is_strange; /* its v or weight changed meanwhile, or a migration is missing */
};

struct tap_eevdf_queues {
	struct tap_eevdf_member {
		bool is_seen, is_queued; /* .is_seen: it was queued before */
		int cpu; /* if queued */
		unsigned int stay; /* likewise: its index there */
		/* of its last pick; weight 0: none */
		int group;
		uint64_t weight;
	} * members; /* owned; by tap_task.index */
	struct tap_eevdf_log {
		struct tap_eevdf_stay *stays; /* owned */
		unsigned int nr, cap, limit;
		uint64_t known_from_ns; /* stays that ended before may be forgotten */
	} * logs; /* owned; by CPU */
	unsigned int nr_members, nr_logs;
};

void tap_eevdf_queues_release(struct tap_eevdf_queues *q);

/* Each returns 0 or -ENOMEM. @task: tap_task.index. */
int tap_eevdf_queue_wakeup(struct tap_eevdf_queues *q, unsigned int task, int cpu, uint64_t ts_ns);
/* @to: the CPU; -1: one of no interest. @is_woken: it is placed by its wakeup, and has not been in
 * the queue of the CPU that it leaves. */
int tap_eevdf_queue_move(struct tap_eevdf_queues *q, unsigned int task, int to, uint64_t ts_ns,
			 bool is_woken);
/* @p picked the task; p->tid 0: for another class. */
int tap_eevdf_queue_pick(struct tap_eevdf_queues *q, unsigned int task,
			 const struct tap_sched_pick *p);
/* The task ran from @began to @p, and may stay queued. @v: its v; NULL: unknown. */
int tap_eevdf_queue_end(struct tap_eevdf_queues *q, unsigned int task,
			const struct tap_sched_pick *began, const struct tap_sched_pick *p,
			const int64_t *v);
/* Whether it is time to forget stays. */
static inline bool tap_eevdf_queue_is_full(const struct tap_eevdf_queues *q, int cpu)
{
	return (unsigned int)cpu < q->nr_logs && q->logs[cpu].nr >= q->logs[cpu].limit;
}

/* Forget the stays that ended before @from_ns, so that runs that began before are not judged. @p:
 * the CPU's last pick. */
void tap_eevdf_queue_forget(struct tap_eevdf_queues *q, int cpu, const struct tap_sched_pick *p,
			    uint64_t from_ns);

/* A virtual time, relative to the v with which a run began. */
static inline double tap_eevdf_since(int64_t vtime, const struct tap_sched_pick *began)
{
	return (double)(int64_t)((uint64_t)vtime - (uint64_t)began->v);
}

/*
 * Find the waiters of a run that began with a pick and ended with another one of the same group.
 * @run: has room for TAP_EEVDF_WAITERS + 1 in .waiters. Return: false: they are too many, or not
 * known.
 */
bool tap_eevdf_queue_run(const struct tap_eevdf_queues *q, const struct tap_sched_pick *began,
			 const struct tap_sched_pick *ended, struct tap_eevdf_run *run);

#endif
