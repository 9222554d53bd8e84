/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The normal distribution. */
#ifndef TAP_STATS_NORMAL_H
#define TAP_STATS_NORMAL_H

/* Both sides together: how often a value is further from the middle than @z standard deviations, >=
 * 0. */
double tap_normal_p(double z);
/* The other way round: 0 < @p <= 1. */
double tap_normal_z(double p);

#endif
