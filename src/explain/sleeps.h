/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What tasks did rather than wait for a CPU: their sleeps, added up by state and by the stack with which the task left its CPU,
 * where that was recorded. They add up to the timeline's sleeping, blocked and stopped time.
 */
#ifndef TAP_EXPLAIN_SLEEPS_H
#define TAP_EXPLAIN_SLEEPS_H

#include "analysis/stacks.h"
#include "base/keyed.h"

/* Those of a task that are alike. */
struct tap_sleep {
	struct tap_sleep_key { /* without padding */
		uint32_t task; /* its index */
		uint32_t state; /* TAP_SLEEPING, TAP_BLOCKED, TAP_STOPPED */
		struct tap_stack_pair stack;
	} key;
	const struct tap_task *task;
	uint64_t ns, sleeps, max_ns; /* within the window */
	uint64_t max_from_ns;	     /* of the longest, which may have begun before */
};

struct tap_sleeps { /* all zero but .window: none yet */
	struct tap_window window;
	struct tap_keyed sums; /* of struct tap_sleep; after the end those that lasted longest, in all, come first */

	/* inside */
	unsigned int nr_last;
	struct tap_sleep *last; /* owned; by the task's index: of one that may yet be taken back; without .task: none */
};

/* What a timeline's observer must be told of. */
#define TAP_SLEEPS_STATES                                                                               \
	(TAP_STATE_BIT(TAP_SLEEPING) | TAP_STATE_BIT(TAP_BLOCKED) | TAP_STATE_BIT(TAP_STOPPED) | TAP_STATE_BIT(TAP_UNKNOWN))

void tap_sleeps_release(struct tap_sleeps *l);
/* @stack: with which the task left its CPU, of a sleep. Return: 0 or -ENOMEM, here and below. */
int tap_sleeps_interval(struct tap_sleeps *l, const struct tap_interval *s, struct tap_stack_pair stack);
int tap_sleeps_end(struct tap_sleeps *l);

#endif
