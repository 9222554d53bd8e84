/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tasks' sleeps, summed up by state and, if stacks were recorded, by the stack with which the task
 * was switched out. They add up to the timeline's sleeping, blocked and stopped time.
 */
#ifndef TAP_EXPLAIN_SLEEPS_H
#define TAP_EXPLAIN_SLEEPS_H

#include "base/keyed.h"
#include "timeline/run/stacks.h"

/* A task's sleeps with equal state and stack. */
struct tap_sleep {
	struct tap_sleep_key { /* compared as bytes: must have no padding */
		uint32_t task; /* the task's .index */
		uint32_t state; /* TAP_STATE_SLEEPING, TAP_STATE_BLOCKED, TAP_STATE_STOPPED */
		struct tap_stack_pair stack;
	} key;
	const struct tap_task *task;
	uint64_t ns, sleeps, max_ns; /* within the window */
	uint64_t max_from_ns; /* start of the longest sleep, which may lie before the window */
};

struct tap_sleeps { /* all zero except .stacks: empty */
	const struct tap_event_stacks *stacks; /* borrowed; NULL: no stacks */
	/* of struct tap_sleep; sorted by .ns, greatest first, after .end */
	struct tap_keyed sums;

	/* private */
	unsigned int nr_last;
	/*
	 * owned; by the task's .index: its last sleep, which the timeline may still revoke; .task
	 * is NULL: none
	 */
	struct tap_sleep *last;
};

void tap_sleeps_release(struct tap_sleeps *l);
/* ctx: struct tap_sleeps. With .stacks, this watcher must come after tap_event_stacks_ops. */
extern const struct tap_watcher_ops tap_sleeps_ops;

/*
 * Return the stack with which the task went to sleep; empty if @stacks is NULL or @s is not a
 * sleep.
 */
struct tap_stack_pair tap_sleep_stack(const struct tap_event_stacks *stacks,
				      const struct tap_interval *s);

#endif
