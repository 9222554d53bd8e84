/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A part of a recording's time. Both its ends are of it, and from_ns <= to_ns. What goes as far as
 * there are events is from 0 to UINT64_MAX.
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

/* Whether some of [@from_ns, @to_ns] lies in it. */
static inline bool tap_window_overlaps(const struct tap_window *w, uint64_t from_ns, uint64_t to_ns)
{
	return to_ns >= w->from_ns && from_ns <= w->to_ns;
}

/* Return: the instant of the window that is nearest to @ns. */
static inline uint64_t tap_window_clip(const struct tap_window *w, uint64_t ns)
{
	if (ns < w->from_ns)
		return w->from_ns;
	return ns > w->to_ns ? w->to_ns : ns;
}

/* How much of [@from_ns, @to_ns] lies in it. @from_ns: not behind @to_ns. */
static inline uint64_t tap_window_part_ns(const struct tap_window *w, uint64_t from_ns,
					  uint64_t to_ns)
{
	if (from_ns >= w->from_ns && to_ns <= w->to_ns)
		return to_ns - from_ns;
	return tap_window_clip(w, to_ns) - tap_window_clip(w, from_ns);
}

#endif
