/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a metric can be, with all that a recording does not tell: from .low, the least, to .high.
 *
 * A recording is complete if nothing in it is known to be missing: no loss, no broken chain of
 * switches, nothing switched off. Its numbers are exact but for the waits whose length is not known
 * (censored: the window cuts them); quantiles of more than TAP_HIST_EXACT waits are as wide as
 * their bucket's half, 0.8 %.
 *
 * Of waits, n have a length. Others are in doubt: c waits that were cut (censored), of any length,
 * and in incomplete recordings u hidden waits, as many and as long as lost events and unknown time
 * allow (hidden.h).
 *  - a quantile: at least as if all in doubt were shorter than any other. At most x, if it is not
 * above x even when the c cut waits, and the hidden waits that can be longer than x, are longer
 * than all others;
 *  - the longest, as far as it lies in the window: at least the longest that has a length, or what
 * was seen of one that was cut. This is its value, too. At most also the longest time in which a
 * task may have waited all along: waiting and unknown states one after the other. An unknown state
 * that does not end by running was no wait after the last hole in it. No task was throttled in a
 * complete recording that has no event of throttling;
 *  - a rate: none of the waits in doubt count, or all;
 *  - the mean: the waits in doubt have no length, or all u are the longest that a hidden wait can
 * be. Unbounded if c is not 0. "any" are all of these waits. A task that no event names is in none.
 * A task that an event names is: if its state is unknown throughout, it may have waited throughout.
 * Where sched_wakeup_new was not recorded, the first wait of a new task is in none.
 *
 * Rates of migrations and switches: at most one more for each lost event. A CPU's time that is
 * unknown may have been all run, or none. What was lost is exact, or at least so much.
 *
 * Frequencies, of complete recordings: what is not known of the CPUs' time may have been at any.
 * Waiting on critical paths: all that is unknown of the paths, or none of it. Requests, of complete
 * recordings: those that did not end or did not begin are shorter than any other, or longer; of
 * what their paths are made up nothing is known if something of one is not.
 *
 * Deadlines: those that were missed were. More by the jobs in which something is unknown, and
 * without a bound where events were lost. So with what deadline servers picked.
 *
 * EEVDF's rules, of complete recordings: what is undecided keeps the rule, or is against it.
 *
 * All others are exact in complete recordings, and not bounded in others.
 */
#ifndef TAP_METRIC_BOUNDS_H
#define TAP_METRIC_BOUNDS_H

#include "analysis/metric/measure.h"

/*
 * Of all metrics that tap_measure_end() gave, with .has_bounds and not .by_task. Adds those that
 * are for bounds alone: "latency.any.max", and the longest of waits where none has a length.
 * Return: 0 or -ENOMEM.
 */
int tap_metrics_bound(struct tap_metrics *metrics, const struct tap_measure *m);

/* Every name that there is, each with its unit, of no recording. Return: 0 or -ENOMEM. */
int tap_metrics_names(struct tap_metrics *out);

#endif
