/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What each CPU did, by buckets of time: who ran most, for how much of it, the longest wait that
 * ended, how many were there. Memory does not depend on how long the recording is.
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
	struct tap_pyramid pyramid; /* a row is a lane */
	/* inside; owned, by cell */
	uint32_t *runner; /* TAP_RUNNER_...: from TAP_RUNNER_TASKS on a task's index; TAP_OTHERS */
	uint8_t *busy, *unknown;
	uint32_t *wait_us;
	/* of the finest level: in parts of one that is there all the time */
	uint32_t *there;
	int32_t *there_change; /* from this bucket on: how many are there for whole buckets */
	struct tap_level_bucket *open; /* by row and level: the one that is being filled */
	struct tap_buf columns[TAP_PYRAMID_LEVELS][TAP_NR_LEVEL_COLUMNS];
};

/* The two in front are the caller's. Return: 0 or -ENOMEM, as all of these. */
int tap_levels_init(struct tap_levels *l);
void tap_levels_release(struct tap_levels *l);
/* ctx: struct tap_levels; with TAP_PICK_TASKS. */
extern const struct tap_watcher_ops tap_levels_ops;
/* All was told. Adds the columns, which are @l's, of the levels from @first on, the coarsest first;
 * those that are drawn first are .nr_first. */
int tap_levels_end(struct tap_levels *l, unsigned int first, struct tap_runners *runners,
		   struct tap_drawn_columns *columns);

#endif
