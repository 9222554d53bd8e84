/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What is drawn of a part of a recording, as the page reads it (docs/internals/html.md): a JSON
 * text and columns of numbers.
 */
#ifndef TAP_DRAWN_PART_H
#define TAP_DRAWN_PART_H

#include "show/drawn/lanes.h"

#define TAP_DRAWN_BUCKETS 65536u /* of one row, at most */

struct tap_drawn_opts {
	uint64_t origin_ns; /* what times count from: not behind the run's window */
	const struct tap_lanes *lanes;
	/* Where there are more slices the part has none, and task levels in their place. */
	uint64_t max_slices;
	bool has_levels; /* of CPUs, also where it has slices */
	bool one_level; /* levels: the finest alone */
	/* of the finest level, at most; fewer where rows are many; 0: 16384 */
	unsigned int buckets;
	/* Rows of task levels: these, or where .nr_tids is 0 the tasks that ran and waited most, up
	 * to .max_tasks. */
	const int *tids;
	unsigned int nr_tids, max_tasks;
	bool has_curves;
};

struct tap_drawn {
	uint64_t slices; /* in the window */
	bool has_slices; /* they are in the part */
	size_t first_bytes; /* of the part: enough to draw CPUs from levels */
};

/*
 * Adds the part that is @run's window to @out. @run: surveyed, and not fed yet; it may be read
 * twice. @drawn: what came of it, or NULL. Return: 0; -errno with a sentence.
 */
int tap_drawn_part(struct tap_run *run, const struct tap_drawn_opts *opts, struct tap_buf *out,
		   struct tap_drawn *drawn, struct tap_err *err);

#endif
