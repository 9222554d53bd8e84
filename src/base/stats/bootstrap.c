// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/stats/bootstrap.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/stats/median.h"

#define SEED 0x5eedu

/* Equal values within one block. */
struct counted {
	uint64_t value, weight;
	unsigned int block;
};

/* All values of a series in rising order, so that one pass finds the quantiles of any draw. */
struct series {
	struct counted *v;
	unsigned int nr, cap;
	const struct tap_hist *blocks;
	unsigned int nr_blocks;
	unsigned int block; /* the block that add_bucket() adds to */
	uint64_t *weights; /* owned; the total weight of each block */
	unsigned int *drawn; /* owned; how often each block was drawn */
	int err;
};

static void add_bucket(void *ctx, uint64_t from, uint64_t to, uint64_t weight)
{
	struct series *s = ctx;
	const struct tap_hist *block = &s->blocks[s->block];
	uint64_t middle = from + (to - from) / 2;

	if (s->err || tap_array_grow(&s->v, s->nr, &s->cap, sizeof(*s->v))) {
		s->err = -ENOMEM;
		return;
	}
	middle = middle < block->min ? block->min : middle > block->max ? block->max : middle;
	s->v[s->nr++] = (struct counted){ middle, weight, s->block };
}

static int by_value(const void *a, const void *b)
{
	const struct counted *x = a, *y = b;

	return (x->value > y->value) - (x->value < y->value);
}

static int series_init(struct series *s, struct tap_blocks blocks)
{
	*s = (struct series){
		.blocks = blocks.v,
		.nr_blocks = blocks.nr,
		.weights = calloc(blocks.nr + 1, sizeof(*s->weights)),
		.drawn = calloc(blocks.nr + 1, sizeof(*s->drawn)),
	};
	if (!s->weights || !s->drawn)
		return -ENOMEM;
	for (s->block = 0; s->block < blocks.nr; s->block++) {
		s->weights[s->block] = blocks.v[s->block].count;
		tap_hist_for_each(&blocks.v[s->block], add_bucket, s);
	}
	if (!s->err && s->nr)
		qsort(s->v, s->nr, sizeof(*s->v), by_value);
	return s->err;
}

static void series_release(struct series *s)
{
	free(s->v);
	free(s->weights);
	free(s->drawn);
}

/* splitmix64 by Steele, Lea and Flood. */
static uint64_t next_random(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

static void draw_blocks(struct series *s, uint64_t *random)
{
	memset(s->drawn, 0, s->nr_blocks * sizeof(*s->drawn));
	for (unsigned int i = 0; i < s->nr_blocks; i++)
		s->drawn[(unsigned __int128)next_random(random) * s->nr_blocks >> 64]++;
}

/* Find the quantiles @parts, which must rise. They are NAN if no value was drawn. */
static void find_quantiles(const struct series *s, const double *parts, unsigned int nr,
			   double *out)
{
	double all = 0, below = 0;
	unsigned int i = 0;

	for (unsigned int k = 0; k < s->nr_blocks; k++)
		all += (double)s->weights[k] * s->drawn[k];
	for (unsigned int k = 0; k < s->nr && i < nr && all > 0; k++) {
		below += (double)s->v[k].weight * s->drawn[s->v[k].block];
		while (i < nr && below > 0 && below >= parts[i] * all)
			out[i++] = (double)s->v[k].value;
	}
	while (i < nr)
		out[i++] = NAN;
}

/* @differences: TAP_BOOTSTRAP_DRAWS slots per quantile. Draws without values are left out. */
static void draw_all(struct series *a, struct series *b, const double *parts, unsigned int nr,
		     double *differences, unsigned int *nr_drawn)
{
	uint64_t random = SEED;
	double of_a[nr], of_b[nr];

	*nr_drawn = 0;
	for (unsigned int i = 0; i < TAP_BOOTSTRAP_DRAWS; i++) {
		draw_blocks(a, &random);
		draw_blocks(b, &random);
		find_quantiles(a, parts, nr, of_a);
		find_quantiles(b, parts, nr, of_b);
		if (isnan(of_a[0]) || isnan(of_b[0]))
			continue;
		for (unsigned int q = 0; q < nr; q++)
			differences[q * TAP_BOOTSTRAP_DRAWS + *nr_drawn] = of_b[q] - of_a[q];
		++*nr_drawn;
	}
}

static struct tap_confidence middle_interval(double *v, unsigned int nr)
{
	unsigned int outside = (unsigned int)(nr * TAP_STATS_ALPHA / 2);

	tap_stats_sort(v, nr);
	return (struct tap_confidence){ v[outside], v[nr - 1 - outside] };
}

int tap_bootstrap_quantiles(struct tap_blocks a, struct tap_blocks b, const double *parts,
			    unsigned int nr, struct tap_confidence *intervals)
{
	double *differences = calloc((size_t)nr * TAP_BOOTSTRAP_DRAWS + 1, sizeof(*differences));
	struct series of_a = { 0 }, of_b = { 0 };
	unsigned int nr_drawn = 0;
	int ret = differences ? 0 : -ENOMEM;

	ret = ret ?: series_init(&of_a, a) ?: series_init(&of_b, b);
	if (!ret && a.nr >= TAP_BOOTSTRAP_MIN && b.nr >= TAP_BOOTSTRAP_MIN)
		draw_all(&of_a, &of_b, parts, nr, differences, &nr_drawn);
	for (unsigned int q = 0; !ret && q < nr; q++)
		intervals[q] =
			nr_drawn ? middle_interval(differences + q * TAP_BOOTSTRAP_DRAWS, nr_drawn)
				 : TAP_CONFIDENCE_NONE;
	series_release(&of_a);
	series_release(&of_b);
	free(differences);
	return ret;
}
