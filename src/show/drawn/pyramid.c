// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "show/drawn/pyramid.h"

static uint64_t divided_up(uint64_t a, uint64_t b)
{
	return a / b + !!(a % b);
}

void tap_pyramid_init(struct tap_pyramid *p, struct tap_window window, unsigned int nr_rows,
		      unsigned int buckets, bool one_level)
{
	const uint64_t ns = tap_window_ns(&window);
	uint32_t most = buckets ?: TAP_PYRAMID_BUCKETS;

	if (nr_rows && most > TAP_PYRAMID_CELLS / nr_rows)
		most = TAP_PYRAMID_CELLS / nr_rows;
	*p = (struct tap_pyramid){ .window = window,
				   .nr_rows = nr_rows,
				   .ns = divided_up(ns, most ?: 1) ?: 1 };
	for (uint64_t of_level = divided_up(ns, p->ns) ?: 1;;
	     of_level = divided_up(of_level, TAP_PYRAMID_STEP)) {
		p->buckets[p->nr_levels] = (uint32_t)of_level;
		p->first[p->nr_levels + 1] = p->first[p->nr_levels] + (size_t)nr_rows * of_level;
		p->nr_levels++;
		if (one_level || of_level <= TAP_PYRAMID_TOP)
			return;
	}
}
