/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The longest single interval of each state of each task. A task's total time in each state is in
 * struct tap_task.
 */
#ifndef TAP_ANALYSIS_STATES_H
#define TAP_ANALYSIS_STATES_H

#include "timeline/timeline.h"

struct tap_longest {
	uint64_t ns; /* length within the window; 0: the task was not in this state */
	uint64_t at_ns; /* start of that interval */
};

struct tap_states_task {
	struct tap_longest longest[TAP_NR_STATES];
	/* .longest of the last sleep's state before that sleep, which may be taken back */
	struct tap_longest before;
};

/* {0}: nothing seen yet. */
struct tap_states {
	struct tap_states_task *tasks; /* owned; indexed by tap_task.index */
	unsigned int nr;
};

/* ctx: struct tap_states. */
extern const struct tap_watcher_ops tap_states_ops;

/* Return TAP_NR_STATES elements, borrowed until the next interval. */
const struct tap_longest *tap_states_longest(const struct tap_states *s,
					     const struct tap_task *task);
void tap_states_release(struct tap_states *s);

#endif
