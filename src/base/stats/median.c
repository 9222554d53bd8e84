// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/stats/median.h"

#include <stdlib.h>

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

void tap_stats_sort(double *v, unsigned int nr)
{
	qsort(v, nr, sizeof(*v), by_value);
}

double tap_median(const double *sorted, unsigned int nr)
{
	return (sorted[(nr - 1) / 2] + sorted[nr / 2]) / 2;
}

/* Return the probability that @i of @nr fair coins show heads. */
static double heads_probability(unsigned int i, unsigned int nr)
{
	return exp(lgamma(nr + 1.0) - lgamma(i + 1.0) - lgamma(nr - i + 1.0) - nr * M_LN2);
}

struct tap_confidence tap_median_interval(const double *sorted, unsigned int nr)
{
	unsigned int outside = 0; /* values excluded at each end */
	double below = heads_probability(0, nr);

	while (below <= TAP_STATS_ALPHA / 2)
		below += heads_probability(++outside, nr);
	if (!outside)
		return TAP_CONFIDENCE_NONE;
	return (struct tap_confidence){ sorted[outside - 1], sorted[nr - outside] };
}
