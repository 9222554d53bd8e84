/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Bounds of metrics: the least (.low) and the greatest (.high) value that a metric can have, given
 * what a recording does not contain.
 *
 * A recording is complete if nothing in it is known to be missing: it has no losses, no broken
 * chains of switches, and events were never switched off. Then its numbers are exact, except for
 * waits of unknown length (censored: the window cuts them). Quantiles of more than TAP_HIST_EXACT
 * waits have an error of half a histogram bucket, 0.8 %.
 *
 * Of the waits, n have a known length. Others are in doubt: c waits that were cut (censored) may
 * have any length, and in an incomplete recording there may be u hidden waits, at most as many and
 * as long as lost events and unknown time allow (hidden.h).
 *
 *  - Quantile: the lower bound assumes that all waits in doubt are shorter than any other. The
 *    upper bound is x if the quantile is at most x even when the c cut waits, and those hidden
 *    waits that can be longer than x, are longer than all others.
 *  - Maximum, within the window: the lower bound is the longest wait of known length, or the
 *    recorded part of a cut wait if that is longer; it is also the metric's value. The upper bound
 *    is the longest time in which a task may have waited without interruption: adjacent intervals
 *    of waiting and of unknown state. An unknown interval that does not end with the task running
 *    was no wait after the last hole in it. If a complete recording has no throttling event, no
 *    task was throttled.
 *  - Rate: none or all of the waits in doubt count.
 *  - Mean: all waits in doubt have length 0, or all u hidden waits are as long as a hidden wait can
 *    be. Without upper bound if c is not 0.
 *
 * "latency.any" covers all kinds of waits. A task that no event names is in none of them. A task
 * that an event names may have waited throughout if its state is unknown throughout. If
 * sched_wakeup_new was not recorded, a new task's first wait is not counted.
 *
 * Rates of migrations and switches: at most one more for each lost event. A CPU's unknown time may
 * have been running time, or not. The number of lost events is exact, or a lower bound.
 *
 * Frequencies, of complete recordings: in its unknown time a CPU may have had any frequency.
 * Waiting on critical paths: all or none of the unknown time on the paths. Requests, of complete
 * recordings: those without begin or end are shorter than any other, or longer; if anything on a
 * path is unknown, nothing is known of what the paths are made up of.
 *
 * Deadlines: the reported misses are certain. There may be one more for each job in which something
 * is unknown, and any number if events were lost, as for picks by deadline servers.
 *
 * EEVDF's rules, of complete recordings: undecided cases obey the rule, or violate it.
 *
 * All other metrics are exact in complete recordings, and without bounds in others.
 */
#ifndef TAP_METRIC_BOUNDS_H
#define TAP_METRIC_BOUNDS_H

#include "analysis/metric/measure.h"

/*
 * Set the bounds of all metrics that tap_measure_end() returned, with .has_bounds and without
 * .by_task. Adds metrics that exist only with bounds: "latency.any.max", and the maximum of waits
 * of which none has a known length. Return: 0 or -ENOMEM.
 */
int tap_metrics_bound(struct tap_metrics *metrics, const struct tap_measure *m);

/* Add every metric's name with its unit, independent of a recording. Return: 0 or -ENOMEM. */
int tap_metrics_names(struct tap_metrics *out);

#endif
