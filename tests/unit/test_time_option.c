// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* --time, and what lies between a recording's clock and the time of day. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

#include "timeline/run/time_option.h"

#define TABLE(t) (sizeof(t) / sizeof((t)[0]))
#define S UINT64_C(1000000000)
#define MS UINT64_C(1000000)
#define OPEN UINT64_MAX

/* From 1000 s to 1010 s; it began at 2026-11-20T00:47:00Z, or at 23:59:55 the day before. */
#define MORNING (UINT64_C(1795135620) * S)
#define MIDNIGHT (UINT64_C(1795132795) * S)
static const struct tap_window recording = { 1000 * S, 1010 * S };

static void use_zone(const char *tz)
{
	setenv("TZ", tz, 1);
	tzset();
}

struct window_case {
	const char *name, *text;
	uint64_t from_ns, to_ns;
	const char *tz; /* NULL: UTC */
	uint64_t began_ns; /* CLOCK_REALTIME at its start; 0: MORNING */
};

static const struct window_case windows[] = {
	{ "nothing is all", NULL, 0, OPEN },
	{ "both left out", ",", 0, OPEN },
	{ "seconds", "1001.5,1002", 1001 * S + 500 * MS, 1002 * S },
	{ "seconds, open end", "1001,", 1001 * S, OPEN },
	{ "seconds, open start", ",1001", 0, 1001 * S },
	{ "units of the recording's clock", "1001500000000ns,1001600000us", 1001 * S + 500 * MS,
	  1001 * S + 600 * MS },
	{ "minutes and hours", "17m,1h", 1020 * S, 3600 * S },
	{ "one moment", "1001,1001", 1001 * S, 1001 * S },

	{ "after the start, both", "+1s,+2s", 1001 * S, 1002 * S },
	{ "after the start, to the end", "+500ms,", 1000 * S + 500 * MS, OPEN },
	{ "up to so long after the start", ",+2s", 0, 1002 * S },
	{ "so long from a FROM in seconds", "1003,+2s", 1003 * S, 1005 * S },
	{ "so long from a time before the end", "-5s,+2", 1005 * S, 1007 * S },
	{ "so long from a time of day", "00:47:04.5,+2s", 1004 * S + 500 * MS,
	  1006 * S + 500 * MS },
	{ "before the end", "-3s,", 1007 * S, OPEN },
	{ "before the end, both", "-3s,-1s", 1007 * S, 1009 * S },
	{ "more than there is before the end", "-5000s,", 0, OPEN },
	{ "more than fits after the start", ",+9223372036s", 0, 9223373036 * S },

	{ "around seconds", "@1005.75+-20ms", 1005 * S + 730 * MS, 1005 * S + 770 * MS },
	{ "around a time of day", "@00:47:05.824+-1ms", 1005 * S + 823 * MS, 1005 * S + 825 * MS },
	{ "around a date", "@2026-11-20T01:47:05+01:00+-1s", 1004 * S, 1006 * S },
	{ "around a time after the start", "@+5s+-1s", 1004 * S, 1006 * S },
	{ "around a time before the end", "@-5s+-1s", 1004 * S, 1006 * S },
	{ "around more than there is before", "@1s+-2s", 0, 3 * S },
	{ "around more than there can be", "@1s+-9223372036s", 0, 9223372037 * S },

	{ "time of day", "00:47:01,00:47:02.25", 1001 * S, 1002 * S + 250 * MS },
	{ "time of day without seconds", "00:47,00:48", 1000 * S, 1060 * S },
	{ "nine decimals", "00:47:01.123456789,", 1001 * S + 123456789, OPEN },
	{ "time of day in the local zone", "01:47:01,", 1001 * S, OPEN,
	  "CET-1CEST,M3.5.0,M10.5.0/3" },
	{ "time of day in UTC, wherever one is", "00:47:01Z,00:47:02Z", 1001 * S, 1002 * S,
	  "America/New_York" },
	{ "local day and UTC's day differ", "19:47:01,", 1001 * S, OPEN, "EST5EDT" },
	{ "time of day with an offset", "06:17:01+05:30,", 1001 * S, OPEN },
	{ "offset without a colon", "19:47:01-0500,", 1001 * S, OPEN },
	{ "offset of hours", "19:47:01-05,", 1001 * S, OPEN },
	{ "before the recording, on its day", "00:46:59,", 999 * S, OPEN },
	{ "nearer on the day before", "23:47:00,", 0, OPEN },
	{ "a leap second is the second after it", "00:46:60,", 1000 * S, OPEN },

	{ "over midnight", "23:59:57,00:00:02", 1002 * S, 1007 * S, NULL, MIDNIGHT },
	{ "after midnight", "00:00:01,", 1006 * S, OPEN, NULL, MIDNIGHT },
	{ "up to after midnight", ",00:00:02", 0, 1007 * S, NULL, MIDNIGHT },
	{ "midnight is UTC's", "23:59:57Z,00:00:02Z", 1002 * S, 1007 * S, "EST5EDT", MIDNIGHT },

	{ "date and time", "2026-11-20 00:47:01,2026-11-20 00:47:02", 1001 * S, 1002 * S },
	{ "with a T", "2026-11-20T00:47:01,", 1001 * S, OPEN },
	{ "in UTC", "2026-11-20T00:47:01Z,", 1001 * S, OPEN, "EST5EDT" },
	{ "in the local zone", "2026-11-19 19:47:01,", 1001 * S, OPEN, "EST5EDT" },
	{ "with an offset", "2026-11-20T02:47:01.5+02:00,", 1001 * S + 500 * MS, OPEN },
	{ "a date is its first second", "2026-11-20,", 0, OPEN },
	{ "over midnight by date", "2026-11-19 23:59:57,2026-11-20", 1002 * S, 1005 * S, NULL,
	  MIDNIGHT },
	{ "date, then a time of day", "2026-11-19 23:59:57,00:00:01", 1002 * S, 1006 * S, NULL,
	  MIDNIGHT },
	{ "the 29th of a leap year", "2028-02-29,", 1000 * S + 40259580 * S, OPEN },
	{ "long before the clock began", "1970-01-01,", 0, OPEN },
	{ "the last year", "2261-12-31T23:59:59Z,", UINT64_C(9214646399) * S - MORNING + 1000 * S,
	  OPEN },
	{ "summer time", "2027-07-01 02:00:00,", 1000 * S + 19264380 * S, OPEN,
	  "CET-1CEST,M3.5.0,M10.5.0/3" },
};

