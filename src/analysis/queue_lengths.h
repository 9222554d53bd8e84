/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How long each CPU's run queue is, and how far the CPUs are from each other (the imbalance,
 * balance.h), as far as it turns out right: what is told of a queue may be doubted later, but not
 * what was before its CPU was last idle, for then it was empty.
 */
#ifndef TAP_ANALYSIS_QUEUE_LENGTHS_H
#define TAP_ANALYSIS_QUEUE_LENGTHS_H

#include "analysis/cpu_order.h"
#include "analysis/length_log.h"

struct tap_queue_length {
	bool seen;
	struct tap_hist length; /* owned; weighted with ns: .count is the time known */

	/* inside */
	int64_t now; /* -1: not known */
	struct tap_length_log log; /* since the CPU was last idle */
};

struct tap_queue_lengths {
	struct tap_queue_length *cpus; /* owned; those that were not seen too */
	unsigned int nr_cpus;
	struct tap_hist imbalance; /* weighted with ns */

	/* inside */
	struct tap_length_log imbalance_log; /* since all CPUs have been idle */
	/* those seen, by when they were last idle; 0: not yet */
	struct tap_cpu_order idled;
	struct tap_length_count {
		int64_t length;
		unsigned int nr; /* CPUs */
	} * counts; /* owned; of the lengths that are there now, the smallest first */
	unsigned int nr_counts, cap_counts;
	unsigned int nr_known; /* CPUs */
};

/* {0} is not empty: use this. */
#define TAP_QUEUE_LENGTHS_INIT                                                                     \
	{                                                                                          \
		.imbalance = TAP_HIST_INIT                                                         \
	}

void tap_queue_lengths_release(struct tap_queue_lengths *q);

/* Return: 0 or -ENOMEM, here and below. */
int tap_queue_lengths_see(struct tap_queue_lengths *q, unsigned int cpu);
/* @length: -1: not known. When all that change at one time are set: set_imbalance(). */
int tap_queue_lengths_set(struct tap_queue_lengths *q, unsigned int cpu, uint64_t ns,
			  int64_t length);
int tap_queue_lengths_set_imbalance(struct tap_queue_lengths *q, uint64_t ns);
/* Since @from_ns the queue was another than was told, until now. */
int tap_queue_lengths_doubt(struct tap_queue_lengths *q, unsigned int cpu, uint64_t from_ns,
			    uint64_t now_ns);
/* The CPU became idle, with nothing in its queue: what was told up to now is right. */
int tap_queue_lengths_idle(struct tap_queue_lengths *q, unsigned int cpu, uint64_t now_ns);
/* What was told of all that is before @ns is right, of this CPU and of the imbalance. */
int tap_queue_lengths_commit(struct tap_queue_lengths *q, unsigned int cpu, uint64_t ns);
int tap_queue_lengths_end(struct tap_queue_lengths *q, uint64_t end_ns);

#endif
