// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/wall.h"

#include <stdio.h>
#include <time.h>

#include "base/text.h"

#define SECOND_NS INT64_C(1000000000)
#define MOVED_NS 1000000 /* a larger change is not just a delay between reading the two clocks */
#define DATE_LEN 11u /* length of "2026-11-20 " */

void tap_wall_learn(struct tap_wall *w, uint64_t ts_ns, uint64_t realtime_ns)
{
	int64_t offset, change;

	if (__builtin_sub_overflow(realtime_ns, ts_ns, &offset))
		return;
	if (!w->is_known) {
		w->is_known = true;
		w->offset_ns = offset;
		return;
	}
	if (__builtin_sub_overflow(offset, w->offset_ns, &change))
		return;
	if (change > MOVED_NS || change < -MOVED_NS)
		w->moved_ns = change;
	else if (change < 0)
		w->offset_ns = offset;
}

int64_t tap_wall_from(const struct tap_wall *w, uint64_t ts_ns)
{
	int64_t ns;

	return __builtin_add_overflow(ts_ns, w->offset_ns, &ns) ? INT64_MAX : ns;
}

uint64_t tap_wall_to(const struct tap_wall *w, int64_t realtime_ns)
{
	uint64_t ns;

	return __builtin_sub_overflow(realtime_ns, w->offset_ns, &ns) ? 0 : ns;
}

/*
 * Split a time into whole seconds, rounded down (the result), and the remaining nanoseconds (@ns).
 */
static int64_t split_seconds(int64_t realtime_ns, uint32_t *ns)
{
	int64_t rest = realtime_ns % SECOND_NS;

	*ns = (uint32_t)(rest < 0 ? rest + SECOND_NS : rest);
	return realtime_ns / SECOND_NS - (rest < 0);
}

static void break_down(int64_t second, bool is_utc, struct tm *tm)
{
	time_t t = (time_t)second;

	*tm = (struct tm){ .tm_mday = 1, .tm_year = 70 };
	if (is_utc) {
		gmtime_r(&t, tm);
	} else {
		tzset(); /* unlike localtime(), localtime_r() may ignore changes of TZ */
		localtime_r(&t, tm);
	}
}

static const char *second_text(struct tap_wall *w, int64_t second, bool is_utc)
{
	struct tap_wall_second *last = is_utc ? &w->utc : &w->local;
	struct tm tm;

	if (last->second == second && *last->text)
		return last->text;
	break_down(second, is_utc, &tm);
	snprintf(last->text, sizeof(last->text), "%04d-%02d-%02d%c%02d:%02d:%02d",
		 tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday, is_utc ? 'T' : ' ', tm.tm_hour,
		 tm.tm_min, tm.tm_sec);
	last->second = second;
	return last->text;
}

/* Write the time without the first @skip bytes. Return: the length. */
static size_t put_time(struct tap_wall *w, uint64_t ts_ns, bool is_utc, size_t skip, char *to)
{
	uint32_t ns;
	int64_t second = split_seconds(tap_wall_from(w, ts_ns), &ns);
	char *p = stpcpy(to, second_text(w, second, is_utc) + skip);

	*p = '.';
	for (int i = 9; i; i--, ns /= 10)
		p[i] = (char)('0' + ns % 10);
	return (size_t)(p + 10 - to);
}

unsigned int tap_wall_width(const struct tap_wall *w)
{
	if (!w->is_known || w->shown == TAP_SHOW_MONO)
		return 0;
	return w->shown == TAP_SHOW_TOD ? 18 : 29;
}

size_t tap_wall_text(struct tap_wall *w, uint64_t ts_ns, char to[TAP_WALL_TEXT])
{
	return put_time(w, ts_ns, false, w->shown == TAP_SHOW_TOD ? DATE_LEN : 0, to);
}

void tap_wall_add(struct tap_wall *w, struct tap_buf *out, uint64_t ts_ns)
{
	char text[TAP_WALL_TEXT];

	if (tap_wall_width(w))
		tap_buf_add(out, text, tap_wall_text(w, ts_ns, text));
	else
		tap_text_ns(out, ts_ns);
}

void tap_wall_add_date(struct tap_wall *w, struct tap_buf *out, uint64_t ts_ns)
{
	uint32_t ns;
	int64_t second = split_seconds(tap_wall_from(w, ts_ns), &ns);
	char zone[16] = "";
	struct tm tm;

	break_down(second, false, &tm);
	strftime(zone, sizeof(zone), " %z", &tm);
	tap_buf_puts(out, second_text(w, second, false));
	tap_buf_puts(out, zone);
}

void tap_wall_add_iso(struct tap_wall *w, struct tap_buf *out, uint64_t ts_ns)
{
	char text[TAP_WALL_TEXT];
	size_t len = put_time(w, ts_ns, true, 0, text);

	text[len++] = 'Z';
	tap_buf_add(out, text, len);
}
