/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Judges whether a run continued beyond its slice at the expense of a task that waited in the same
 * queue.
 *
 * Between the picks that began and ended the run, the kernel may have picked the running task
 * again, without an event, and given it a new deadline (update_deadline() in kernel/sched/fair.c).
 * It was right to do so if no waiting task was eligible, or if the running task was eligible and
 * its new deadline was the earliest. Waiting tasks keep their v and deadline, which their own picks
 * show. Eligibility then follows from all v in the queue, as in entity_eligible(): v is eligible if
 * the weighted sum of all (v_i - v) is >= 0.
 *
 * The queue's V is recorded at both ends of the run. Only if the known tasks give the same V at
 * both ends, they are the whole queue.
 */
#ifndef TAP_ANALYSIS_EEVDF_OVERRUN_H
#define TAP_ANALYSIS_EEVDF_OVERRUN_H

#include <stdbool.h>
#include <stdint.h>

/* The longest possible tick: no event reports CONFIG_HZ, which is 100 at least. */
#define TAP_EEVDF_TICK_NS 10000000u
/* A wakeup is recorded before the task is enqueued, by at most this long. */
#define TAP_EEVDF_ENQUEUE_NS 1000000u

/* A task in the queue while the run lasted, or during a part of the run. */
struct tap_eevdf_waiter {
	uint64_t from_ns, to_ns;
	double v; /* NAN: unknown */
	double deadline; /* NAN: unknown */
	double weight;
	bool is_asleep; /* the task sleeps in the queue (delayed dequeue) */
	bool may_leave; /* it sleeps, and left the queue during the run; no event reports when */
};

/* Virtual times are relative to the running task's v at the start of the run. */
struct tap_eevdf_run {
	uint64_t from_ns, to_ns;
	double weight; /* weight of the running task */
	double slice_ns; /* the task's requested slice */
	double deadline; /* the running task's deadline at the start of the run */
	double v; /* the running task's v at the end of the run */
	double start_vtime, vtime; /* the queue's V at the start and the end of the run */
	/* number of tasks in the queue at the start and the end of the run */
	unsigned int start_nr_queued, nr_queued;
	struct tap_eevdf_waiter *waiters;
	unsigned int nr_waiters;
};

/* Time by which the run was longer than allowed: lower and upper bound, ns. INFINITY: unknown. */
struct tap_eevdf_overrun {
	double least_ns, most_ns;
};

/*
 * Judge a run. If one waiter's v is unknown, it is calculated and stored in @run. .waiters must
 * have room for one more waiter.
 */
struct tap_eevdf_overrun tap_eevdf_judge(struct tap_eevdf_run *run);

#endif
