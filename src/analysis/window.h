/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * --time: which part of a recording. FROM,TO, either of which may be left out:
 *
 *   1326.75  1326750ms      the recording's clock; a bare number is in seconds
 *   +1s                     after the recording's start; as TO behind a FROM of another form, after
 *                           FROM
 *   -10s                    before the recording's end
 *   12:03:04.5              time of day, on the recording's day; TO is the next one after FROM
 *   2026-11-20 00:47:05.8   date and time; a T may stand between them
 *
 * or one of these and how far around it: @1326.75+-20ms. Times of day and dates are local unless
 * they end in Z, +01:00, +0100 or +01; seconds and what is behind them may be left out, of a
 * date its time.
 */
#ifndef TAP_ANALYSIS_WINDOW_H
#define TAP_ANALYSIS_WINDOW_H

#include "base/wall.h"

struct tap_moment {
	enum tap_moment_form {
		TAP_MOMENT_OPEN, /* left out */
		TAP_MOMENT_AT,
		TAP_MOMENT_AFTER,
		TAP_MOMENT_BEFORE_END,
		TAP_MOMENT_TOD,
		TAP_MOMENT_DATE,
	} form;
	uint64_t ns; /* of calendar times: within the second */
	int year, month, day, hour, minute, second;
	bool has_zone;
	int zone_s; /* east of Greenwich */
};

struct tap_window {
	const char *text; /* as typed, borrowed; NULL: nothing was */
	struct tap_moment from, to; /* around: both are its middle */
	bool is_around;
	uint64_t around_ns;
};

/* A part of a recording, with both its ends. */
struct tap_range {
	uint64_t from_ns, to_ns; /* 0, UINT64_MAX: open */
};

/* @text: NULL: all of it. Return: 0; -EINVAL with a sentence that shows the forms. */
int tap_window_parse(struct tap_window *w, const char *text, struct tap_err *err);
/* Whether tap_window_resolve() needs the recording's range. */
bool tap_window_needs_range(const struct tap_window *w);
/* The clock that the window was given in. */
enum tap_clock tap_window_clock(const struct tap_window *w);
/*
 * @recording: its range, if tap_window_needs_range().
 * Return: 0; -ENODATA: the wall time is asked for and not known; -EINVAL: it ends before it begins.
 */
int tap_window_resolve(const struct tap_window *w, const struct tap_wall *wall,
		       struct tap_range recording, struct tap_range *out, struct tap_err *err);

#endif
