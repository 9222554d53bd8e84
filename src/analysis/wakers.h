/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Who wakes whom, and how long the woken then waits for a CPU. What counts is a wait after a
 * wakeup: a wakeup of a task that is awake is none. If the task is throttled while it waits, and
 * waits again after that, this is still one wakeup. Its wait is the one that ends when the task
 * runs.
 */
#ifndef TAP_ANALYSIS_WAKERS_H
#define TAP_ANALYSIS_WAKERS_H

#include "base/hist.h"
#include "base/map.h"
#include "timeline/run/stacks.h"

/* A waker's stack, of one pair. */
struct tap_waker_stack {
	struct tap_stack_pair stack;
	uint64_t count; /* of wakeups */
	unsigned int pair; /* its place in .pairs before they are sorted */
};

struct tap_waker_pair {
	const struct tap_task *waker; /* NULL: not one that can be named */
	int waker_tid; /* -1: not known; 0: an interrupt on an idle CPU */
	const struct tap_task *wakee;
	uint64_t count; /* of wakeups */
	struct tap_hist waits; /* ns, of those whose wait is known */
	/* those whose wait is not known; of the others, throttling ended the wait */
	uint64_t censored;
	/* of these waits: it ran on the CPU that the wakeup was seen on, or on another one */
	uint64_t same_cpu, other_cpu;
	/* After the end, where there are stacks: those of this pair, the most frequent first; none
	 * is empty. */
	const struct tap_waker_stack *stacks;
	unsigned int nr_stacks;
};

/* A task that is woken. */
struct tap_wakee {
	unsigned int pair; /* the last one: its place in .pairs, plus one; 0: none yet */
	/* woken_ns of a wakeup that was counted when throttling ended its wait; 0: none */
	uint64_t throttled_ns;
};

struct tap_wakers {
	struct tap_waker_pair *pairs; /* owned; after the end: most wakeups first */
	unsigned int nr_pairs;
	const struct tap_event_stacks *of_stacks; /* borrowed; NULL: stacks are not asked for */
	/* Whether the task's last wakeup counts; NULL: all do. */
	bool (*wants)(void *ctx, const struct tap_timeline *t, const struct tap_task *wakee);
	void *ctx;

	/* inside */
	unsigned int max_pairs, nr_wakees;
	struct tap_map by_tids; /* waker's tid and wakee's index -> place in .pairs */
	struct tap_wakee *wakees; /* by index */
	struct tap_waker_stack *stacks;
	unsigned int nr_stacks, cap_stacks;
	struct tap_map by_frames; /* kernel's and user's -> a number for both */
	/* place of a pair, and that number -> place in .stacks, plus one */
	struct tap_map by_pair;
};

void tap_wakers_release(struct tap_wakers *w);

/* ctx: struct tap_wakers. */
extern const struct tap_watcher_ops tap_wakers_ops;
void tap_wakers_end(struct tap_wakers *w); /* sorts */

#endif
