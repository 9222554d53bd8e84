/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef TAP_LIVE_WAITS_H
#define TAP_LIVE_WAITS_H

/*
 * What the witnesses saw of a task since it was last switched out, or since it began: programs that
 * take the times by which two tallies may differ. Times are CLOCK_MONOTONIC in ns; 0: not seen.
 * Only records of the tally from the queueing have it.
 */
struct wait_seen {
	unsigned long long task; /* address of its task_struct */
	unsigned long long out_ns; /* when it was switched out, as both tallies take it */
	unsigned long long forked_ns; /* sched_process_fork, which comes before the queueing */
	unsigned long long waking_ns; /* the last sched_waking, before the queueing */
	unsigned long long wakeup_ns; /* the last sched_wakeup or sched_wakeup_new, after it */
	long long
		nr_unpaired; /* sched_waking without a sched_wakeup yet; since it was first seen */
	/* CLOCK_MONOTONIC minus rq.clock as the tally estimated it at the switch-out */
	long long out_offset_ns;
	/*
	 * Moves to other CPUs while it waited: rq.clock and the kernel's sum of its waits at the
	 * last one, and the time that moves took from one queue to the next.
	 */
	unsigned long long nr_moves, moved_clock, moved_delay, moves_ns;
	unsigned int is_delayed; /* it was moved while its dequeue was delayed */
	unsigned int was_on_cpu; /* at .waking_ns its switch-out had not ended */
	unsigned int out_state; /* its __state at the switch-out */
	unsigned int is_preempted; /* at the switch-out */
};

/* A wait that a tally saw end. */
struct wait_record {
	unsigned int tid;
	unsigned int kind, reason; /* enum tap_tally_kind, enum tap_tally_censored */
	unsigned int is_other; /* .seen is of another task with this tid % TAP_TALLY_TAGS */
	unsigned long long run; /* number of the task's runs before (sched_info.pcount) */
	unsigned long long at_ns; /* the switch at its end, CLOCK_MONOTONIC */
	unsigned long long ns;
	long long offset_ns; /* as .out_offset_ns, at its end */
	struct wait_seen seen;
};

#endif
