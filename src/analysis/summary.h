/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What happened, on one page: the window, the events of each kind, what was lost, what it
 * cost, what each CPU did, and the tasks that ran most.
 */
#ifndef TAP_ANALYSIS_SUMMARY_H
#define TAP_ANALYSIS_SUMMARY_H

#include "timeline/timeline.h"

struct tap_summary_kind {
	const struct tap_format *fmt;
	uint64_t count;
};

struct tap_summary {
	uint64_t start_ns, end_ns; /* the window: the recording's own, or first to last event */
	uint64_t events, bytes;	   /* of records, without page headers */
	uint64_t lost, loss_intervals;
	bool lost_unknown; /* some intervals have no count: lost is a lower bound */
	struct tap_summary_kind *kinds; /* owned, most frequent first */
	unsigned int nr_kinds;
	struct tap_map by_format; /* index + 1 into kinds, until the end */
	struct tap_timeline *timeline; /* owned; ended */
};

/* @start_ns, @end_ns: the window, as for tap_timeline_window(). Return: 0 or -ENOMEM. */
int tap_summary_new(uint64_t start_ns, uint64_t end_ns, struct tap_summary **out);
/* An event outside the window is not counted, but tells what ran before it. */
int tap_summary_event(struct tap_summary *s, const struct tap_event *ev);
int tap_summary_end(struct tap_summary *s);
void tap_summary_free(struct tap_summary *s);

#endif
