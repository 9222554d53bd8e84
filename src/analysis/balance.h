/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How evenly the CPUs were loaded, and how long tasks waited although a CPU was free for them.
 *
 * A run queue's length is the number of tasks on it: the one that runs on the CPU and those that
 * wait for it. It is known if the CPU's chain of switches is unbroken and every task that waited
 * there was seen to begin waiting. A task that comes from an unknown state (or from a sleep, if
 * wakeups are not recorded) may have waited for as long as its state was unknown, but not since
 * before the CPU was last idle, because then the queue was empty; all that time counts as unknown,
 * and so does a hole. If the kernel's own count was recorded (sched_update_nr_running), that is the
 * length. The imbalance is the largest minus the smallest length, over the CPUs whose length is
 * known at that time.
 *
 * Work is not conserved while a task waits in one CPU's queue and another CPU is free for it:
 * - The task is runnable and does not run (TAP_STATE_WAKING, TAP_STATE_PREEMPTED), in a wait that
 *   is whole: its end fits its beginning and no hole overlaps it. A waking task counts from its
 *   last placement on (sched_migrate_task): before that it was in no queue.
 * - The CPU in whose queue it waits runs another task. If that CPU is idle, the task waits for it
 *   to leave idle: that is the cost of idle states, and is counted separately.
 * - The other CPU is idle, and no task is on its way to it.
 * - The task may use the other CPU, according to the recording's task lists. If they do not say
 *   which CPUs it may use, it must have run there, or have been moved there, earlier in the
 *   recording. A move that neither a wakeup nor the balancer made (TAP_MIGRATE_OTHER) may come from
 *   a change of affinity, so it restarts that set.
 *
 * A violation is a maximal interval in which all this holds for one task, whichever CPUs were free.
 * The total is a lower bound. A reported violation is wrong only if something that no event shows
 * forbade the move: an affinity that was narrowed without moving the task, a cgroup out of its
 * quota (cpu.max), or disabled migration.
 */
#ifndef TAP_ANALYSIS_BALANCE_H
#define TAP_ANALYSIS_BALANCE_H

#include "timeline/timeline.h"
#include "analysis/queue_lengths.h"
#include "analysis/violations.h"

struct tap_balance_cpu;
struct tap_balance_task;

struct tap_balance_opts {
	/* borrowed; the timeline's survey; NULL: nothing is missing */
	const struct tap_survey *survey;
	/*
	 * Return true if the CPU is part of the analysis; NULL: all are. Violations are counted for
	 * the selected tasks only.
	 */
	bool (*cpu)(void *ctx, int cpu);
	void *ctx;
	/* tap_balance_length() sets the lengths: they are not derived from states */
	bool lengths_told;
	/* See struct tap_violations.tell; called with the same .ctx. May be NULL. */
	void (*tell)(void *ctx, const struct tap_wait *w);
	uint64_t min_ns; /* shorter violations do not count */
	unsigned int nr_worst; /* number of worst violations to keep */
};

struct tap_balance {
	struct tap_balance_opts opts;
	struct tap_queue_lengths lengths;
	struct tap_violations violations;

	/* private */
	const struct tap_timeline *timeline; /* NULL before the first call */
	uint64_t now_ns; /* changes made now take effect at this time */
	unsigned int next_hole;
	bool in_hole;
	struct tap_balance_cpu *cpus; /* owned */
	unsigned int nr_cpus, cap_cpus;
	struct tap_balance_task *tasks; /* owned; by tap_task.index */
	unsigned int nr_tasks;
	unsigned int *waiting, nr_waiting, cap_waiting; /* indices of waiting tasks */
	/*
	 * To be processed before time advances: tasks that began to wait or were moved; or
	 * (.recheck) all waiting tasks, because a CPU on which tasks wait, or the set of free CPUs,
	 * changed.
	 */
	unsigned int *fresh, nr_fresh, cap_fresh;
	bool recheck;
	bool any_stale_waits; /* some CPU has stale waits */
	unsigned int *dirty, nr_dirty, cap_dirty; /* CPUs whose queue changed */
	struct tap_cpus free; /* CPUs that are idle with an empty queue */
	unsigned int nr_unplaced; /* tasks that wait on an unknown CPU: then no length is known */
};

/* Return: 0 or -ENOMEM. */
int tap_balance_init(struct tap_balance *b, const struct tap_balance_opts *opts);
void tap_balance_release(struct tap_balance *b);

/* ctx: struct tap_balance. */
extern const struct tap_watcher_ops tap_balance_ops;

/*
 * With .lengths_told: set a run queue's length from @ts_ns on; -1: not known. Call in time order.
 * Return: 0 or -ENOMEM.
 */
int tap_balance_length(struct tap_balance *b, int cpu, uint64_t ts_ns, int64_t length);
/* All changes so far were before @ns, ns, so the state holds until then. Return: 0 or -ENOMEM. */
int tap_balance_advance(struct tap_balance *b, const struct tap_timeline *t, uint64_t ns);
/* Forget a dead task: a new task will reuse its .index. */
void tap_balance_forget(struct tap_balance *b, const struct tap_task *task);

#endif
