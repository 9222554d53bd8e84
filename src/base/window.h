/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A part of a recording's time, including both ends; from_ns <= to_ns. An open end is 0 or
 * UINT64_MAX.
 */
#ifndef TAP_BASE_WINDOW_H
#define TAP_BASE_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

struct tap_window {
	uint64_t from_ns, to_ns;
};

#define TAP_WINDOW_ALL ((struct tap_window){ 0, UINT64_MAX })

static inline uint64_t tap_window_ns(const struct tap_window *w)
{
	return w->to_ns - w->from_ns;
}

static inline bool tap_window_has(const struct tap_window *w, uint64_t ns)
{
	return ns - w->from_ns <= w->to_ns - w->from_ns;
}

/* Return true if [@from_ns, @to_ns] and the window overlap. */
static inline bool tap_window_overlaps(const struct tap_window *w, uint64_t from_ns, uint64_t to_ns)
{
	return to_ns >= w->from_ns && from_ns <= w->to_ns;
}

/* Return the time within the window that is nearest to @ns. */
static inline uint64_t tap_window_clip(const struct tap_window *w, uint64_t ns)
{
	if (ns < w->from_ns)
		return w->from_ns;
	return ns > w->to_ns ? w->to_ns : ns;
}

/* Return how many ns of [@from_ns, @to_ns] lie within the window. @from_ns <= @to_ns. */
static inline uint64_t tap_window_part_ns(const struct tap_window *w, uint64_t from_ns,
					  uint64_t to_ns)
{
	if (from_ns >= w->from_ns && to_ns <= w->to_ns)
		return to_ns - from_ns;
	return tap_window_clip(w, to_ns) - tap_window_clip(w, from_ns);
}

#endif
