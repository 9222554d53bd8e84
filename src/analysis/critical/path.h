/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A critical path (walk.h) added up: by state, and by task. */
#ifndef TAP_CRITICAL_PATH_H
#define TAP_CRITICAL_PATH_H

#include "analysis/critical/walk.h"

struct tap_path_sum {
	unsigned int task; /* its index */
	uint64_t ns; /* all that follows, together */
	uint64_t state_ns[TAP_NR_PATH_STATES];
};

struct tap_path {
	struct tap_path_sum all;
	struct tap_path_sum *tasks; /* owned; after the end those with the most time first */
	unsigned int nr_tasks;
	bool keeps; /* .segments */
	struct tap_path_segment *segments; /* owned; after the end in the order of time */
	unsigned int nr_segments;

	/* inside */
	unsigned int cap_tasks, cap_segments;
	unsigned int *places, nr_places; /* owned; by task's index: in .tasks, plus 1 */
};

/* @path: zeroed, but .keeps. Return: 0 or -ENOMEM. */
int tap_path_find(struct tap_path *path, struct tap_walk *w, unsigned int task, uint64_t from_ns,
		  uint64_t to_ns);
void tap_path_release(struct tap_path *path);

/* How long tasks of the path were runnable and had no CPU. That they were not allowed to run is no
 * matter of who schedules. */
uint64_t tap_path_scheduling_ns(const struct tap_path_sum *sum);

#endif
