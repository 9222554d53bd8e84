// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "timeline/run/time_option.h"

#include <errno.h>

#include "base/text.h"

#define SECOND_NS INT64_C(1000000000)
#define YEAR_MIN 1970
#define YEAR_MAX 2261 /* the last year that fits into int64_t nanoseconds completely */
#define MAX_MOMENT 63u /* characters */

/* ---- parsing ---- */

/*
 * Parse exactly @digits digits at *@s, and the character @after unless that is '\0', and advance
 * *@s.
 */
static bool take_number(const char **s, int digits, int max, char after, int *v)
{
	const char *p = *s;

	for (*v = 0; digits && *p >= '0' && *p <= '9'; digits--)
		*v = *v * 10 + (*p++ - '0');
	if (digits || *v > max || (after && *p++ != after))
		return false;
	*s = p;
	return true;
}

/* Parse ".824": 1 to 9 digits. */
static bool take_fraction(const char **s, uint64_t *ns)
{
	const char *p = *s + 1, *digits = p;

	for (*ns = 0; *p >= '0' && *p <= '9' && p - digits < 9; p++)
		*ns = *ns * 10 + (uint64_t)(*p - '0');
	*s = p;
	for (long nr = p - digits; nr < 9; nr++)
		*ns *= 10;
	return p > digits;
}

/* Parse a time zone: "Z", "+01", "+0100", "+01:00". Without one the time is local. */
static bool take_zone(const char **s, struct tap_moment *m)
{
	char sign = **s;
	int hours, minutes = 0;

	if (sign != 'Z' && sign != '+' && sign != '-')
		return true;
	m->has_zone = true;
	(*s)++;
	if (sign == 'Z')
		return true;
	if (!take_number(s, 2, 23, '\0', &hours))
		return false;
	*s += **s == ':';
	if (**s && !take_number(s, 2, 59, '\0', &minutes))
		return false;
	m->zone_s = (hours * 60 + minutes) * (sign == '-' ? -60 : 60);
	return true;
}

/* Parse "12:03", "12:03:04" or "12:03:04.5", and a time zone. */
static bool take_time(const char **s, struct tap_moment *m)
{
	if (!take_number(s, 2, 23, ':', &m->tm.tm_hour) ||
	    !take_number(s, 2, 59, '\0', &m->tm.tm_min))
		return false;
	if (**s == ':') {
		(*s)++;
		if (!take_number(s, 2, 60, '\0', &m->tm.tm_sec))
			return false;
		if (**s == '.' && !take_fraction(s, &m->ns))
			return false;
	}
	return take_zone(s, m);
}

/* Parse "2026-11-20". */
static bool take_date(const char **s, struct tap_moment *m)
{
	struct tm tm;

	if (!take_number(s, 4, YEAR_MAX, '-', &m->tm.tm_year) || m->tm.tm_year < YEAR_MIN ||
	    !take_number(s, 2, 12, '-', &m->tm.tm_mon) || !m->tm.tm_mon ||
	    !take_number(s, 2, 31, '\0', &m->tm.tm_mday))
		return false;
	m->tm.tm_year -= 1900;
	m->tm.tm_mon--;
	tm = m->tm;
	timegm(&tm); /* normalizes a day that the month does not have to one of the next month */
	return tm.tm_mday == m->tm.tm_mday;
}

static bool parse_calendar(const char *s, struct tap_moment *m)
{
	bool has_time = true;

	m->form = TAP_MOMENT_TOD;
	if (strlen(s) > 4 && s[4] == '-') {
		m->form = TAP_MOMENT_DATE;
		if (!take_date(&s, m))
			return false;
		has_time = *s;
		if (has_time && *s != 'T' && *s != ' ')
			return false;
		s += has_time;
	}
	return (!has_time || take_time(&s, m)) && !*s;
}

static bool parse_moment(const char *text, size_t len, struct tap_moment *m)
{
	char s[MAX_MOMENT + 1];

	*m = (struct tap_moment){ 0 };
	if (len > MAX_MOMENT)
		return false;
	memcpy(s, text, len);
	s[len] = '\0';
	if (!len)
		return true;
	if (strchr(s, ':') || (len > 4 && s[4] == '-' && *s != '-'))
		return parse_calendar(s, m);
	m->form = *s == '+' ? TAP_MOMENT_AFTER : *s == '-' ? TAP_MOMENT_BEFORE_END : TAP_MOMENT_AT;
	return !tap_text_parse_time(s + (m->form != TAP_MOMENT_AT), &m->ns);
}

