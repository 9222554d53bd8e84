/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Where a number lies, at 95 % confidence or more. */
#ifndef TAP_STATS_INTERVAL_H
#define TAP_STATS_INTERVAL_H

#include <math.h>

#define TAP_STATS_ALPHA 0.05

struct tap_confidence {
	double low, high; /* NAN: there are too few values for one */
};

#define TAP_CONFIDENCE_NONE ((struct tap_confidence){ NAN, NAN })

#endif
