/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Pairs of waker and woken task, and how long the woken task then waits for a CPU. Only wakeups
 * that begin a wait count: a wakeup of a task that is awake does not. If the task is throttled
 * while it waits, and waits again after that, this is still one wakeup. Its wait is the one that
 * ends when the task runs.
 */
#ifndef TAP_ANALYSIS_WAKERS_H
#define TAP_ANALYSIS_WAKERS_H

#include "base/hist.h"
#include "base/map.h"
#include "timeline/run/stacks.h"

/* A waker's stack, for one pair. */
struct tap_waker_stack {
	struct tap_stack_pair stack;
	uint64_t count; /* of wakeups */
	unsigned int pair; /* index into .pairs before sorting */
};

struct tap_waker_pair {
	const struct tap_task *waker; /* NULL: no task is known for .waker_tid */
	int waker_tid; /* -1: not known; 0: an interrupt on an idle CPU */
	const struct tap_task *wakee;
	uint64_t count; /* of wakeups */
	struct tap_hist waits; /* lengths of known waits, ns */
	/*
	 * wakeups whose wait's length is not known. Wakeups that are counted neither here nor in
	 * .waits: throttling ended the wait
	 */
	uint64_t censored;
	/*
	 * of the waits in .waits: the task ran on the CPU on which the wakeup was recorded, or on
	 * another one
	 */
	uint64_t same_cpu, other_cpu;
	/*
	 * After the end, if stacks are recorded: this pair's stacks, most frequent first, without
	 * empty ones.
	 */
	const struct tap_waker_stack *stacks;
	unsigned int nr_stacks;
};

/* A task that was woken. */
struct tap_wakee {
	unsigned int pair; /* its last pair: index into .pairs plus one; 0: none yet */
	/* .woken_ns of a wakeup that was counted when throttling ended its wait; 0: none */
	uint64_t throttled_ns;
};

struct tap_wakers {
	struct tap_waker_pair *pairs; /* owned; after the end: most wakeups first */
	unsigned int nr_pairs;
	const struct tap_event_stacks *of_stacks; /* borrowed; NULL: stacks are not wanted */
	/* Return true if the task's last wakeup counts; NULL: all do. */
	bool (*wants)(void *ctx, const struct tap_timeline *t, const struct tap_task *wakee);
	void *ctx;

	/* private */
	unsigned int max_pairs, nr_wakees;
	/* waker's tid and woken task's index -> index into .pairs, plus one */
	struct tap_map by_tids;
	struct tap_wakee *wakees; /* indexed by tap_task.index */
	struct tap_waker_stack *stacks;
	unsigned int nr_stacks, cap_stacks;
	struct tap_map by_frames; /* kernel and user stack -> one number for both */
	/* index of a pair, and that number -> index into .stacks, plus one */
	struct tap_map by_pair;
};

void tap_wakers_release(struct tap_wakers *w);

/* ctx: struct tap_wakers. */
extern const struct tap_watcher_ops tap_wakers_ops;
void tap_wakers_end(struct tap_wakers *w); /* sorts */

#endif
