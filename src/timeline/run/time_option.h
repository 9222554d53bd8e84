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
#ifndef TAP_ANALYSIS_TIME_OPTION_H
#define TAP_ANALYSIS_TIME_OPTION_H

#include <time.h>

#include "base/wall.h"
#include "base/window.h"

struct tap_moment {
	enum tap_moment_form {
		TAP_MOMENT_OPEN, /* left out */
		TAP_MOMENT_AT,
		TAP_MOMENT_AFTER,
		TAP_MOMENT_BEFORE_END,
		TAP_MOMENT_TOD, /* from here on: wall time */
		TAP_MOMENT_DATE,
	} form;
	uint64_t ns; /* of calendar times: within the second */
	struct tm tm; /* of calendar times; of a time of day without its day */
	bool has_zone;
	int zone_s; /* east of Greenwich */
};

struct tap_time_option {
	const char *name; /* "--time", as errors name the option */
	const char *text; /* as typed, borrowed; NULL: nothing was */
	struct tap_moment from, to; /* around: both are its middle */
	bool is_around;
	uint64_t around_ns;
};

/* @text: NULL: all of it. Return: 0; -EINVAL with a sentence that shows the forms. */
int tap_time_option_parse(struct tap_time_option *w, const char *text, struct tap_err *err);
/*
 * Parse a single time, written as FROM or TO of --time: the window is that instant. @name: of the
 * option, borrowed. Return: 0; -EINVAL with a sentence.
 */
int tap_time_option_parse_instant(struct tap_time_option *w, const char *name, const char *text,
				  struct tap_err *err);
/* Whether tap_time_option_resolve() needs the recording's range. */
bool tap_time_option_needs_range(const struct tap_time_option *w);
/* The clock that the window was given in. */
enum tap_clock tap_time_option_clock(const struct tap_time_option *w);
/*
 * @recording: its range, if tap_time_option_needs_range().
 * Return: 0; -ENODATA: the wall time is asked for and not known; -EINVAL: it ends before it begins.
 */
int tap_time_option_resolve(const struct tap_time_option *w, const struct tap_wall *wall,
			    struct tap_window recording, struct tap_window *out,
			    struct tap_err *err);

#endif
