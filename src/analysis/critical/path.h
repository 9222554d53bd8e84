/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A critical path (walk.h), summed up by state and by task. */
#ifndef TAP_CRITICAL_PATH_H
#define TAP_CRITICAL_PATH_H

#include "analysis/critical/walk.h"

struct tap_path_sum {
	unsigned int task; /* the task's .index */
	uint64_t ns; /* the sum of .state_ns */
	uint64_t state_ns[TAP_NR_PATH_STATES];
};

struct tap_path {
	struct tap_path_sum all;
	/* owned; sorted by .ns, greatest first, after tap_path_find() */
	struct tap_path_sum *tasks;
	unsigned int nr_tasks;
	bool keeps; /* set by the caller: keep .segments */
	struct tap_path_segment *segments; /* owned; in time order after tap_path_find() */
	unsigned int nr_segments;

	/* private */
	unsigned int cap_tasks, cap_segments;
	unsigned int *places, nr_places; /* owned; by the task's .index: index in .tasks, plus 1 */
};

/* @path: all zero except .keeps. Return: 0 or -ENOMEM. */
int tap_path_find(struct tap_path *path, struct tap_walk *w, unsigned int task, uint64_t from_ns,
		  uint64_t to_ns);
void tap_path_release(struct tap_path *path);

/*
 * Return how long tasks on the path were runnable without a CPU. Throttled time is not included,
 * since no scheduler could have saved it.
 */
uint64_t tap_path_scheduling_ns(const struct tap_path_sum *sum);

#endif
