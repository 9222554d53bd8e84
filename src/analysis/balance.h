/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How evenly the CPUs were loaded, and how long tasks waited although a CPU was free for them.
 *
 * The length of a run queue is the task that runs on the CPU and those that wait for it. It is
 * known where the CPU's chain of switches holds and every task that waited there was seen to
 * begin waiting: one that comes out of the unknown (where no wakeups were recorded, out of a
 * sleep) may have waited as long as its state was not known, but not since before the CPU was
 * last idle, for then its queue was empty; all that time counts as not known, and so does a hole.
 * Where the kernel's own count was recorded (sched_update_nr_running), that is the length. The
 * imbalance is the largest length minus the smallest, over the CPUs whose length is known at that
 * time.
 *
 * Work is not conserved while a task waits in the queue of one CPU and another is free for it:
 *  - the task is runnable and does not run (TAP_STATE_WAKING, TAP_STATE_PREEMPTED), in a wait that
 * is whole: its end fits its beginning and no hole touches it. A waking task counts from its last
 *    placement on (sched_migrate_task): before, it was in no queue.
 *  - the CPU in whose queue it waits runs another task. Where that CPU is idle the task waits for
 *    it to leave idle: that is the price of sleeping, and told apart.
 *  - the other CPU is idle, and no task is on its way to it.
 *  - the task may use the other CPU: the recording's lists of tasks say so. Where they do not say
 * which it may use, it must have run there, or have been moved there, earlier in what was fed. A
 * move that neither a wakeup nor the balancer made (TAP_MIGRATE_OTHER) may have come from a change
 * of affinity, so it begins that set anew. A violation is a longest interval of time in which all
 * this holds for one task, whichever CPUs were the free ones. This is a lower bound. It accuses
 * wrongly only where something forbade the move that no event tells: an affinity narrowed without
 * moving the task, a cgroup out of its quota (cpu.max), disabled migration.
 */
#ifndef TAP_ANALYSIS_BALANCE_H
#define TAP_ANALYSIS_BALANCE_H

#include "timeline/timeline.h"
#include "analysis/queue_lengths.h"
#include "analysis/violations.h"

struct tap_balance_cpu;
struct tap_balance_task;

struct tap_balance_opts {
	const struct tap_survey *survey; /* borrowed; what the timeline knows; NULL: nothing */
	/* Which CPUs there are at all; NULL: all. Of tasks, violations of those that are selected
	 * count. */
	bool (*cpu)(void *ctx, int cpu);
	void *ctx;
	bool lengths_told; /* by tap_balance_length(): they are not found from states */
	/* As of struct tap_violations, with the same .ctx; or NULL. */
	void (*tell)(void *ctx, const struct tap_wait *w);
	uint64_t min_ns; /* shorter violations do not count */
	unsigned int nr_worst; /* to be kept */
};

struct tap_balance {
	struct tap_balance_opts opts;
	struct tap_queue_lengths lengths;
	struct tap_violations violations;

	/* inside */
	const struct tap_timeline *timeline; /* NULL before the first call */
	uint64_t now_ns; /* what is told now holds from here on */
	unsigned int next_hole;
	bool in_hole;
	struct tap_balance_cpu *cpus; /* owned */
	unsigned int nr_cpus, cap_cpus;
	struct tap_balance_task *tasks; /* owned; by tap_task.index */
	unsigned int nr_tasks;
	unsigned int *waiting, nr_waiting, cap_waiting; /* indices of tasks */
	/* What is to be looked at before time goes on: tasks that began to wait or were moved, or
	 * all that wait, if a CPU where some do does something else, or free CPUs changed. */
	unsigned int *fresh, nr_fresh, cap_fresh;
	bool recheck;
	bool any_stale_waits; /* some CPU has them */
	unsigned int *dirty, nr_dirty, cap_dirty; /* CPUs */
	struct tap_cpus free; /* idle, nothing queued */
	unsigned int nr_unplaced; /* that wait nobody knows where: no length is known */
};

/* Return: 0 or -ENOMEM. */
int tap_balance_init(struct tap_balance *b, const struct tap_balance_opts *opts);
void tap_balance_release(struct tap_balance *b);

/* ctx: struct tap_balance. */
extern const struct tap_watcher_ops tap_balance_ops;

/* With .lengths_told, in time order: the run queue's length from @ts_ns on, -1: not known. */
int tap_balance_length(struct tap_balance *b, int cpu, uint64_t ts_ns, int64_t length);
/* All that is told was before @ns: so what holds there is known. Return: 0 or -ENOMEM. */
int tap_balance_advance(struct tap_balance *b, const struct tap_timeline *t, uint64_t ns);
/* The task is dead, and its .index is to be another's. */
void tap_balance_forget(struct tap_balance *b, const struct tap_task *task);

#endif
