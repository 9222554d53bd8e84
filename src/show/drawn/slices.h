/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Every interval in which a CPU was not idle, as columns. The timeline reports what a CPU ran, then
 * how the task left, then how the next task came to run. So a slice is written when the CPU's next
 * slice is reported.
 */
#ifndef TAP_DRAWN_SLICES_H
#define TAP_DRAWN_SLICES_H

#include "show/drawn/column.h"
#include "show/drawn/lanes.h"
#include "show/drawn/runners.h"

struct tap_drawn_slices {
	struct tap_run *run;
	const struct tap_lanes *lanes;
	uint64_t max; /* maximum number of slices; if it is exceeded, none are kept */
	struct tap_runners *runners;

	uint64_t nr; /* number of slices, including those not kept */
	bool is_over; /* .max was exceeded */
	/* private */
	struct tap_slice_lane *v; /* owned; by lane */
	/*
	 * Owned; by task index: the task's last waker, as TAP_WAKER_... or TAP_WAKER_TASKS + its
	 * index.
	 */
	uint32_t *wakers;
	unsigned int nr_wakers;
	struct tap_buf nr_column;
};

/*
 * Initialize; the caller sets the first four members. Return: 0 or -ENOMEM, as all functions here.
 */
int tap_drawn_slices_init(struct tap_drawn_slices *s);
void tap_drawn_slices_release(struct tap_drawn_slices *s);
/* ctx: struct tap_drawn_slices. */
extern const struct tap_watcher_ops tap_drawn_slices_ops;
/*
 * After all events: add the columns, which @s owns. The first column has the number of slices per
 * lane.
 */
int tap_drawn_slices_end(struct tap_drawn_slices *s, struct tap_drawn_columns *columns);

#endif
