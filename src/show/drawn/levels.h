/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What each CPU did in each time bucket: the task that ran longest, the share of time that tasks
 * ran, the longest wait that ended, and the greatest number of runnable tasks. Memory does not
 * depend on the recording's length.
 */
#ifndef TAP_DRAWN_LEVELS_H
#define TAP_DRAWN_LEVELS_H

#include "show/drawn/column.h"
#include "show/drawn/lanes.h"
#include "show/drawn/pyramid.h"
#include "show/drawn/runners.h"

#define TAP_NR_LEVEL_COLUMNS 5u

struct tap_levels {
	const struct tap_lanes *lanes;
	struct tap_pyramid pyramid; /* time buckets, with one row per lane */
	/* Private; owned, indexed by cell. */
	uint32_t *runner; /* TAP_RUNNER_...; TAP_RUNNER_TASKS + a task's index; or TAP_OTHERS */
	uint8_t *busy, *unknown;
	uint32_t *wait_us;
	/*
	 * Finest level only: number of runnable tasks, in units of 1/THERE_ONE task during the
	 * whole bucket.
	 */
	uint32_t *there;
	/*
	 * Change in the number of tasks that are runnable during whole buckets, from this bucket
	 * on.
	 */
	int32_t *there_change;
	struct tap_level_bucket *open; /* by row and level: the bucket being filled */
	struct tap_buf columns[TAP_PYRAMID_LEVELS][TAP_NR_LEVEL_COLUMNS];
};

/*
 * Initialize; the caller sets the first two members. Return: 0 or -ENOMEM, as all functions here.
 */
int tap_levels_init(struct tap_levels *l);
void tap_levels_release(struct tap_levels *l);
/* ctx: struct tap_levels; use with TAP_PICK_TASKS. */
extern const struct tap_watcher_ops tap_levels_ops;
/*
 * After all events: add the columns, which @l owns, for the levels from @first on, coarsest level
 * first. Sets .nr_first to the columns that the page draws first.
 */
int tap_levels_end(struct tap_levels *l, unsigned int first, struct tap_runners *runners,
		   struct tap_drawn_columns *columns);

#endif
