/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The numbers about one thread that counter.bpf.c counts and test_live_counts.c compares with a
 * recording.
 */
#ifndef TAP_TEST_COUNTER_H
#define TAP_TEST_COUNTER_H

enum counter_kind {
	COUNT_SWITCH,
	COUNT_WAKING,
	COUNT_PELT_SE,
	COUNT_UTIL_EST_SE,
	COUNT_NR_RUNNING,
	COUNT_ENTRY,
	COUNT_EXIT,
	COUNT_PROCESS_EXIT,
	NR_COUNTS,
};

/* Why the thread left the CPU. */
enum counter_state {
	STATE_PREEMPTED,
	STATE_RUNNING,
	STATE_SLEEPS,
	STATE_BLOCKED,
	STATE_DEAD,
	NR_STATES
};

#define COUNTER_SUMS 3

struct counter_sum {
	unsigned long long nr, sum;
};

struct counter {
	/* events during which it was current, or of which it was an argument */
	unsigned long long any;
	/* sums of values, according to the table in the test */
	struct counter_sum of[COUNTER_SUMS];
};

struct counters {
	struct counter kinds[NR_COUNTS];
	unsigned long long states[NR_STATES];
	unsigned long long first_ns, last_ns; /* of its switches */
};

#endif
