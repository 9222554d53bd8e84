/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Every interval in which a CPU was not idle, as columns. The timeline tells what a CPU ran, then
 * how the task left it, then how the next one came: so a slice is written when the next one of its
 * CPU is told.
 */
#ifndef TAP_DRAWN_SLICES_H
#define TAP_DRAWN_SLICES_H

#include "show/drawn/column.h"
#include "show/drawn/lanes.h"
#include "show/drawn/runners.h"

struct tap_drawn_slices {
	struct tap_run *run;
	const struct tap_lanes *lanes;
	uint64_t max; /* more are not kept */
	struct tap_runners *runners;

	uint64_t nr; /* also of those that were not kept */
	bool is_over; /* there were more than .max */
	/* inside */
	struct tap_slice_lane *v; /* owned; by lane */
	/* owned; by task's index: of its last wakeup: TAP_WAKER_..., from TAP_WAKER_TASKS on an
	 * index */
	uint32_t *wakers;
	unsigned int nr_wakers;
	struct tap_buf nr_column;
};

/* The four in front are the caller's. Return: 0 or -ENOMEM, as all of these. */
int tap_drawn_slices_init(struct tap_drawn_slices *s);
void tap_drawn_slices_release(struct tap_drawn_slices *s);
/* ctx: struct tap_drawn_slices. */
extern const struct tap_watcher_ops tap_drawn_slices_ops;
/* All was told. Adds the columns, which are @s's; the first tells how many slices there are. */
int tap_drawn_slices_end(struct tap_drawn_slices *s, struct tap_drawn_columns *columns);

#endif
