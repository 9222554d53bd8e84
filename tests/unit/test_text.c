// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>

#include "base/text.h"

#define TABLE(t) (sizeof(t) / sizeof((t)[0]))

/* From its table a test prints the name of the case that fails. */
#define check(name, cond)                                                                          \
	do {                                                                                       \
		if (!(cond))                                                                       \
			fail_msg("%s: %s", name, #cond);                                           \
	} while (0)

struct text_case {
	const char *name, *in, *want;
	size_t len; /* of in; 0: up to its NUL */
};

static void run_text(const struct text_case *c, size_t nr,
		     void (*add)(struct tap_buf *, const char *, size_t))
{
	for (; nr; c++, nr--) {
		struct tap_buf out = { 0 };
		/* a copy of its own size: reading past the end is then seen by the sanitizer */
		size_t len = c->len ? c->len : strlen(c->in);
		char *in = malloc(len ? len : 1);

		assert_non_null(in);
		memcpy(in, c->in, len);
		add(&out, in, len);
		if (strcmp(tap_buf_str(&out), c->want))
			fail_msg("%s: got <%s>, want <%s>", c->name, out.data, c->want);
		free(in);
		tap_buf_release(&out);
	}
}

static void test_escape(void **state)
{
	static const struct text_case cases[] = {
		{ "plain text stays", "kworker/0:1H-ev", "kworker/0:1H-ev" },
		{ "nothing gives nothing", "", "" },
		{ "newline and tab have letters", "a\nb\tc", "a\\nb\\tc" },
		{ "a backslash is doubled", "a\\nb", "a\\\\nb" },
		{ "an escape sequence is shown", "\x1b[31m", "\\x1B[31m" },
		{ "a NUL inside is shown", "a\0b", "a\\x00b", 3 },
		{ "DEL is shown", "\x7f", "\\x7F" },
		{ "UTF-8 of two, three, four bytes stays", "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80",
		  "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80" },
		{ "the last character of all stays", "\xf4\x8f\xbf\xbf", "\xf4\x8f\xbf\xbf" },
		{ "above the last one is shown", "\xf4\x90\x80\x80", "\\xF4\\x90\\x80\\x80" },
		{ "a first byte that UTF-8 never has is shown", "\xf5\x80\x80\x80",
		  "\\xF5\\x80\\x80\\x80" },
		{ "a C1 control character is shown",
		  "\xc2\x9b"
		  "1m",
		  "\\xC2\\x9B1m" },
		{ "the first after C1 stays", "\xc2\xa0", "\xc2\xa0" },
		{ "a lone continuation byte is shown", "a\x80z", "a\\x80z" },
		{ "overlong forms are shown", "\xc0\xaf\xe0\x9f\xbf\xf0\x8f\xbf\xbf",
		  "\\xC0\\xAF\\xE0\\x9F\\xBF\\xF0\\x8F\\xBF\\xBF" },
		{ "a surrogate is shown", "\xed\xa0\x80", "\\xED\\xA0\\x80" },
		{ "a character cut at the end is shown", "a\xe2\x82", "a\\xE2\\x82" },
		{ "characters that turn the direction of writing are shown",
		  "\xe2\x80\xae"
		  "a\xe2\x81\xa6",
		  "\\xE2\\x80\\xAEa\\xE2\\x81\\xA6" },
		{ "a zero-width space stays", "\xe2\x80\x8b", "\xe2\x80\x8b" },
		{ "a character cut by another stays out", "\xe2\x82x", "\\xE2\\x82x" },
	};

	(void)state;
	run_text(cases, TABLE(cases), tap_text_escape);
}

static void test_json(void **state)
{
	static const struct text_case cases[] = {
		{ "plain text is quoted", "abc", "\"abc\"" },
		{ "nothing is two quotes", "", "\"\"" },
		{ "quote and backslash", "a\"b\\c", "\"a\\\"b\\\\c\"" },
		{ "control characters", "\n\x1b\x7f", "\"\\u000a\\u001b\\u007f\"" },
		{ "a NUL inside", "a\0b", "\"a\\u0000b\"", 3 },
		{ "a C1 control character keeps its number", "\xc2\x9b", "\"\\u009b\"" },
		{ "UTF-8 stays", "\xe2\x82\xac", "\"\xe2\x82\xac\"" },
		{ "a line separator of JavaScript", "\xe2\x80\xa9", "\"\\u2029\"" },
		{ "what is not UTF-8 becomes U+FFFD, byte by byte", "a\xff\xe2\x82",
		  "\"a\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"" },
	};

	(void)state;
	run_text(cases, TABLE(cases), tap_text_json);
}

static void test_csv(void **state)
{
	static const struct text_case cases[] = {
		{ "plain text is not quoted", "a b", "a b" },
		{ "nothing gives nothing", "", "" },
		{ "a comma is quoted", "a,b", "\"a,b\"" },
		{ "a quote is doubled", "a\"b", "\"a\"\"b\"" },
		{ "a record is one line", "a\nb\r", "a\\nb\\x0D" },
		{ "an escape sequence is shown, quoted or not", "\x1b[m,\"\x1b\"",
		  "\"\\x1B[m,\"\"\\x1B\"\"\"" },
		{ "what is not UTF-8 is shown", "\xff\"\xe2", "\"\\xFF\"\"\\xE2\"" },
		{ "a backslash is doubled, so that this can be undone", "a\\nb", "a\\\\nb" },
		{ "what a spreadsheet may take for a formula", "=1+1", "\\x3D1+1" },
		{ "with a sign", "-1+1", "\\x2D1+1" },
		{ "of another spreadsheet", "@SUM(a1,a2)", "\"\\x40SUM(a1,a2)\"" },
		{ "after a quote", "+\"a\"", "\"\\x2B\"\"a\"\"\"" },
		{ "a number stays", "-12.5", "-12.5" },
		{ "a sign alone stays: nothing is known", "-", "-" },
		{ "a line separator is shown", "a\xe2\x80\xa8", "a\\xE2\\x80\\xA8" },
	};

	(void)state;
	run_text(cases, TABLE(cases), tap_text_csv);
}

static void test_width(void **state)
{
	static const struct {
		const char *name, *s;
		size_t width, columns, fit; /* of the text; how many bytes of it fit in .columns */
	} cases[] = {
		{ "nothing", "", 0, 5, 0 },
		{ "ASCII", "kworker/0:1", 11, 7, 7 },
		{ "a text that fits", "abc", 3, 3, 3 },
		{ "Latin letters of two bytes", "\xc3\xa9t\xc3\xa9", 3, 2, 3 },
		{ "CJK is wide", "\xe6\x97\xa5\xe6\x9c\xac", 4, 3, 3 },
		{ "Hangul is wide", "\xed\x95\x9c", 2, 1, 0 },
		{ "emoji are wide", "a\xf0\x9f\x98\x80", 3, 2, 1 },
		{ "block characters are not", "\xe2\x96\x88\xe2\x96\x8f", 2, 1, 3 },
		{ "an accent of its own takes nothing, and stays with its letter", "e\xcc\x81x", 2,
		  1, 3 },
		{ "a zero-width joiner takes nothing", "a\xe2\x80\x8d", 1, 1, 4 },
		{ "beyond the last wide character", "\xf3\xb0\x80\x80", 1, 0, 0 },
		{ "what is no UTF-8 takes a column each", "\xff\xe6\x97", 3, 2, 2 },
	};

	(void)state;
	for (size_t i = 0; i < TABLE(cases); i++) {
		size_t len = strlen(cases[i].s), width = tap_text_width(cases[i].s, len);
		size_t fit = tap_text_fit(cases[i].s, len, cases[i].columns);

		if (width != cases[i].width || fit != cases[i].fit)
			fail_msg("%s: %zu columns, %zu bytes fit", cases[i].name, width, fit);
	}
}

static void test_ns(void **state)
{
	static const struct {
		uint64_t ns;
		const char *want;
	} cases[] = {
		{ 0, "0.000000000" },
		{ 1, "0.000000001" },
		{ 999999999, "0.999999999" },
		{ 1000000000, "1.000000000" },
		{ 12345678901234, "12345.678901234" },
		{ UINT64_MAX, "18446744073.709551615" },
	};

	(void)state;
	for (size_t i = 0; i < TABLE(cases); i++) {
		struct tap_buf out = { 0 };

		tap_text_ns(&out, cases[i].ns);
		assert_string_equal(tap_buf_str(&out), cases[i].want);
		tap_buf_release(&out);
	}
}

struct number_case {
	const char *in;
	uint64_t want;
	int ret;
};

static void run_numbers(const struct number_case *c, size_t nr,
			int (*parse)(const char *, uint64_t *))
{
	for (; nr; c++, nr--) {
		uint64_t v = 0;
		int ret = parse(c->in, &v);

		if (ret != c->ret || v != c->want)
			fail_msg("'%s': got %d and %ju, want %d and %ju", c->in, ret, (uintmax_t)v,
				 c->ret, (uintmax_t)c->want);
	}
}

static void test_time(void **state)
{
	static const struct number_case cases[] = {
		{ "5", 5000000000 },
		{ "0", 0 },
		{ "1.5s", 1500000000 },
		{ "1.5", 1500000000 },
		{ "0.000000001", 1 },
		{ "200ms", 200000000 },
		{ "10us", 10000 },
		{ "0.25us", 250 },
		{ "7ns", 7 },
		{ "7.9ns", 7 },
		{ "2m", 120000000000 },
		{ "0.5h", 1800000000000 },
		{ "1.999999999h", 7199999996400 },
		{ "9223372036854775808ns", (uint64_t)1 << 63 },
		{ "9223372036854775809ns", 0, -EINVAL },
		{ "9223372037", 0, -EINVAL },
		{ "5124096h", 0, -EINVAL }, /* 2^64 ns and a little */
		{ "99999999999999999999", 0, -EINVAL },
		{ "", 0, -EINVAL },
		{ "s", 0, -EINVAL },
		{ "-1", 0, -EINVAL },
		{ "+1", 0, -EINVAL },
		{ " 1", 0, -EINVAL },
		{ "1 s", 0, -EINVAL },
		{ "1.", 0, -EINVAL },
		{ "1.s", 0, -EINVAL },
		{ ".5", 0, -EINVAL },
		{ "1.5.5", 0, -EINVAL },
		{ "1.0000000001", 0, -EINVAL },
		{ "1min", 0, -EINVAL },
		{ "1e3", 0, -EINVAL },
	};

	(void)state;
	run_numbers(cases, TABLE(cases), tap_text_parse_time);
}

static void test_size(void **state)
{
	static const struct number_case cases[] = {
		{ "4096", 4096 },
		{ "0", 0 },
		{ "64k", 65536 },
		{ "64K", 65536 },
		{ "8M", 8388608 },
		{ "1G", 1073741824 },
		{ "4611686018427387904", (uint64_t)1 << 62 },
		{ "4611686018427387905", 0, -ERANGE },
		{ "4294967296G", (uint64_t)1 << 62 },
		{ "4294967297G", 0, -ERANGE },
		{ "18014398509481984k", 0, -ERANGE },
		{ "99999999999999999999", 0, -ERANGE },
		{ "", 0, -EINVAL },
		{ "k", 0, -EINVAL },
		{ "-1", 0, -EINVAL },
		{ "1kB", 0, -EINVAL },
		{ "1T", 0, -EINVAL },
		{ "1.5M", 0, -EINVAL },
	};

	(void)state;
	run_numbers(cases, TABLE(cases), tap_text_parse_size);
}

static void test_int(void **state)
{
	static const struct {
		const char *in;
		int64_t min, max, want;
		int ret;
	} cases[] = {
		{ "10", 1, 100, 10 },
		{ "1", 1, 100, 1 },
		{ "100", 1, 100, 100 },
		{ "0", 1, 100, 0, -ERANGE },
		{ "101", 1, 100, 0, -ERANGE },
		{ "-5", -10, 10, -5 },
		{ "9223372036854775807", INT64_MIN, INT64_MAX, INT64_MAX },
		{ "9223372036854775808", INT64_MIN, INT64_MAX, 0, -ERANGE },
		{ "-9223372036854775808", INT64_MIN, INT64_MAX, INT64_MIN },
		{ "-9223372036854775809", INT64_MIN, INT64_MAX, 0, -ERANGE },
		{ "99999999999999999999999", 0, INT64_MAX, 0, -ERANGE },
		{ "99999999999999999999999x", 0, INT64_MAX, 0, -EINVAL },
		{ "", 0, 9, 0, -EINVAL },
		{ "-", -9, 9, 0, -EINVAL },
		{ "--1", -9, 9, 0, -EINVAL },
		{ "+1", 0, 9, 0, -EINVAL },
		{ "1x", 0, 9, 0, -EINVAL },
		{ "0x1", 0, 9, 0, -EINVAL },
	};

	(void)state;
	for (size_t i = 0; i < TABLE(cases); i++) {
		int64_t v = 0;
		int ret = tap_text_parse_int(cases[i].in, cases[i].min, cases[i].max, &v);

		check(cases[i].in, ret == cases[i].ret);
		check(cases[i].in, v == cases[i].want);
	}
}

static void test_digits(void **state)
{
	static const struct {
		const char *in;
		unsigned int base, len, taken; /* len 0: to the NUL */
		uint64_t want;
		int ret;
	} cases[] = {
		{ "120x", 10, 0, 3, 120 },
		{ "120", 10, 2, 2, 12 },
		{ "1208", 8, 0, 3, 80 },
		{ "fFg", 16, 0, 2, 255 },
		{ "12a", 10, 0, 2, 12 },
		{ "18446744073709551615", 10, 0, 20, UINT64_MAX },
		{ "18446744073709551616,", 10, 0, 20, UINT64_MAX, -ERANGE },
		{ "10000000000000000", 16, 0, 17, UINT64_MAX, -ERANGE },
		{ "", 10, 0, 0, 0, -EINVAL },
		{ "x1", 16, 0, 0, 0, -EINVAL },
		{ "8", 8, 0, 0, 0, -EINVAL },
		{ "@`G", 16, 0, 0, 0, -EINVAL },
	};

	(void)state;
	for (size_t i = 0; i < TABLE(cases); i++) {
		const char *s = cases[i].in, *end = cases[i].len ? s + cases[i].len : NULL;
		uint64_t v = 1;

		check(cases[i].in,
		      tap_text_take_digits(&s, end, cases[i].base, &v) == cases[i].ret);
		check(cases[i].in, v == cases[i].want && s == cases[i].in + cases[i].taken);
	}
}

static void test_cpus(void **state)
{
	static const struct {
		const char *in, *in_set, *not_in_set; /* CPUs as characters from '0' on */
		int ret;
	} cases[] = {
		{ "0-3,8", "01238", "4579" },
		{ "2", "2", "013" },
		{ "0-1\n", "01", "2" },
		{ "1,0-1,1", "01", "2" },
		{ "\n", "", "012" },
		/* what a refused list leaves: CPU 9, which was there before */
		{ "", "9", "012", -EINVAL },
		{ "0,", "9", "012", -EINVAL },
		{ ",0", "9", "012", -EINVAL },
		{ "3-1", "9", "123", -EINVAL },
		{ "1-", "9", "123", -EINVAL },
		{ "1 2", "9", "123", -EINVAL },
		{ "0-3x", "9", "0123", -EINVAL },
		{ "1\n2", "9", "012", -EINVAL },
		{ "all", "9", "012", -EINVAL },
		{ "65536", "9", "012", -EINVAL },
		{ "4294967296", "9", "012", -EINVAL },
		{ "0-18446744073709551615", "9", "012", -EINVAL },
		{ "99999999999999999999", "9", "012", -EINVAL },
	};

	(void)state;
	for (size_t i = 0; i < TABLE(cases); i++) {
		struct tap_cpus c = { 0 };

		assert_int_equal(tap_cpus_add(&c, 9), 0);
		check(cases[i].in, tap_cpus_parse(&c, cases[i].in) == cases[i].ret);
		for (const char *p = cases[i].in_set; *p; p++)
			check(cases[i].in, tap_cpus_has(&c, (unsigned int)(*p - '0')));
		for (const char *p = cases[i].not_in_set; *p; p++)
			check(cases[i].in, !tap_cpus_has(&c, (unsigned int)(*p - '0')));
		tap_cpus_release(&c);
	}
}

static void test_cpus_large(void **state)
{
	struct tap_cpus c = { 0 };

	(void)state;
	assert_false(tap_cpus_has(&c, 0));
	assert_int_equal(tap_cpus_parse(&c, "63-64,65535"), 0);
	assert_true(tap_cpus_has(&c, 63) && tap_cpus_has(&c, 64) && tap_cpus_has(&c, 65535));
	assert_false(tap_cpus_has(&c, 62) || tap_cpus_has(&c, 65) || tap_cpus_has(&c, 65534));
	assert_false(tap_cpus_has(&c, 65536) || tap_cpus_has(&c, UINT32_MAX));
	assert_int_equal(tap_cpus_add(&c, 65536), -EINVAL);
	assert_int_equal(tap_cpus_add(&c, UINT32_MAX), -EINVAL);
	tap_cpus_release(&c);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_escape),	   cmocka_unit_test(test_width),
		cmocka_unit_test(test_json),	   cmocka_unit_test(test_csv),
		cmocka_unit_test(test_ns),	   cmocka_unit_test(test_time),
		cmocka_unit_test(test_size),	   cmocka_unit_test(test_int),
		cmocka_unit_test(test_digits),	   cmocka_unit_test(test_cpus),
		cmocka_unit_test(test_cpus_large),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("text", tests, NULL, NULL);
}
