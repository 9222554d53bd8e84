// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/hist.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static void free_rows(uint32_t **rows)
{
	for (unsigned int i = 0; rows && i < TAP_HIST_ROWS; i++)
		free(rows[i]);
	free(rows);
}

void tap_hist_release(struct tap_hist *h)
{
	free_rows(h->rows);
	free_rows(h->high);
	free(h->exact);
	*h = (struct tap_hist)TAP_HIST_INIT;
}

static uint64_t bucket_from(unsigned int row, unsigned int i)
{
	return row ? (uint64_t)(TAP_HIST_SUB + i) << (row - 1) : i;
}

static uint64_t bucket_to(unsigned int row, unsigned int i)
{
	return bucket_from(row, i) + (row ? ((uint64_t)1 << (row - 1)) - 1 : 0);
}

/* Return the buckets of a row and allocate them if needed; NULL when out of memory. */
static uint32_t *get_row(uint32_t ***rows, unsigned int row)
{
	if (!*rows)
		*rows = calloc(TAP_HIST_ROWS, sizeof(**rows));
	if (!*rows)
		return NULL;
	if (!(*rows)[row])
		(*rows)[row] = calloc(TAP_HIST_SUB, sizeof(***rows));
	return (*rows)[row];
}

static uint64_t get_bucket(const struct tap_hist *h, unsigned int row, unsigned int i)
{
	uint64_t high = h->high && h->high[row] ? h->high[row][i] : 0;

	return high << 32 | h->rows[row][i];
}

static int add_to_bucket(struct tap_hist *h, unsigned int row, unsigned int i, uint64_t weight)
{
	uint32_t *low = get_row(&h->rows, row), *high;
	uint64_t sum;

	if (!low)
		return -ENOMEM;
	sum = get_bucket(h, row, i) + weight;
	if (sum >> 32) {
		high = get_row(&h->high, row);
		if (!high)
			return -ENOMEM;
		high[i] = (uint32_t)(sum >> 32);
	}
	low[i] = (uint32_t)sum;
	return 0;
}

static int count_in_bucket(struct tap_hist *h, uint64_t v, uint64_t weight)
{
	return add_to_bucket(h, tap_hist_row(v), tap_hist_bucket(v), weight);
}

/* Count the exact values in buckets from now on. */
static int make_rows(struct tap_hist *h)
{
	int ret = 0;

	h->rows = calloc(TAP_HIST_ROWS, sizeof(*h->rows));
	if (!h->rows)
		return -ENOMEM;
	for (uint64_t i = 0; !ret && i < h->count; i++)
		ret = count_in_bucket(h, h->exact[i], 1);
	free(h->exact);
	h->exact = NULL;
	return ret;
}

/*
 * Make room for one more value. The array doubles from 4 up to 32, as most tasks wait only a few
 * times.
 */
static int grow_exact(struct tap_hist *h)
{
	bool full = !h->count || (h->count >= 4 && !(h->count & (h->count - 1)));
	uint64_t *more;

	if (!full)
		return 0;
	more = realloc(h->exact, (h->count ? 2 * h->count : 4) * sizeof(*more));
	if (!more)
		return -ENOMEM;
	h->exact = more;
	return 0;
}

int tap_hist_add_slow(struct tap_hist *h, uint64_t v, uint64_t weight)
{
	int ret = 0;

	if (!weight)
		return 0;
	if (!h->rows && (weight != 1 || h->count == TAP_HIST_EXACT))
		ret = make_rows(h);
	if (!ret)
		ret = h->rows ? count_in_bucket(h, v, weight) : grow_exact(h);
	if (ret)
		return ret;
	if (!h->rows)
		h->exact[h->count] = v;
	tap_hist_note(h, v, weight);
	return 0;
}

