/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The normal distribution. */
#ifndef TAP_STATS_NORMAL_H
#define TAP_STATS_NORMAL_H

/*
 * Two-sided: return the probability that a value lies more than @z >= 0 standard deviations from
 * the mean.
 */
double tap_normal_p(double z);
/* The inverse of tap_normal_p(), for 0 < @p <= 1. */
double tap_normal_z(double p);

#endif
