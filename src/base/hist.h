/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Quantiles of many values in little memory. Up to TAP_HIST_EXACT values of weight 1 are kept as
 * they are; more are counted in buckets that are log-linear: 64 equal ones per power of two, so a
 * bucket is at most 1/64 of its values wide, and its middle at most 0.8 % off. Values below 64
 * have a bucket each. Rows of 64 buckets are allocated when they are first hit.
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
	uint64_t count; /* of values, or the sum of the weights */
	uint64_t min, max; /* UINT64_MAX, 0 while empty */
	unsigned __int128 sum; /* of values times weight */
	uint64_t *exact; /* owned; count values, until there are more than TAP_HIST_EXACT */
	uint32_t **rows; /* owned; TAP_HIST_ROWS pointers, or NULL while exact */
	uint32_t **high; /* the same, for what is above 2^32 in a bucket; NULL: nothing is */
};

/* {0} is not empty: use this. */
#define TAP_HIST_INIT                                                                              \
	{                                                                                          \
		.min = UINT64_MAX                                                                  \
	}

void tap_hist_release(struct tap_hist *h);
/* Return: 0; -ENOMEM: @to is good for tap_hist_release() only. */
int tap_hist_merge(struct tap_hist *to, const struct tap_hist *from);

/*
 * The smallest value that at least @part (0..1) of all weight is not above, within 0.8 %, and
 * never outside [min, max]. Return: 0 if empty.
 */
uint64_t tap_hist_quantile(const struct tap_hist *h, double part);
double tap_hist_mean(const struct tap_hist *h); /* exact; 0 if empty */

/* One bucket: [from, to] holds weight. Calls back in rising order, empty ones left out. */
void tap_hist_for_each(const struct tap_hist *h,
		       void (*fn)(void *ctx, uint64_t from, uint64_t to, uint64_t weight),
		       void *ctx);

/* Inside: where a value is counted. */
static inline unsigned int tap_hist_row(uint64_t v)
{
	return v < TAP_HIST_SUB ? 0 : 64 - TAP_HIST_SUB_BITS - (unsigned int)__builtin_clzll(v);
}

static inline unsigned int tap_hist_bucket(uint64_t v)
{
	unsigned int row = tap_hist_row(v);

	return (unsigned int)(row ? v >> (row - 1) : v) % TAP_HIST_SUB;
}

/* Inside: all but the place of a value. */
static inline void tap_hist_note(struct tap_hist *h, uint64_t v, uint64_t weight)
{
	h->count += weight;
	h->sum += (unsigned __int128)v * weight;
	if (v < h->min)
		h->min = v;
	if (v > h->max)
		h->max = v;
}

/* Inside: where the bucket is not there yet, or becomes too full. */
int tap_hist_add_slow(struct tap_hist *h, uint64_t v, uint64_t weight);

/*
 * @weight: e.g. how long (ns) the value held. 0 adds nothing. Inline, for reports add a value for
 * every other event. Return: 0 or -ENOMEM.
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
