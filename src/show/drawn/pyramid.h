/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Levels of time buckets: each level's buckets are four times as long as those of the level before.
 */
#ifndef TAP_DRAWN_PYRAMID_H
#define TAP_DRAWN_PYRAMID_H

#include <stdbool.h>
#include <stddef.h>

#include "base/window.h"

#define TAP_PYRAMID_BUCKETS 16384u /* default of the maximum number of buckets per row */
#define TAP_PYRAMID_CELLS (1u << 19) /* maximum number of cells of the finest level */
#define TAP_PYRAMID_TOP 64u /* the last level has at most this many buckets */
#define TAP_PYRAMID_LEVELS 7u /* upper bound of the number of levels */
#define TAP_PYRAMID_STEP 4u

struct tap_pyramid {
	struct tap_window window;
	uint64_t ns; /* length of a bucket of the finest level */
	unsigned int nr_rows, nr_levels;
	uint32_t buckets[TAP_PYRAMID_LEVELS];
	/* index of each level's first cell; the last entry is the number of cells */
	size_t first[TAP_PYRAMID_LEVELS + 1];
};

/* @buckets: maximum per row; 0: TAP_PYRAMID_BUCKETS; at most 65536. @one_level: only the finest. */
void tap_pyramid_init(struct tap_pyramid *p, struct tap_window window, unsigned int nr_rows,
		      unsigned int buckets, bool one_level);

static inline size_t tap_pyramid_cell(const struct tap_pyramid *p, unsigned int level,
				      unsigned int row, uint32_t bucket)
{
	return p->first[level] + (size_t)row * p->buckets[level] + bucket;
}

/*
 * Return the bucket of the finest level that contains @ns, a time in the window. The window's end
 * belongs to the last bucket.
 */
static inline uint32_t tap_pyramid_bucket(const struct tap_pyramid *p, uint64_t ns)
{
	const uint64_t bucket = (ns - p->window.from_ns) / p->ns;

	return bucket < p->buckets[0] ? (uint32_t)bucket : p->buckets[0] - 1;
}

static inline uint64_t tap_pyramid_begin(const struct tap_pyramid *p, uint32_t bucket)
{
	return p->window.from_ns + bucket * p->ns;
}

/* Return the bucket's end; UINT64_MAX for the last bucket. */
static inline uint64_t tap_pyramid_end(const struct tap_pyramid *p, uint32_t bucket)
{
	return bucket + 1 < p->buckets[0] ? tap_pyramid_begin(p, bucket + 1) : UINT64_MAX;
}

static inline uint64_t tap_pyramid_ns(const struct tap_pyramid *p, unsigned int level)
{
	return p->ns << (2 * level);
}

/*
 * Return @ns as a share of @of_ns, from 0 to 255. Only exactly 0 gives 0, and only the whole gives
 * 255.
 */
static inline uint8_t tap_pyramid_share(double ns, double of_ns)
{
	const double share = 255 * ns / of_ns;

	if (share >= 255)
		return 255;
	return share < 1 ? share > 0 : share > 254 ? 254 : (uint8_t)(share + 0.5);
}

#endif