static struct tap_wall wall_at(uint64_t began_ns)
{
	struct tap_wall wall = { 0 };

	tap_wall_learn(&wall, recording.from_ns, began_ns);
	return wall;
}

static void test_windows(void **state)
{
	(void)state;
	for (const struct window_case *c = windows; c < windows + TABLE(windows); c++) {
		struct tap_wall wall = wall_at(c->began_ns ? c->began_ns : MORNING);
		struct tap_err err = { 0 };
		struct tap_window got = { 0 };
		struct tap_time_option w;

		use_zone(c->tz ? c->tz : "UTC");
		if (tap_time_option_parse(&w, c->text, &err) ||
		    tap_time_option_resolve(&w, &wall, recording, &got, &err))
			fail_msg("%s: %s", c->name, err.text);
		if (got.from_ns != c->from_ns || got.to_ns != c->to_ns)
			fail_msg("%s: %ju..%ju, want %ju..%ju", c->name, (uintmax_t)got.from_ns,
				 (uintmax_t)got.to_ns, (uintmax_t)c->from_ns, (uintmax_t)c->to_ns);
	}
}

static void test_junk(void **state)
{
	static const char *const junk[] = {
		"",
		"1",
		"x",
		"1,2,3",
		"1,x",
		"x,1",
		"1 ,2",
		"--1,",
		"++1,",
		"+,",
		"-,",
		"+-1,",
		"1x,",
		"18446744073709551616,",
		"9223372037,",
		"+9223372037,",
		"-9223372037,",
		"1e3,",
		"1.,",
		".5,",
		"nan,",
		"0x10,",
		"@",
		"@1",
		"@+-1s",
		"@1+-",
		"@1+-x",
		"@1,2+-1s",
		"@1+1",
		"@@1+-1",
		"@1+--1",
		"@1+-1+-1",
		"24:00:00,",
		"12:60,",
		"12:00:61,",
		"1:02:03,",
		"12:3,",
		"12:03:4,",
		"12:,",
		":,",
		"12:03:04.,",
		"12:03:04.1234567890,",
		"12:03.5,",
		"12:03:04 ,",
		"12:03:04X,",
		"12:03:04+,",
		"12:03:04+1,",
		"12:03:04+24,",
		"12:03:04+01:60,",
		"12:03:04+01:0,",
		"12:03:04ZZ,",
		"-12:03:04,",
		"+12:03:04,",
		"2026-11-31,",
		"2026-02-29,",
		"2100-02-29,",
		"2026-13-01,",
		"2026-00-01,",
		"2026-01-00,",
		"1969-12-31,",
		"2262-01-01,",
		"9999-99-99,",
		"2026-1-01,",
		"2026-11-20x,",
		"2026-11-20T,",
		"2026-11-20 ,",
		"2026-11-20  00:00,",
		"2026-11,",
		"2026-11-20Z,",
		"26-11-20,",
		"2026-11-20 00:47:05.8 2026,",
		"1111111111111111111111111111111111111111111111111111111111111111,",
	};

	(void)state;
	for (size_t i = 0; i < TABLE(junk); i++) {
		struct tap_err err = { 0 };
		struct tap_time_option w;

		if (tap_time_option_parse(&w, junk[i], &err) != -EINVAL)
			fail_msg("'%s' was taken", junk[i]);
		if (!strstr(err.text, "12:03:04.5"))
			fail_msg("'%s': no form is shown: %s", junk[i], err.text);
	}
}

