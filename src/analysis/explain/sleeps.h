/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What tasks did rather than wait for a CPU: their sleeps, added up by state and by the stack with
 * which the task left its CPU, where that was recorded. They add up to the timeline's sleeping,
 * blocked and stopped time.
 */
#ifndef TAP_EXPLAIN_SLEEPS_H
#define TAP_EXPLAIN_SLEEPS_H

#include "base/keyed.h"
#include "timeline/run/stacks.h"

/* Those of a task that are alike. */
struct tap_sleep {
	struct tap_sleep_key { /* without padding */
		uint32_t task; /* its index */
		uint32_t state; /* TAP_STATE_SLEEPING, TAP_STATE_BLOCKED, TAP_STATE_STOPPED */
		struct tap_stack_pair stack;
	} key;
	const struct tap_task *task;
	uint64_t ns, sleeps, max_ns; /* within the window */
	uint64_t max_from_ns; /* of the longest, which may have begun before */
};

struct tap_sleeps { /* all zero but .stacks: none yet */
	const struct tap_event_stacks *stacks; /* borrowed; NULL: there are none */
	/* of struct tap_sleep; after the end those that lasted longest, in all, come first */
	struct tap_keyed sums;

	/* inside */
	unsigned int nr_last;
	/* owned; by the task's index: of one that may yet be taken back; without .task: none */
	struct tap_sleep *last;
};

void tap_sleeps_release(struct tap_sleeps *l);
/* ctx: struct tap_sleeps. Comes after tap_event_stacks_ops with .stacks. */
extern const struct tap_watcher_ops tap_sleeps_ops;

/* With which stack a task went to sleep; none if @stacks is NULL, or @s is no sleep. */
struct tap_stack_pair tap_sleep_stack(const struct tap_event_stacks *stacks,
				      const struct tap_interval *s);

#endif
