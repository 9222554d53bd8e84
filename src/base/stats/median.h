/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The median of some values, and where the median of all that they were drawn from lies: between
 * two of the values, as many from each end, by the binomial distribution. Nothing is assumed of how
 * values are distributed.
 */
#ifndef TAP_STATS_MEDIAN_H
#define TAP_STATS_MEDIAN_H

#include "base/stats/confidence.h"

/* Fewer values have no interval. */
#define TAP_MEDIAN_MIN 6u

void tap_stats_sort(double *v, unsigned int nr);
/* @sorted: @nr of them, > 0. */
double tap_median(const double *sorted, unsigned int nr);
struct tap_confidence tap_median_interval(const double *sorted, unsigned int nr);

#endif
