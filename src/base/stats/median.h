/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The median of a sample, and a confidence interval for the population's median: from a low to a
 * high value of the sample that exclude the same number of values at each end, by the binomial
 * distribution. It makes no assumption about the distribution of values.
 */
#ifndef TAP_STATS_MEDIAN_H
#define TAP_STATS_MEDIAN_H

#include "base/stats/confidence.h"

/* Minimum number of values; with fewer no interval is computed. */
#define TAP_MEDIAN_MIN 6u

void tap_stats_sort(double *v, unsigned int nr);
/* @sorted: @nr > 0 values in rising order. */
double tap_median(const double *sorted, unsigned int nr);
struct tap_confidence tap_median_interval(const double *sorted, unsigned int nr);

#endif
