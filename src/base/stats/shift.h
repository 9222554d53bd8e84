/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * By how much one group is above another, after Hodges and Lehmann: the median of all differences
 * between one of each, with the interval that goes with the test of rank_sum.h.
 */
#ifndef TAP_STATS_SHIFT_H
#define TAP_STATS_SHIFT_H

#include "base/stats/confidence.h"

/* Of @b above @a. Both have some. Return: 0 or -ENOMEM. */
int tap_shift(const double *a, unsigned int nr_a, const double *b, unsigned int nr_b, double *shift,
	      struct tap_confidence *interval);

#endif
