/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The Hodges-Lehmann estimate of how far one group lies above another: the median of all pairwise
 * differences, with the confidence interval that belongs to the test of rank_sum.h.
 */
#ifndef TAP_STATS_SHIFT_H
#define TAP_STATS_SHIFT_H

#include "base/stats/confidence.h"

/* Compute the shift of @b above @a. Neither group may be empty. Return: 0 or -ENOMEM. */
int tap_shift(const double *a, unsigned int nr_a, const double *b, unsigned int nr_b, double *shift,
	      struct tap_confidence *interval);

#endif
