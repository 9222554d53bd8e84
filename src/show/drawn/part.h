/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Drawable data of a part of a recording in the page's format (docs/internals/html.md): a JSON text
 * and columns of numbers.
 */
#ifndef TAP_DRAWN_PART_H
#define TAP_DRAWN_PART_H

#include "show/drawn/lanes.h"

#define TAP_DRAWN_BUCKETS 65536u /* maximum number of time buckets per row */

struct tap_drawn_opts {
	uint64_t origin_ns; /* time origin; not after the beginning of the run's window */
	const struct tap_lanes *lanes;
	/* If there are more slices, the part has task levels instead of slices. */
	uint64_t max_slices;
	bool has_levels; /* include levels of CPUs even if it has slices */
	bool one_level; /* write only the finest level */
	/* Maximum for the finest level; fewer if there are many rows; 0: 16384. */
	unsigned int buckets;
	/*
	 * Rows of the task levels: @tids, or if .nr_tids is 0 the tasks with the most run and wait
	 * time, at most .max_tasks.
	 */
	const int *tids;
	unsigned int nr_tids, max_tasks;
	bool has_curves;
};

struct tap_drawn {
	uint64_t slices; /* number of slices in the window */
	bool has_slices; /* the part includes the slices */
	/* size of the part's beginning, which suffices to draw CPUs from levels */
	size_t first_bytes;
};

/*
 * Append the part for @run's window to @out. @run: surveyed, but its events not read yet; they may
 * be read twice. @drawn: set to a summary of the part; or NULL. Return: 0; -errno with a sentence.
 */
int tap_drawn_part(struct tap_run *run, const struct tap_drawn_opts *opts, struct tap_buf *out,
		   struct tap_drawn *drawn, struct tap_err *err);

#endif
