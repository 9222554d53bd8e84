/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The two-sided test of Mann and Whitney: how often would two groups, made of all these values by
 * lot, differ in the sum of their ranks as much as these two do? Equal values share their mean
 * rank. Up to TAP_RANK_SUM_EXACT values together every way of making groups is counted, with ties
 * as they are; beyond that it is the normal approximation, with its corrections for ties and
 * continuity.
 */
#ifndef TAP_STATS_RANK_SUM_H
#define TAP_STATS_RANK_SUM_H

#include <stdint.h>

#define TAP_RANK_SUM_EXACT 50u

/* Both groups have some. Return: 0 or -ENOMEM. */
int tap_rank_sum_p(const double *a, unsigned int nr_a, const double *b, unsigned int nr_b,
		   double *p);

/*
 * By the same distribution, for values without ties: how many of all differences between one of
 * each group may be left out at each end, so that the true shift is among the rest at 1 - @alpha;
 * 0: there are too few. Return: 0 or -ENOMEM.
 */
int tap_rank_sum_outside(unsigned int nr_a, unsigned int nr_b, double alpha, uint64_t *nr);

/* How many values each group must have for any p to be as low as @alpha. */
unsigned int tap_rank_sum_needs(double alpha);

#endif
