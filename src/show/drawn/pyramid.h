/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Levels of buckets: each level's are four times as wide as those of the one before. */
#ifndef TAP_DRAWN_PYRAMID_H
#define TAP_DRAWN_PYRAMID_H

#include <stdbool.h>
#include <stddef.h>

#include "base/window.h"

#define TAP_PYRAMID_BUCKETS 16384u /* of one row, where nobody says how many */
#define TAP_PYRAMID_CELLS (1u << 19) /* of the finest level, at most */
#define TAP_PYRAMID_TOP 64u /* the last level has no more buckets */
#define TAP_PYRAMID_LEVELS 7u /* there are fewer */
#define TAP_PYRAMID_STEP 4u

struct tap_pyramid {
	struct tap_window window;
	uint64_t ns; /* of a bucket of the finest level */
	unsigned int nr_rows, nr_levels;
	uint32_t buckets[TAP_PYRAMID_LEVELS];
	/* cell of each level, and how many there are in all */
	size_t first[TAP_PYRAMID_LEVELS + 1];
};

/* @buckets: of a row, at most; 0: TAP_PYRAMID_BUCKETS; not above 65536. @one_level: the finest
 * alone. */
void tap_pyramid_init(struct tap_pyramid *p, struct tap_window window, unsigned int nr_rows,
		      unsigned int buckets, bool one_level);

static inline size_t tap_pyramid_cell(const struct tap_pyramid *p, unsigned int level,
				      unsigned int row, uint32_t bucket)
{
	return p->first[level] + (size_t)row * p->buckets[level] + bucket;
}

/* Of the finest level. @ns: of the window; what it ends with is the last one's. */
static inline uint32_t tap_pyramid_bucket(const struct tap_pyramid *p, uint64_t ns)
{
	const uint64_t bucket = (ns - p->window.from_ns) / p->ns;

	return bucket < p->buckets[0] ? (uint32_t)bucket : p->buckets[0] - 1;
}

static inline uint64_t tap_pyramid_begin(const struct tap_pyramid *p, uint32_t bucket)
{
	return p->window.from_ns + bucket * p->ns;
}

/* The last one's is UINT64_MAX. */
static inline uint64_t tap_pyramid_end(const struct tap_pyramid *p, uint32_t bucket)
{
	return bucket + 1 < p->buckets[0] ? tap_pyramid_begin(p, bucket + 1) : UINT64_MAX;
}

static inline uint64_t tap_pyramid_ns(const struct tap_pyramid *p, unsigned int level)
{
	return p->ns << (2 * level);
}

/* @ns of a bucket of @of_ns as 0..255: 0 is none of it, 255 all. */
static inline uint8_t tap_pyramid_share(double ns, double of_ns)
{
	const double share = 255 * ns / of_ns;

	if (share >= 255)
		return 255;
	return share < 1 ? share > 0 : share > 254 ? 254 : (uint8_t)(share + 0.5);
}

#endif
