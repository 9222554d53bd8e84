/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Compare quantiles of two time series. Values that are close in time are correlated, so whole
 * blocks of time are resampled with all their values (block bootstrap): the interval covers the
 * differences between the resampled series. It shows how much these two series may differ by
 * chance; it says nothing about a third series.
 */
#ifndef TAP_STATS_BOOTSTRAP_H
#define TAP_STATS_BOOTSTRAP_H

#include "base/hist.h"
#include "base/stats/confidence.h"

#define TAP_BOOTSTRAP_DRAWS 1000u
/* Minimum number of blocks; with fewer no interval is computed. */
#define TAP_BOOTSTRAP_MIN 10u

struct tap_blocks {
	const struct tap_hist *v; /* the values of each block of time */
	unsigned int nr;
};

/*
 * Compute a confidence interval for quantile(@b) - quantile(@a), for each of @nr quantiles in
 * @parts. The same input always gives the same result. Return: 0 or -ENOMEM.
 */
int tap_bootstrap_quantiles(struct tap_blocks a, struct tap_blocks b, const double *parts,
			    unsigned int nr, struct tap_confidence *intervals);

#endif