/* Parse "TIME+-DISTANCE". No form of TIME contains "+-". */
static bool parse_around(const char *text, struct tap_time_option *w)
{
	const char *sign = strstr(text, "+-");

	if (!sign || !parse_moment(text, (size_t)(sign - text), &w->from) ||
	    w->from.form == TAP_MOMENT_OPEN)
		return false;
	w->to = w->from;
	w->is_around = true;
	return !tap_text_parse_time(sign + 2, &w->around_ns);
}

int tap_time_option_parse(struct tap_time_option *w, const char *text, struct tap_err *err)
{
	const char *comma = text ? strchr(text, ',') : NULL;

	*w = (struct tap_time_option){ .name = "--time", .text = text };
	if (!text)
		return 0;
	if (*text == '@' ? parse_around(text + 1, w)
			 : comma && parse_moment(text, (size_t)(comma - text), &w->from) &&
				   parse_moment(comma + 1, strlen(comma + 1), &w->to))
		return 0;
	return tap_err_set(err, -EINVAL,
			   "--time: '%.100s' is not a time window: use FROM,TO or @TIME+-DISTANCE, "
			   "where a time is\n"
			   "1326.75 or 1326750ms   on the recording's clock\n"
			   "+1s, -10s              after the recording's start, before its end\n"
			   "12:03:04.5             time of day (append Z for UTC)\n"
			   "2026-11-20T12:03:04.5  date and time (append Z for UTC, or an offset "
			   "such as +01:00)\n"
			   "FROM or TO may be left out",
			   text);
}

int tap_time_option_parse_instant(struct tap_time_option *w, const char *name, const char *text,
				  struct tap_err *err)
{
	*w = (struct tap_time_option){ .name = name, .text = text, .is_around = true };
	if (!parse_moment(text, strlen(text), &w->from) || w->from.form == TAP_MOMENT_OPEN)
		return tap_err_set(err, -EINVAL,
				   "%s: '%.100s' is not a time: use a form that --time allows for "
				   "FROM, such as 1326.75 or +1s",
				   name, text);
	w->to = w->from;
	return 0;
}

/* ---- resolving ---- */

/* Return true if the time depends on the recording's range. */
static bool is_relative(const struct tap_moment *m)
{
	return m->form == TAP_MOMENT_AFTER || m->form == TAP_MOMENT_BEFORE_END ||
	       m->form == TAP_MOMENT_TOD;
}

bool tap_time_option_needs_range(const struct tap_time_option *w)
{
	return is_relative(&w->from) || is_relative(&w->to);
}

enum tap_clock tap_time_option_clock(const struct tap_time_option *w)
{
	enum tap_moment_form form = w->from.form > w->to.form ? w->from.form : w->to.form;

	return form == TAP_MOMENT_DATE	? TAP_SHOW_WALL
	       : form == TAP_MOMENT_TOD ? TAP_SHOW_TOD
					: TAP_SHOW_MONO;
}

static uint64_t add_ns(uint64_t a, uint64_t b)
{
	return a + b < a ? UINT64_MAX : a + b;
}

