/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Quantiles of one series in time against those of another. Values that are near each other in time
 * hang together, so blocks of time are drawn again, each with all that is in it: the interval is of
 * the differences that come of that. It says how far chance within these two series goes, and
 * nothing of a third one.
 */
#ifndef TAP_STATS_BOOTSTRAP_H
#define TAP_STATS_BOOTSTRAP_H

#include "base/hist.h"
#include "base/stats/confidence.h"

#define TAP_BOOTSTRAP_DRAWS 1000u
/* Of fewer blocks there is no interval. */
#define TAP_BOOTSTRAP_MIN 10u

struct tap_blocks {
	const struct tap_hist *v; /* what was in each block of time */
	unsigned int nr;
};

/*
 * Of @b's quantiles above @a's: @parts and @intervals are @nr. The same input has the same result.
 * Return: 0 or -ENOMEM.
 */
int tap_bootstrap_quantiles(struct tap_blocks a, struct tap_blocks b, const double *parts,
			    unsigned int nr, struct tap_confidence *intervals);

#endif
