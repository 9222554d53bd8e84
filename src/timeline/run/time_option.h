/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * --time: a part of a recording, as FROM,TO, either of which may be left out:
 *
 *   1326.75  1326750ms      the recording's clock; a bare number is in seconds
 *   +1s                     after the recording's start; as TO, after FROM, unless FROM is left out
 *                           or also has this form
 *   -10s                    before the recording's end
 *   12:03:04.5              time of day, on the recording's day; as TO, the next one after FROM
 *   2026-11-20 00:47:05.8   date and time; the separator may be a T
 *
 * or a single time and a distance to both sides of it: @1326.75+-20ms. Times of day and dates are
 * local unless they end in Z, +01:00, +0100 or +01. The seconds or their fraction may be left out,
 * and of a date the time.
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
		TAP_MOMENT_TOD, /* this form and the next are wall-clock times */
		TAP_MOMENT_DATE,
	} form;
	uint64_t ns; /* TOD, DATE: nanoseconds within the second; else the whole time */
	struct tm tm; /* of TOD and DATE; of TOD without the day */
	bool has_zone;
	int zone_s; /* east of Greenwich */
};

struct tap_time_option {
	const char *name; /* the option's name for error messages: "--time" */
	const char *text; /* as typed, borrowed; NULL: not given */
	struct tap_moment from, to; /* with .is_around both are the middle */
	bool is_around;
	uint64_t around_ns;
};

/* @text: NULL: the whole recording. Return: 0; -EINVAL with a sentence that lists the forms. */
int tap_time_option_parse(struct tap_time_option *w, const char *text, struct tap_err *err);
/*
 * Parse a single time, in a form that --time accepts as FROM or TO: the window is that instant.
 * @name: the option's name, borrowed. Return: 0; -EINVAL with a sentence.
 */
int tap_time_option_parse_instant(struct tap_time_option *w, const char *name, const char *text,
				  struct tap_err *err);
/* Return true if tap_time_option_resolve() needs the recording's range. */
bool tap_time_option_needs_range(const struct tap_time_option *w);
/* Return the clock in which the window was given. */
enum tap_clock tap_time_option_clock(const struct tap_time_option *w);
/*
 * Compute the window in ns of the recording's clock. @recording: the recording's range; used only
 * if tap_time_option_needs_range() is true.
 *
 * Return: 0; -ENODATA: it is a wall-clock time, and @wall does not know that; -EINVAL: the window
 * ends before it begins.
 */
int tap_time_option_resolve(const struct tap_time_option *w, const struct tap_wall *wall,
			    struct tap_window recording, struct tap_window *out,
			    struct tap_err *err);

#endif