static uint64_t subtract_ns(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

/* Convert broken-down time in the moment's time zone; members of @tm may be out of range. */
static int64_t to_realtime(const struct tap_moment *m, struct tm tm)
{
	int64_t second, ns;

	tm.tm_isdst = -1; /* mktime() picks one if the hour occurs twice */
	second = m->has_zone ? (int64_t)timegm(&tm) - m->zone_s : (int64_t)mktime(&tm);
	if (__builtin_mul_overflow(second, SECOND_NS, &ns) ||
	    __builtin_add_overflow(ns, m->ns, &ns))
		return second < 0 ? INT64_MIN : INT64_MAX;
	return ns;
}

/*
 * Return the moment's time of day on the day of @ts_ns, plus @days days, on the recording's clock.
 */
static uint64_t tod_ns(const struct tap_moment *m, const struct tap_wall *wall, uint64_t ts_ns,
		       int days)
{
	time_t second = (time_t)(tap_wall_from(wall, ts_ns) / SECOND_NS + m->zone_s);
	struct tm tm = { 0 };

	if (m->has_zone) {
		gmtime_r(&second, &tm);
	} else {
		tzset();
		localtime_r(&second, &tm);
	}
	tm.tm_mday += days;
	tm.tm_hour = m->tm.tm_hour;
	tm.tm_min = m->tm.tm_min;
	tm.tm_sec = m->tm.tm_sec;
	return tap_wall_to(wall, to_realtime(m, tm));
}

static uint64_t distance_ns(uint64_t ns, struct tap_window r)
{
	return ns < r.from_ns ? r.from_ns - ns : ns > r.to_ns ? ns - r.to_ns : 0;
}

/* Return the occurrence within the recording, else the nearest one to it. */
static uint64_t nearest_tod(const struct tap_moment *m, const struct tap_wall *wall,
			    struct tap_window recording)
{
	uint64_t best = tod_ns(m, wall, recording.from_ns, -1);

	for (int day = 0; day <= 1; day++) {
		uint64_t ns = tod_ns(m, wall, recording.from_ns, day);

		if (distance_ns(ns, recording) < distance_ns(best, recording))
			best = ns;
	}
	return best;
}

static uint64_t next_tod(const struct tap_moment *m, const struct tap_wall *wall, uint64_t from_ns)
{
	uint64_t ns = tod_ns(m, wall, from_ns, 0);

	return ns < from_ns ? tod_ns(m, wall, from_ns, 1) : ns;
}

static uint64_t resolve_moment(const struct tap_moment *m, const struct tap_wall *wall,
			       struct tap_window recording, uint64_t open)
{
	switch (m->form) {
	case TAP_MOMENT_OPEN:
		return open;
	case TAP_MOMENT_AT:
		return m->ns;
	case TAP_MOMENT_AFTER:
		return add_ns(recording.from_ns, m->ns);
	case TAP_MOMENT_BEFORE_END:
		return subtract_ns(recording.to_ns, m->ns);
	case TAP_MOMENT_TOD:
		return nearest_tod(m, wall, recording);
	case TAP_MOMENT_DATE:
		return tap_wall_to(wall, to_realtime(m, m->tm));
	}
	return open;
}

/* Resolve TO, some forms of which depend on FROM. */
static uint64_t resolve_to(const struct tap_time_option *w, const struct tap_wall *wall,
			   struct tap_window recording, uint64_t from_ns)
{
	bool from_counts = w->from.form != TAP_MOMENT_OPEN;

	if (w->to.form == TAP_MOMENT_AFTER && from_counts && w->from.form != TAP_MOMENT_AFTER)
		return add_ns(from_ns, w->to.ns);
	if (w->to.form == TAP_MOMENT_TOD && from_counts && !w->is_around)
		return next_tod(&w->to, wall, from_ns);
	return resolve_moment(&w->to, wall, recording, UINT64_MAX);
}

int tap_time_option_resolve(const struct tap_time_option *w, const struct tap_wall *wall,
			    struct tap_window recording, struct tap_window *out,
			    struct tap_err *err)
{
	if (tap_time_option_clock(w) != TAP_SHOW_MONO && !wall->is_known)
		return tap_err_set(err, -ENODATA,
				   "%s: '%.100s' is a wall-clock time, but the recording contains "
				   "no wall-clock time: use the recording's own clock, such as "
				   "1326.75, +1s (after its start) or -10s (before its end)",
				   w->name, w->text);
	out->from_ns = resolve_moment(&w->from, wall, recording, 0);
	out->to_ns = resolve_to(w, wall, recording, out->from_ns);
	if (w->is_around) {
		out->from_ns = subtract_ns(out->from_ns, w->around_ns);
		out->to_ns = add_ns(out->to_ns, w->around_ns);
	}
	if (out->from_ns > out->to_ns)
		return tap_err_set(err, -EINVAL, "%s: '%.100s' ends before it begins", w->name,
				   w->text);
	return 0;
}
