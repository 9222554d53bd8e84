// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/stats/shift.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>

#include "base/stats/median.h"
#include "base/stats/rank_sum.h"

int tap_shift(const double *a, unsigned int nr_a, const double *b, unsigned int nr_b, double *shift,
	      struct tap_confidence *interval)
{
	size_t nr = (size_t)nr_a * nr_b;
	uint64_t outside;
	double *differences = nr <= UINT_MAX ? malloc(nr * sizeof(*differences)) : NULL;
	int ret =
		differences ? tap_rank_sum_outside(nr_a, nr_b, TAP_STATS_ALPHA, &outside) : -ENOMEM;

	if (ret)
		goto out;
	for (size_t i = 0; i < nr; i++)
		differences[i] = b[i % nr_b] - a[i / nr_b];
	tap_stats_sort(differences, (unsigned int)nr);
	*shift = tap_median(differences, (unsigned int)nr);
	*interval = TAP_CONFIDENCE_NONE;
	if (outside)
		*interval = (struct tap_confidence){ differences[outside - 1],
						     differences[nr - outside] };
out:
	free(differences);
	return ret;
}
