// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/stats/normal.h"

#include <math.h>

#define FAR 40.0 /* beyond this, p is 0 as a double */

double tap_normal_p(double z)
{
	return erfc(z * M_SQRT1_2);
}

double tap_normal_z(double p)
{
	double low = 0, high = FAR;

	for (int i = 0; i < 100; i++) {
		double z = (low + high) / 2;

		*(tap_normal_p(z) > p ? &low : &high) = z;
	}
	return low;
}
