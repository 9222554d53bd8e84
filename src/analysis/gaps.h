/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The cause of each interval in which it is unknown what a CPU ran. Uses the timeline's CPU
 * intervals, in their order.
 */
#ifndef TAP_ANALYSIS_GAPS_H
#define TAP_ANALYSIS_GAPS_H

#include "timeline/timeline.h"

enum tap_gap {
	TAP_GAP_START, /* before the CPU's first switch, even if it was offline */
	TAP_GAP_OFF, /* a trigger had switched events off; lasts until the next switch */
	TAP_GAP_LOST, /* events were lost; lasts until the next switch */
	TAP_GAP_HIDDEN, /* after a task that is hidden from tracing (survey.h) */
	TAP_GAP_BROKEN, /* after another missing switch that no loss explains */
	TAP_GAP_SILENT, /* the CPU has no switch at all */
	TAP_NR_GAPS,
};

struct tap_gaps_cpu;

struct tap_gaps {
	const struct tap_survey *survey; /* borrowed */
	struct tap_window window;
	uint64_t ns[TAP_NR_GAPS];
	/* private */
	struct tap_gaps_cpu *cpus; /* owned */
	unsigned int nr_cpus;
};

const char *tap_gap_name(enum tap_gap gap); /* "start", "lost", ... */
/* ctx: struct tap_gaps, with .survey and .window set and the rest zero. */
extern const struct tap_watcher_ops tap_gaps_ops;
/*
 * Get the cause of an interval of an unknown CPU while it is reported, after it was reported to @g.
 * Return: false if the interval was not reported to @g, or if no event is missing in it (.outside).
 */
bool tap_gaps_find(const struct tap_gaps *g, const struct tap_cpu_interval *s, enum tap_gap *gap);
void tap_gaps_release(struct tap_gaps *g);

#endif
