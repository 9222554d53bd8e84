/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which tasks waited in the fair class's queues, and when. A stay is a task's time in the queues of
 * one CPU without running. The pick that ends a stay shows the task's v, which did not change
 * during the stay, and its deadline, weight and group (the one whose queue the task was in). For
 * stays that do not end with a pick, group and weight are those of the task's last pick.
 *
 * A task that goes to sleep may stay in its queue (delayed dequeue). No event reports when it
 * leaves; picks report how many tasks sleep.
 */
#ifndef TAP_ANALYSIS_EEVDF_QUEUES_H
#define TAP_ANALYSIS_EEVDF_QUEUES_H

#include "analysis/eevdf_overrun.h"
#include "analysis/sched_pick.h"

/* A run is not judged if more tasks waited. */
#define TAP_EEVDF_WAITERS 32u
/* Limit for the finished stays of one CPU, needed for hostile recordings. */
#define TAP_EEVDF_STAYS (1u << 16)

struct tap_eevdf_stay {
	uint64_t from_ns, to_ns; /* .to_ns is UINT64_MAX while the stay lasts */
	unsigned int task; /* tap_task.index of the task */
	int group;
	uint64_t weight;
	int64_t v, deadline;
	bool is_asleep, has_v;
	bool is_picked; /* a pick ended it; if .weight is 0, a pick of another class */
	bool is_strange; /* its v or weight changed during the stay, or a migration is missing */
};

struct tap_eevdf_queues {
	struct tap_eevdf_member {
		bool is_seen, is_queued; /* .is_seen: it was queued at some time */
		int cpu; /* the CPU in whose queue it is, if .is_queued */
		unsigned int stay; /* if queued: index into that CPU's .stays */
		/* from its last pick; weight 0: no pick yet */
		int group;
		uint64_t weight;
	} * members; /* owned; by tap_task.index */
	struct tap_eevdf_log {
		struct tap_eevdf_stay *stays; /* owned */
		unsigned int nr, cap, limit;
		uint64_t known_from_ns; /* stays that ended before may be forgotten */
	} * logs; /* owned; indexed by CPU */
	unsigned int nr_members, nr_logs;
};

void tap_eevdf_queues_release(struct tap_eevdf_queues *q);

/*
 * The task is woken on @cpu. @task: tap_task.index. Return: 0 or -ENOMEM, also of the next three
 * functions.
 */
int tap_eevdf_queue_wakeup(struct tap_eevdf_queues *q, unsigned int task, int cpu, uint64_t ts_ns);
/*
 * The task is moved. @to: the CPU; -1: a CPU that is not part of the analysis. @is_woken: its
 * wakeup places it, and it was not in the queue of the CPU that it leaves.
 */
int tap_eevdf_queue_move(struct tap_eevdf_queues *q, unsigned int task, int to, uint64_t ts_ns,
			 bool is_woken);
/*
 * The task is switched in after the pick @p. p->tid is 0 if another class picked it, or if it
 * runs as the owner of a mutex (proxy execution).
 */
int tap_eevdf_queue_pick(struct tap_eevdf_queues *q, unsigned int task,
			 const struct tap_sched_pick *p);
/* The task ran from @began to @p, and may stay queued. @v: its v; NULL: unknown. */
int tap_eevdf_queue_end(struct tap_eevdf_queues *q, unsigned int task,
			const struct tap_sched_pick *began, const struct tap_sched_pick *p,
			const int64_t *v);
/* Return true if the CPU has so many stays that tap_eevdf_queue_forget() should be called. */
static inline bool tap_eevdf_queue_is_full(const struct tap_eevdf_queues *q, int cpu)
{
	return (unsigned int)cpu < q->nr_logs && q->logs[cpu].nr >= q->logs[cpu].limit;
}

/* Forget the stays that ended before @from_ns, so that runs that began before are not judged. @p:
 * the CPU's last pick. */
void tap_eevdf_queue_forget(struct tap_eevdf_queues *q, int cpu, const struct tap_sched_pick *p,
			    uint64_t from_ns);

/* Return a virtual time relative to v at the start of a run. */
static inline double tap_eevdf_since(int64_t vtime, const struct tap_sched_pick *began)
{
	return (double)(int64_t)((uint64_t)vtime - (uint64_t)began->v);
}

/*
 * Find the waiters of a run that began with the pick @began and ended with the pick @ended of the
 * same group. @run: .waiters has room for TAP_EEVDF_WAITERS + 1. Return: false: too many waiters,
 * or they are not known.
 */
bool tap_eevdf_queue_run(const struct tap_eevdf_queues *q, const struct tap_sched_pick *began,
			 const struct tap_sched_pick *ended, struct tap_eevdf_run *run);

#endif