static void test_instants(void **state)
{
	static const struct {
		const char *text;
		uint64_t ns; /* 0: refused */
	} cases[] = {
		{ "1001.5", 1001 * S + 500 * MS },
		{ "1001500ms", 1001 * S + 500 * MS },
		{ "+1s", 1001 * S },
		{ "-1s", 1009 * S },
		{ "00:47:01", 1001 * S },
		{ "01:47:01+01", 1001 * S },
		{ "2026-11-20 00:47:01Z", 1001 * S },
		{ "2000", 2000 * S },
		{ "", 0 },
		{ ",", 0 },
		{ "1,", 0 },
		{ ",1", 0 },
		{ "1,2", 0 },
		{ "@1+-1s", 0 },
		{ "1+-1s", 0 },
		{ "noon", 0 },
	};

	(void)state;
	use_zone("UTC");
	for (size_t i = 0; i < TABLE(cases); i++) {
		struct tap_wall wall = wall_at(MORNING);
		struct tap_err err = { 0 };
		struct tap_window got;
		struct tap_time_option w;
		int ret = tap_time_option_parse_instant(&w, "--at", cases[i].text, &err);

		if (ret != (cases[i].ns ? 0 : -EINVAL) || (ret && strncmp(err.text, "--at: '", 7)))
			fail_msg("'%s': %d %s", cases[i].text, ret, err.text);
		if (ret)
			continue;
		assert_int_equal(tap_time_option_resolve(&w, &wall, recording, &got, &err), 0);
		assert_int_equal(got.from_ns, cases[i].ns);
		assert_int_equal(got.to_ns, cases[i].ns);
	}
}

static void test_refused(void **state)
{
	static const struct {
		const char *text;
		bool has_wall;
		int want;
	} cases[] = {
		{ "2,1", true, -EINVAL },
		{ "+2s,+1s", true, -EINVAL },
		{ "-1s,-2s", true, -EINVAL },
		{ "2026-11-20 00:47:02,2026-11-20 00:47:01", true, -EINVAL },
		{ "12:00,", false, -ENODATA },
		{ ",12:00", false, -ENODATA },
		{ "@2026-11-20+-1s", false, -ENODATA },
		{ "+1s,-1s", false, 0 },
	};

	(void)state;
	use_zone("UTC");
	for (size_t i = 0; i < TABLE(cases); i++) {
		struct tap_wall wall = wall_at(MORNING), none = { 0 };
		struct tap_err err = { 0 };
		struct tap_window got;
		struct tap_time_option w;

		assert_int_equal(tap_time_option_parse(&w, cases[i].text, &err), 0);
		if (tap_time_option_resolve(&w, cases[i].has_wall ? &wall : &none, recording, &got,
					    &err) != cases[i].want)
			fail_msg("'%s': %s", cases[i].text, err.text);
	}
}

/* Clocks, ranges and times from the ends of what numbers can hold: nothing overflows. */
static void test_extremes(void **state)
{
	static const uint64_t ends[] = { 0, 1, S, INT64_MAX, UINT64_MAX };
	static const char *const texts[] = {
		"00:00,23:59:60",
		"23:59:60.999999999Z,00:00Z",
		"1970-01-01,2261-12-31T23:59:60-23:59",
		"-9223372036s,+9223372036s",
		"@9223372036+-9223372036s",
		"@00:00+-9223372036s",
	};

	(void)state;
	for (size_t i = 0; i < TABLE(texts) * 625; i++) {
		struct tap_window range = { ends[i / 6 % 5], ends[i / 30 % 5] };
		struct tap_wall wall = { 0 };
		struct tap_err err;
		struct tap_window got;
		struct tap_buf b = { 0 };
		struct tap_time_option w;

		wall.shown = TAP_SHOW_WALL;
		tap_wall_learn(&wall, ends[i / 150 % 5], ends[i / 750 % 5]);
		assert_int_equal(tap_time_option_parse(&w, texts[i % 6], NULL), 0);
		if (wall.is_known && !tap_time_option_resolve(&w, &wall, range, &got, &err))
			assert_true(got.from_ns <= got.to_ns);
		tap_wall_add(&wall, &b, range.from_ns);
		tap_wall_add_iso(&wall, &b, range.to_ns);
		assert_int_equal(b.err, 0);
		tap_buf_release(&b);
	}
}

