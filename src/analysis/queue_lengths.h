/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Histograms of each CPU's run-queue length, and of the imbalance between CPUs (balance.h). A
 * length may be revised later, but not before its CPU was last idle, because the queue was empty
 * then.
 */
#ifndef TAP_ANALYSIS_QUEUE_LENGTHS_H
#define TAP_ANALYSIS_QUEUE_LENGTHS_H

#include "analysis/cpu_order.h"
#include "analysis/length_log.h"

struct tap_queue_length {
	bool seen;
	struct tap_hist length; /* owned; weighted with ns: .count is the known time */

	/* private */
	int64_t now; /* current length; -1: not known */
	struct tap_length_log log; /* lengths since the CPU was last idle */
};

struct tap_queue_lengths {
	struct tap_queue_length *cpus; /* owned; includes CPUs that were not seen */
	unsigned int nr_cpus;
	struct tap_hist imbalance; /* weighted with ns */

	/* private */
	/* imbalance since the time by which every CPU has been idle once more */
	struct tap_length_log imbalance_log;
	/* seen CPUs, sorted by the time when they were last idle; 0: never */
	struct tap_cpu_order idled;
	struct tap_length_count {
		int64_t length;
		unsigned int nr; /* CPUs */
	} * counts; /* owned; the current lengths and their numbers of CPUs, sorted by length */
	unsigned int nr_counts, cap_counts;
	unsigned int nr_known; /* CPUs */
};

/* Initializer; {0} is not valid. */
#define TAP_QUEUE_LENGTHS_INIT                                                                     \
	{                                                                                          \
		.imbalance = TAP_HIST_INIT                                                         \
	}

void tap_queue_lengths_release(struct tap_queue_lengths *q);

/* Note that the CPU exists. Return: 0 or -ENOMEM, like all functions below. */
int tap_queue_lengths_see(struct tap_queue_lengths *q, unsigned int cpu);
/*
 * Set a CPU's length from @ns on; -1: not known. When all lengths that change at one time are set,
 * call tap_queue_lengths_set_imbalance() with that time.
 */
int tap_queue_lengths_set(struct tap_queue_lengths *q, unsigned int cpu, uint64_t ns,
			  int64_t length);
int tap_queue_lengths_set_imbalance(struct tap_queue_lengths *q, uint64_t ns);
/* The lengths set for the CPU from @from_ns until @now_ns were wrong: they are unknown. */
int tap_queue_lengths_doubt(struct tap_queue_lengths *q, unsigned int cpu, uint64_t from_ns,
			    uint64_t now_ns);
/* The CPU became idle with an empty queue: its lengths set so far are final. */
int tap_queue_lengths_idle(struct tap_queue_lengths *q, unsigned int cpu, uint64_t now_ns);
/* Lengths before @ns are final, for this CPU and for the imbalance. */
int tap_queue_lengths_commit(struct tap_queue_lengths *q, unsigned int cpu, uint64_t ns);
int tap_queue_lengths_end(struct tap_queue_lengths *q, uint64_t end_ns);

#endif
