/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How many waits unknown time can hide, and how long they can be. Without this, one gap of unknown
 * size would make every number unknown.
 *
 * A doubt is a time in which one task may have waited from start to end: adjacent intervals of
 * waiting and of unknown state, at least one of them unknown. A hidden wait is a wait within a
 * doubt, as far as it lies in the window.
 *
 * Length: no hidden wait is longer than its doubt. A gap of d ns therefore hides no wait longer
 * than d plus the adjacent time in which the task waited or its state was unknown.
 *
 * Number: a wait ends when its task is switched in. If that switch was recorded, it ended an
 * interval of unknown state, so there is at most one such wait for each interval. (That is also so
 * if all events of the wait were recorded, because after a gap a wakeup may be in vain.) Otherwise
 * the switch is missing. The number of such waits is limited by the smallest of these:
 *
 *  - two for each lost event, if the number of lost events is known: a single sched_switch ends one
 *    wait and may begin another;
 *  - d / s, if tasks' unknown intervals add up to d ns. Two waits of one task begin at least s ns
 *    apart: s is the shortest wait or slice that was recorded, and at most 1 us, because a context
 *    switch with its event takes about as long;
 *  - the sum of d / s + 1 over the unknown intervals of CPUs, of d ns each, since two switches of a
 *    CPU are at least s ns apart, too.
 *
 * Number of waits longer than x: none in a doubt that is not longer than x, and at most L / x in a
 * doubt of L ns. One of these may end at the doubt's end, and each of the others ends in a gap, so
 * gaps of d ns in total hide at most d / x + the number of gaps.
 */
#ifndef TAP_METRIC_HIDDEN_H
#define TAP_METRIC_HIDDEN_H

#include "timeline/timeline.h"

#define TAP_HIDDEN_SHORTEST_NS 1000u
#define TAP_HIDDEN_LENGTHS 64u

struct tap_unknown_time {
	uint64_t nr, ns;
};

/* All zero: empty. */
struct tap_hidden {
	/* intervals within the window in which waits may be hidden */
	struct tap_unknown_time of_tasks, of_cpus;
	uint64_t shortest_ns; /* of the recorded waits and slices; 0: there was none */
	uint64_t longest_ns; /* longest doubt */
	/* [i]: number of doubts of 2^i to 2^(i+1) - 1 ns; complete after tap_hidden_end() */
	uint64_t doubts[TAP_HIDDEN_LENGTHS];
	struct tap_doubt {
		uint64_t from_ns, to_ns;
		/* how long the task may have waited, from .from_ns on and within the window */
		uint64_t ns;
		bool is_unknown; /* part of it is unknown */
	} * last; /* owned; by tap_task.index: each task's latest doubt */
	unsigned int nr_last;
};

void tap_hidden_release(struct tap_hidden *h);
/*
 * Call for each task in the order in which intervals end. @s: in any state. Return: 0 or -ENOMEM.
 */
int tap_hidden_interval(struct tap_hidden *h, const struct tap_timeline *t,
			const struct tap_interval *s);
void tap_hidden_cpu(struct tap_hidden *h, const struct tap_cpu_interval *s);
void tap_hidden_end(struct tap_hidden *h);

/*
 * Return the upper bound of the number of hidden waits. Call after tap_hidden_end(). @lost: number
 * of lost events; INFINITY: unknown.
 */
double tap_hidden_waits(const struct tap_hidden *h, const struct tap_survey *survey, double lost);
/*
 * Return how many of these may be longer than @ns, which is above 0. Call after tap_hidden_end().
 */
double tap_hidden_longer(const struct tap_hidden *h, const struct tap_survey *survey,
			 struct tap_window window, double ns);

#endif