static int merge_rows(struct tap_hist *to, const struct tap_hist *from)
{
	int ret = 0;

	for (unsigned int row = 0; row < TAP_HIST_ROWS; row++)
		for (unsigned int i = 0; !ret && from->rows[row] && i < TAP_HIST_SUB; i++)
			if (get_bucket(from, row, i))
				ret = add_to_bucket(to, row, i, get_bucket(from, row, i));
	if (ret)
		return ret;
	to->count += from->count;
	to->sum += from->sum;
	to->min = from->min < to->min ? from->min : to->min;
	to->max = from->max > to->max ? from->max : to->max;
	return 0;
}

int tap_hist_merge(struct tap_hist *to, const struct tap_hist *from)
{
	int ret = 0;

	if (from->rows) {
		if (!to->rows)
			ret = make_rows(to);
		return ret ? ret : merge_rows(to, from);
	}
	for (uint64_t i = 0; !ret && i < from->count; i++)
		ret = tap_hist_add(to, from->exact[i]);
	return ret;
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static void sort_exact(const struct tap_hist *h, uint64_t *v)
{
	if (!h->count)
		return;
	memcpy(v, h->exact, h->count * sizeof(*v));
	qsort(v, h->count, sizeof(*v), by_value);
}

/* Return the rank of the @part quantile: 1 is the smallest value, h->count the greatest. */
static uint64_t rank_of(const struct tap_hist *h, double part)
{
	/* in floating point 0.07 * 100 is a little above 7 and would round up to 8 */
	double want = part * (double)h->count * (1 - 1e-12);
	uint64_t rank;

	if (!(want > 0))
		return 1;
	if (part >= 1)
		return h->count;
	rank = (uint64_t)want;
	rank += (double)rank < want;
	return rank ? rank : 1;
}

static uint64_t clamp_middle(const struct tap_hist *h, unsigned int row, unsigned int i)
{
	uint64_t from = bucket_from(row, i), to = bucket_to(row, i);
	uint64_t middle = from + (to - from) / 2;

	return middle < h->min ? h->min : middle > h->max ? h->max : middle;
}

uint64_t tap_hist_quantile(const struct tap_hist *h, double part)
{
	uint64_t sorted[TAP_HIST_EXACT], rank, seen = 0;

	if (!h->count)
		return 0;
	rank = rank_of(h, part);
	if (rank == h->count)
		return h->max;
	if (!h->rows) {
		sort_exact(h, sorted);
		return sorted[rank - 1];
	}
	for (unsigned int row = 0; row < TAP_HIST_ROWS; row++)
		for (unsigned int i = 0; h->rows[row] && i < TAP_HIST_SUB; i++) {
			seen += get_bucket(h, row, i);
			if (seen >= rank)
				return clamp_middle(h, row, i);
		}
	return h->max;
}

double tap_hist_mean(const struct tap_hist *h)
{
	return h->count ? (double)h->sum / (double)h->count : 0;
}

static void for_each_exact(const struct tap_hist *h,
			   void (*fn)(void *ctx, uint64_t from, uint64_t to, uint64_t weight),
			   void *ctx)
{
	uint64_t sorted[TAP_HIST_EXACT];

	sort_exact(h, sorted);
	for (uint64_t i = 0, same; i < h->count; i += same) {
		for (same = 1; i + same < h->count && sorted[i + same] == sorted[i]; same++)
			;
		fn(ctx, sorted[i], sorted[i], same);
	}
}

void tap_hist_for_each(const struct tap_hist *h,
		       void (*fn)(void *ctx, uint64_t from, uint64_t to, uint64_t weight),
		       void *ctx)
{
	if (!h->rows) {
		for_each_exact(h, fn, ctx);
		return;
	}
	for (unsigned int row = 0; row < TAP_HIST_ROWS; row++)
		for (unsigned int i = 0; h->rows[row] && i < TAP_HIST_SUB; i++)
			if (get_bucket(h, row, i))
				fn(ctx, bucket_from(row, i), bucket_to(row, i),
				   get_bucket(h, row, i));
}
