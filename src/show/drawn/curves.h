/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Load-tracking signals and frequencies over time. For curves with many points, only the minimum,
 * the maximum and the last value of equal intervals are kept, so that memory is bounded.
 */
#ifndef TAP_DRAWN_CURVES_H
#define TAP_DRAWN_CURVES_H

#include "analysis/pelt.h"
#include "show/drawn/column.h"
#include "show/drawn/lanes.h"
#include "show/drawn/runners.h"

struct tap_curves {
	struct tap_run *run;
	const struct tap_lanes *lanes;
	const int *tids; /* the tasks whose signals are kept */
	unsigned int nr_tids;

	struct tap_pelt *signals; /* created by tap_curves_init() */
	/* private */
	struct tap_map tid_set, by_series; /* .by_series: series -> index of its curve + 1 */
	struct tap_drawn_curve *v; /* owned */
	unsigned int nr, cap;
	unsigned int nr_wanted;
	uint64_t nr_points; /* number of points of all curves */
	unsigned int max_points; /* limit of points per curve */
	struct tap_buf t, values;
};

/* Return true if the recording has such events. Call it after the survey. */
bool tap_curves_are_in(const struct tap_run *run);
/*
 * Initialize; the caller sets the first four members. Return: 0 or -ENOMEM, as all functions here;
 * release in either case.
 */
int tap_curves_init(struct tap_curves *c);
void tap_curves_release(struct tap_curves *c);
/*
 * Two watchers fill the curves: tap_pelt_ops with .signals as ctx, and this one for frequencies.
 * Its ctx: struct tap_curves.
 */
extern const struct tap_watcher_ops tap_curves_frequency_ops;
/*
 * After the watchers' end: add the columns, which @c owns, and append the curves to @json,
 * separated by commas.
 */
int tap_curves_end(struct tap_curves *c, struct tap_runners *runners, struct tap_buf *json,
		   struct tap_drawn_columns *columns);

#endif
