// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/stats/rank_sum.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/stats/normal.h"

struct ranked {
	double value;
	unsigned int rank2; /* twice the rank: an integer even if values share a rank */
	bool is_b;
};

static int by_value(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	return (x->value > y->value) - (x->value < y->value);
}

/*
 * Rank values that are sorted in rising order. Return: the sum of t^3 - t over groups of t equal
 * values.
 */
static double give_ranks(struct ranked *v, unsigned int nr)
{
	double ties = 0;

	for (unsigned int from = 0, to; from < nr; from = to) {
		double equal;

		for (to = from; to < nr && v[to].value == v[from].value; to++)
			;
		for (unsigned int i = from; i < to; i++)
			v[i].rank2 = from + 1 + to;
		equal = to - from;
		ties += equal * equal * equal - equal;
	}
	return ties;
}

/*
 * Count the groups of @size values by twice the sum of their ranks. All counts are below 2^53 for
 * up to TAP_RANK_SUM_EXACT values. @sums: set to the number of possible sums. Return: counts for
 * each group size 0..@size, to be freed by the caller; NULL when out of memory.
 */
static double *count_groups(const struct ranked *v, unsigned int nr, unsigned int size,
			    unsigned int *sums)
{
	/* reach: the greatest sum of @size of the values so far */
	unsigned int width = 1, first = 0, reach = 0;
	double *ways;

	for (unsigned int i = nr - size; i < nr; i++)
		width += v[i].rank2;
	*sums = width;
	ways = calloc((size_t)width * (size + 1), sizeof(*ways));
	if (!ways)
		return NULL;
	ways[0] = 1;
	for (unsigned int i = 0; i < nr; i++) {
		reach += v[i].rank2 - (i < size ? 0 : v[first++].rank2);
		for (unsigned int k = i < size ? i + 1 : size; k; k--)
			for (unsigned int s = reach; s >= v[i].rank2; s--)
				ways[k * (size_t)width + s] +=
					ways[(k - 1) * (size_t)width + s - v[i].rank2];
	}
	return ways;
}

static int exact_p(const struct ranked *v, unsigned int nr, unsigned int size, unsigned int sum,
		   double *p)
{
	unsigned int width;
	double *all = count_groups(v, nr, size, &width), *ways = all + (size_t)size * width;
	double low = 0, high = 0, both = 0;

	if (!all)
		return -ENOMEM;
	for (unsigned int s = 0; s < width; s++) {
		both += ways[s];
		low += s <= sum ? ways[s] : 0;
		high += s >= sum ? ways[s] : 0;
	}
	free(all);
	*p = fmin(1, 2 * fmin(low, high) / both);
	return 0;
}

/* @nr_a and @nr_b are doubles so that their product does not overflow. */
static double rank_sum_deviation(double nr_a, double nr_b, double ties)
{
	double nr = nr_a + nr_b;

	return sqrt(nr_a * nr_b / 12 * (nr + 1 - ties / (nr * (nr - 1))));
}

static double normal_p(double nr_a, double nr_b, double sum, double ties)
{
	double off = fabs(sum - nr_a * (nr_a + 1) / 2 - nr_a * nr_b / 2) - 0.5;
	double sd = rank_sum_deviation(nr_a, nr_b, ties);

	return sd > 0 && off > 0 ? tap_normal_p(off / sd) : 1;
}

int tap_rank_sum_p(const double *a, unsigned int nr_a, const double *b, unsigned int nr_b,
		   double *p)
{
	unsigned int nr = nr_a + nr_b;
	struct ranked *v = calloc(nr, sizeof(*v));
	uint64_t sum_a = 0, sum_b = 0;
	double ties;
	int ret = 0;

	if (!v)
		return -ENOMEM;
	for (unsigned int i = 0; i < nr; i++)
		v[i] = (struct ranked){ i < nr_a ? a[i] : b[i - nr_a], .is_b = i >= nr_a };
	qsort(v, nr, sizeof(*v), by_value);
	ties = give_ranks(v, nr);
	for (unsigned int i = 0; i < nr; i++)
		*(v[i].is_b ? &sum_b : &sum_a) += v[i].rank2;
	if (nr > TAP_RANK_SUM_EXACT)
		*p = normal_p(nr_a, nr_b, (double)sum_a / 2, ties);
	else if (nr_a <= nr_b) /* the smaller group has fewer possible sums */
		ret = exact_p(v, nr, nr_a, (unsigned int)sum_a, p);
	else
		ret = exact_p(v, nr, nr_b, (unsigned int)sum_b, p);
	free(v);
	return ret;
}

int tap_rank_sum_outside(unsigned int nr_a, unsigned int nr_b, double alpha, uint64_t *nr)
{
	unsigned int size = nr_a < nr_b ? nr_a : nr_b, all = nr_a + nr_b, width,
		     first = size * (size + 1);
	struct ranked v[TAP_RANK_SUM_EXACT];
	double *groups, *ways, both = 0, below;

	*nr = 0;
	if (all > TAP_RANK_SUM_EXACT) {
		below = (double)nr_a * nr_b / 2 -
			tap_normal_z(alpha) * rank_sum_deviation(nr_a, nr_b, 0);
		*nr = below > 0 ? (uint64_t)below : 0;
		return 0;
	}
	for (unsigned int i = 0; i < all; i++)
		v[i].rank2 = 2 * (i + 1);
	groups = count_groups(v, all, size, &width);
	if (!groups)
		return -ENOMEM;
	ways = groups + (size_t)size * width;
	for (unsigned int s = 0; s < width; s++)
		both += ways[s];
	for (below = ways[first]; below <= alpha / 2 * both; below += ways[first + 2 * *nr])
		++*nr;
	free(groups);
	return 0;
}

unsigned int tap_rank_sum_needs(double alpha)
{
	unsigned int nr = 1;
	double p = 1; /* the lowest p for groups of @nr: 2 / (2 nr over nr) */

	for (; p > alpha; nr++)
		p *= (nr + 1) / (2.0 * (2 * nr + 1));
	return nr;
}
