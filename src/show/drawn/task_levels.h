/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What some tasks did in each time bucket, for recordings with too many slices to draw. */
#ifndef TAP_DRAWN_TASK_LEVELS_H
#define TAP_DRAWN_TASK_LEVELS_H

#include "show/drawn/column.h"
#include "show/drawn/pyramid.h"
#include "show/drawn/runners.h"

enum { TAP_TASK_RUN, TAP_TASK_WAIT, TAP_TASK_BLOCKED, TAP_TASK_UNKNOWN, TAP_NR_TASK_LEVELS };

struct tap_task_levels {
	/* one row per tid; tasks that had the same tid share a row */
	struct tap_pyramid pyramid;
	struct tap_map rows; /* maps a tid to its row */
	/* owned; shares of each bucket of the finest level, 0..1 */
	float *part[TAP_NR_TASK_LEVELS];
	struct tap_buf columns[TAP_NR_TASK_LEVELS];
};

/*
 * @tids: one row each, in this order, without duplicates. Other parameters as in
 * tap_pyramid_init(). Return: 0 or -ENOMEM; release in either case.
 */
int tap_task_levels_init(struct tap_task_levels *l, struct tap_window window, const int *tids,
			 unsigned int nr_tids, unsigned int buckets, bool one_level);
void tap_task_levels_release(struct tap_task_levels *l);
/* ctx: struct tap_task_levels. */
extern const struct tap_watcher_ops tap_task_levels_ops;
/*
 * After all events: add the columns, which @l owns, with the rows of existing tasks, and append
 * these tasks' numbers to @numbers, separated by commas. Return: 0 or -ENOMEM.
 */
int tap_task_levels_end(struct tap_task_levels *l, const struct tap_timeline *t, const int *tids,
			struct tap_runners *runners, struct tap_buf *numbers,
			struct tap_drawn_columns *columns);

#endif