static void test_learn(void **state)
{
	static const struct {
		const char *name;
		uint64_t pairs[2][2];
		int64_t offset_ns, moved_ns;
	} cases[] = {
		{ "one reading", { { 5 * S, 105 * S } }, 100 * S },
		{ "the second is closer",
		  { { 5 * S, 105 * S + 900 }, { 9 * S, 109 * S + 60 } },
		  100 * S + 60 },
		{ "the first is closer",
		  { { 5 * S, 105 * S + 60 }, { 9 * S, 109 * S + 900 } },
		  100 * S + 60 },
		{ "the clock was set ahead",
		  { { 5 * S, 105 * S }, { 9 * S, 111 * S } },
		  100 * S,
		  2 * S },
		{ "a leap second",
		  { { 5 * S, 105 * S }, { 9 * S, 108 * S } },
		  100 * S,
		  -(int64_t)S },
	};

	(void)state;
	for (size_t i = 0; i < TABLE(cases); i++) {
		struct tap_wall wall = { 0 };

		for (int k = 0; k < 2; k++)
			if (cases[i].pairs[k][0])
				tap_wall_learn(&wall, cases[i].pairs[k][0], cases[i].pairs[k][1]);
		if (wall.offset_ns != cases[i].offset_ns || wall.moved_ns != cases[i].moved_ns)
			fail_msg("%s: %jd, set by %jd", cases[i].name, (intmax_t)wall.offset_ns,
				 (intmax_t)wall.moved_ns);
	}
}

static void test_print(void **state)
{
	static const struct {
		const char *name;
		enum tap_clock shown;
		bool is_known;
		uint64_t ts_ns;
		const char *tz, *text, *iso, *date;
	} cases[] = {
		{ "mono", TAP_SHOW_MONO, true, 1005 * S + 824000001, "UTC", "1005.824000001",
		  "2026-11-20T00:47:05.824000001Z", "2026-11-20 00:47:05 +0000" },
		{ "wall", TAP_SHOW_WALL, true, 1005 * S + 824000001, "UTC",
		  "2026-11-20 00:47:05.824000001", "2026-11-20T00:47:05.824000001Z",
		  "2026-11-20 00:47:05 +0000" },
		{ "wall, local", TAP_SHOW_WALL, true, 1005 * S, "EST5EDT",
		  "2026-11-19 19:47:05.000000000", "2026-11-20T00:47:05.000000000Z",
		  "2026-11-19 19:47:05 -0500" },
		{ "time of day", TAP_SHOW_TOD, true, 1005 * S + 1, "EST5EDT", "19:47:05.000000001",
		  "2026-11-20T00:47:05.000000001Z", "2026-11-19 19:47:05 -0500" },
		{ "not known", TAP_SHOW_TOD, false, 1005 * S + 1, "UTC", "1005.000000001" },
	};

	(void)state;
	for (size_t i = 0; i < TABLE(cases); i++) {
		struct tap_wall wall = wall_at(MORNING);
		struct tap_buf b = { 0 };

		use_zone(cases[i].tz);
		if (!cases[i].is_known)
			wall = (struct tap_wall){ 0 };
		wall.shown = cases[i].shown;
		tap_wall_add(&wall, &b, cases[i].ts_ns - S); /* is not to stay */
		tap_buf_clear(&b);
		tap_wall_add(&wall, &b, cases[i].ts_ns);
		assert_string_equal(tap_buf_str(&b), cases[i].text);
		assert_true(!tap_wall_width(&wall) || tap_wall_width(&wall) == b.len);
		tap_buf_clear(&b);
		if (cases[i].is_known) {
			tap_wall_add_iso(&wall, &b, cases[i].ts_ns);
			assert_string_equal(tap_buf_str(&b), cases[i].iso);
			tap_buf_clear(&b);
			tap_wall_add_date(&wall, &b, cases[i].ts_ns);
			assert_string_equal(tap_buf_str(&b), cases[i].date);
			assert_int_equal(tap_wall_to(&wall, tap_wall_from(&wall, cases[i].ts_ns)),
					 cases[i].ts_ns);
		}
		tap_buf_release(&b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_windows),	 cmocka_unit_test(test_junk),
		cmocka_unit_test(test_instants), cmocka_unit_test(test_refused),
		cmocka_unit_test(test_extremes), cmocka_unit_test(test_learn),
		cmocka_unit_test(test_print),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
