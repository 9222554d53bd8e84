/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How many waits unknown time can hide, and how long they can be. So one gap of unknown size does
 * not make every number unknown.
 *
 * A doubt is a time in which one task may have waited from start to end: intervals of waiting and
 * of unknown state that follow each other, at least one of them unknown. A hidden wait is a wait in
 * a doubt, as far as it lies in the window.
 *
 * Length: no hidden wait is longer than its doubt. A gap of d ns therefore hides no wait longer
 * than d and the adjacent time in which the task waited or its state was unknown.
 *
 * Number: a wait ends when its task is switched in. Either that switch was recorded, and then it
 * ended an interval of unknown state: at most one wait for each interval, and also if all events of
 * the wait were recorded, because after a gap a wakeup may be in vain. Or the switch is missing.
 * Such waits are as few as the smallest of these allows:
 *  - two for each lost event, if their number is known: one sched_switch, which ends one wait, may
 * begin another;
 *  - d / s in unknown states of tasks, d ns long in all. Two waits of one task begin at least s ns
 * apart: s is the shortest wait or slice that was seen, and at most 1 us, because a context switch
 * with its event takes about as long;
 *  - d / s + 1 in each unknown interval of a CPU of d ns, for two switches are that far apart, too.
 *
 * Number of waits longer than x: none in a doubt that is not longer than x, at most L / x in a
 * doubt of L ns. One of them may end at the doubt's end, and each other one ends in a gap, so gaps
 * of d ns together hide at most d / x + the number of gaps.
 */
#ifndef TAP_METRIC_HIDDEN_H
#define TAP_METRIC_HIDDEN_H

#include "timeline/timeline.h"

#define TAP_HIDDEN_SHORTEST_NS 1000u
#define TAP_HIDDEN_LENGTHS 64u

struct tap_unknown_time {
	uint64_t nr, ns;
};

/* {0} is empty. */
struct tap_hidden {
	/* intervals within the window in which something may have been hidden */
	struct tap_unknown_time of_tasks, of_cpus;
	uint64_t shortest_ns; /* of the waits and slices that were seen; 0: none was */
	uint64_t longest_ns; /* doubt */
	/* [i]: those of 2^i to 2^(i+1) - 1 ns. Complete after tap_hidden_end() */
	uint64_t doubts[TAP_HIDDEN_LENGTHS];
	struct tap_doubt {
		uint64_t from_ns, to_ns;
		/* until when the task may have waited, from .from_ns on and within the window */
		uint64_t ns;
		bool is_unknown; /* some of it is */
	} * last; /* by tap_task.index: the task's latest. Owned */
	unsigned int nr_last;
};

void tap_hidden_release(struct tap_hidden *h);
/* In the order in which they end, for each task. @s: in any state. Return: 0 or -ENOMEM. */
int tap_hidden_interval(struct tap_hidden *h, const struct tap_timeline *t,
			const struct tap_interval *s);
void tap_hidden_cpu(struct tap_hidden *h, const struct tap_cpu_interval *s);
void tap_hidden_end(struct tap_hidden *h);

/* After the end, here and below. @lost: events; INFINITY: their number is not known. Return: how
 * many waits may be hidden. */
double tap_hidden_waits(const struct tap_hidden *h, const struct tap_survey *survey, double lost);
/* Return: how many of these may be longer than @ns, which is above 0. */
double tap_hidden_longer(const struct tap_hidden *h, const struct tap_survey *survey,
			 struct tap_window window, double ns);

#endif
