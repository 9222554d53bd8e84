/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The two-sided Mann-Whitney test: if all these values were split into two groups at random, how
 * often would the rank sums differ as much as they do? Equal values share their mean rank. For up
 * to TAP_RANK_SUM_EXACT values in total all possible groups are counted, including ties; for more
 * values the normal approximation is used, with corrections for ties and continuity.
 */
#ifndef TAP_STATS_RANK_SUM_H
#define TAP_STATS_RANK_SUM_H

#include <stdint.h>

#define TAP_RANK_SUM_EXACT 50u

/* Compute the p-value. Neither group may be empty. Return: 0 or -ENOMEM. */
int tap_rank_sum_p(const double *a, unsigned int nr_a, const double *b, unsigned int nr_b,
		   double *p);

/*
 * Find how many of all pairwise differences between the groups may be excluded at each end so that
 * the rest contains the true shift at a confidence level of 1 - @alpha. Assumes that there are no
 * ties. @nr: set to that number; 0 if there are too few values. Return: 0 or -ENOMEM.
 */
int tap_rank_sum_outside(unsigned int nr_a, unsigned int nr_b, double alpha, uint64_t *nr);

/* Return the smallest size of both groups for which p can be @alpha or less. */
unsigned int tap_rank_sum_needs(double alpha);

#endif
