/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Load-tracking signals and frequencies over time. Of curves with many points the least, the most
 * and the last of equal intervals of the window are kept: memory is bounded, whatever is recorded.
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
	const int *tids; /* whose signals are kept */
	unsigned int nr_tids;

	struct tap_pelt *signals; /* made by tap_curves_init() */
	/* inside */
	struct tap_map tid_set, by_series; /* series -> index of its curve, plus one */
	struct tap_drawn_curve *v; /* owned */
	unsigned int nr, cap;
	unsigned int nr_wanted;
	uint64_t nr_points; /* of all */
	unsigned int max_points; /* of one */
	struct tap_buf t, values;
};

/* Whether there are events that tell of some; behind the survey. */
bool tap_curves_are_in(const struct tap_run *run);
/* The four in front are the caller's. Return: 0 or -ENOMEM, as all of these; release in either
 * case. */
int tap_curves_init(struct tap_curves *c);
void tap_curves_release(struct tap_curves *c);
/*
 * Two watchers make the curves: tap_pelt_ops with .signals, and this one of frequencies. Its ctx:
 * struct tap_curves.
 */
extern const struct tap_watcher_ops tap_curves_frequency_ops;
/* After the watchers' end. Adds the columns, which are @c's; to @json the curves, with commas
 * between. */
int tap_curves_end(struct tap_curves *c, struct tap_runners *runners, struct tap_buf *json,
		   struct tap_drawn_columns *columns);

#endif
