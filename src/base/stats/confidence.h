/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A confidence interval at a level of at least 95 %. */
#ifndef TAP_STATS_INTERVAL_H
#define TAP_STATS_INTERVAL_H

#include <math.h>

#define TAP_STATS_ALPHA 0.05

struct tap_confidence {
	double low, high; /* NAN: too few values for an interval */
};

#define TAP_CONFIDENCE_NONE ((struct tap_confidence){ NAN, NAN })

#endif
