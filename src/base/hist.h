/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Quantiles of many values in little memory. Up to TAP_HIST_EXACT values of weight 1 are stored
 * exactly. More are counted in log-linear buckets, 64 equal ones per power of two: a bucket's width
 * is at most 1/64 of its values, so its middle is at most 0.8 % off. Each value below 64 has a
 * bucket of its own. A row of 64 buckets is allocated when its first value is counted.
 */
#ifndef TAP_BASE_HIST_H
#define TAP_BASE_HIST_H

#include <stddef.h>
#include <stdint.h>

#define TAP_HIST_EXACT 32u
#define TAP_HIST_SUB_BITS 6
#define TAP_HIST_SUB (1u << TAP_HIST_SUB_BITS)
#define TAP_HIST_ROWS (64 - TAP_HIST_SUB_BITS + 1)

struct tap_hist {
	uint64_t count; /* number of values, or the sum of their weights */
	uint64_t min, max; /* UINT64_MAX and 0 if empty */
	unsigned __int128 sum; /* sum of value * weight */
	uint64_t *exact; /* owned; the values, until there are more than TAP_HIST_EXACT */
	/* owned; TAP_HIST_ROWS pointers to the low 32 bits of buckets; NULL while exact */
	uint32_t **rows;
	uint32_t **high; /* owned; the upper 32 bits of buckets; NULL if all of them are 0 */
};

/* Initialize with this, not with zeroes: an empty histogram has min = UINT64_MAX. */
#define TAP_HIST_INIT                                                                              \
	{                                                                                          \
		.min = UINT64_MAX                                                                  \
	}

void tap_hist_release(struct tap_hist *h);
/* Add all values of @from to @to. Return: 0; -ENOMEM, then @to may only be released. */
int tap_hist_merge(struct tap_hist *to, const struct tap_hist *from);

/*
 * Return the smallest value such that at least @part (0..1) of the total weight lies at or below
 * it, within 0.8 % and always within [min, max]; 0 if empty.
 */
uint64_t tap_hist_quantile(const struct tap_hist *h, double part);
double tap_hist_mean(const struct tap_hist *h); /* exact; 0 if empty */

/*
 * Call @fn for each non-empty bucket in rising order: values in [from, to] have this total weight.
 */
void tap_hist_for_each(const struct tap_hist *h,
		       void (*fn)(void *ctx, uint64_t from, uint64_t to, uint64_t weight),
		       void *ctx);

/* Internal: the row and the bucket that count a value. */
static inline unsigned int tap_hist_row(uint64_t v)
{
	return v < TAP_HIST_SUB ? 0 : 64 - TAP_HIST_SUB_BITS - (unsigned int)__builtin_clzll(v);
}

static inline unsigned int tap_hist_bucket(uint64_t v)
{
	unsigned int row = tap_hist_row(v);

	return (unsigned int)(row ? v >> (row - 1) : v) % TAP_HIST_SUB;
}

/* Internal: update everything except the bucket of a value. */
static inline void tap_hist_note(struct tap_hist *h, uint64_t v, uint64_t weight)
{
	h->count += weight;
	h->sum += (unsigned __int128)v * weight;
	if (v < h->min)
		h->min = v;
	if (v > h->max)
		h->max = v;
}

/* Internal: add a value whose bucket is not allocated yet or needs its upper 32 bits. */
int tap_hist_add_slow(struct tap_hist *h, uint64_t v, uint64_t weight);

/*
 * Add a value. @weight: for example how long it lasted, in ns; 0 adds nothing. Inline because
 * reports add a value for every other event. Return: 0 or -ENOMEM.
 */
static inline int tap_hist_add_weighted(struct tap_hist *h, uint64_t v, uint64_t weight)
{
	uint32_t *row = h->rows ? h->rows[tap_hist_row(v)] : NULL;
	unsigned int i = tap_hist_bucket(v);

	if (!row || weight - 1 >= UINT32_MAX - row[i])
		return tap_hist_add_slow(h, v, weight);
	row[i] += (uint32_t)weight;
	tap_hist_note(h, v, weight);
	return 0;
}

static inline int tap_hist_add(struct tap_hist *h, uint64_t v)
{
	return tap_hist_add_weighted(h, v, 1);
}

#endif
