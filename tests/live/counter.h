/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What counter.bpf.c counts about one thread, and test_live_counts.c finds in a recording. */
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

/* How the thread left the CPU. */
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
	unsigned long long any; /* it was current, or among the arguments */
	struct counter_sum of[COUNTER_SUMS]; /* of values; which, says the test's table */
};

struct counters {
	struct counter kinds[NR_COUNTS];
	unsigned long long states[NR_STATES];
	unsigned long long first_ns, last_ns; /* of its switches */
};

#endif
