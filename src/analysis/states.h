/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The longest single instance of each state of each task. How long a task was in each state
 * altogether stands in struct tap_task.
 */
#ifndef TAP_ANALYSIS_STATES_H
#define TAP_ANALYSIS_STATES_H

#include "timeline/timeline.h"

struct tap_longest {
	uint64_t ns; /* what lies within the window; 0: there was none */
	uint64_t at_ns; /* where that begins */
};

struct tap_states_task {
	struct tap_longest longest[TAP_NR_STATES];
	struct tap_longest before; /* the last sleep: it may be taken back */
};

/* {0} has seen nothing. */
struct tap_states {
	struct tap_states_task *tasks; /* by tap_task.index; owned */
	unsigned int nr;
};

/* ctx: struct tap_states. */
extern const struct tap_watcher_ops tap_states_ops;

/* Return: TAP_NR_STATES of them; borrowed until the next interval. */
const struct tap_longest *tap_states_longest(const struct tap_states *s,
					     const struct tap_task *task);
void tap_states_release(struct tap_states *s);

#endif
