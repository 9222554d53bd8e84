// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/stats/adjust.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

static int by_falling_p(const void *a, const void *b)
{
	double x = **(double *const *)a, y = **(double *const *)b;

	return (x < y) - (x > y);
}

int tap_adjust_p(double *p, unsigned int nr)
{
	double **order = calloc(nr + 1, sizeof(*order));
	double least = 1;

	if (!order)
		return -ENOMEM;
	for (unsigned int i = 0; i < nr; i++)
		order[i] = &p[i];
	qsort(order, nr, sizeof(*order), by_falling_p);
	for (unsigned int i = 0; i < nr; i++) {
		least = fmin(least, *order[i] * nr / (nr - i));
		*order[i] = least;
	}
	free(order);
	return 0;
}
