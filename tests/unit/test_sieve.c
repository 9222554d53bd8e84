// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What of a filter the kernel does, and pages without the records that the rest rejects. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include <errno.h>

#include "file/cursor.h"
#include "record/tracefs/sieve.h"

#define LEN(table) (sizeof(table) / sizeof(*(table)))

static const char format_text[] =
	"name: e\nID: 7\nformat:\n"
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
	"\tfield:int n;\toffset:8;\tsize:4;\tsigned:1;\n"
	"\tfield:u32 u;\toffset:12;\tsize:4;\tsigned:0;\n"
	"\tfield:char name[16];\toffset:16;\tsize:16;\tsigned:0;\n"
	"\nprint fmt: \"%s\", __print_symbolic(REC->n, { -5, \"MINUS_FIVE\" }, { 1, \"ONE\" })\n";

static struct tap_format *format(void)
{
	struct tap_format *fmt;

	assert_int_equal(tap_format_parse("app", format_text, strlen(format_text),
					  (struct tap_abi){ .long_size = 8 }, &fmt, NULL),
			 0);
	return fmt;
}

static const struct {
	const char *filter, *kernel, *rest;
} split_cases[] = {
	{ "n == 1", "n == 1", "" },
	{ "n == 5ms", "n == 5000000", "" },
	{ "n != MINUS_FIVE || u & 4K", "n != -5 || u & 4096", "" },
	{ "!( n > 2K )  && u == 010", "!( n > 2048 ) && u == 8", "" },
	{ "5 < n && -1 >= n && 3 * 2 == CPU", "n > 5 && n <= -1 && CPU == 6", "" },
	{ "u & -1", "u & 4294967295", "" },
	{ "n & -1", "n & -1", "" },
	{ "n & 0xffffffff", "n & 4294967295", "" },
	{ "n + 1 == 2", "", "n + 1 == 2" },
	{ "n == 1 && n > u && u == 1K", "n == 1 && u == 1024", "n > u" },
	{ "n > u && sample(1/2)", "", "n > u && sample(1/2)" },
	{ "n == 1 || n > u && u == 1", "", "n == 1 || n > u && u == 1" },
	{ "(n == 1 || n > u) && !(u == 1K || n == 2)", "!(u == 1024 || n == 2)",
	  "(n == 1 || n > u)" },
	{ "name == \"a && (b\" && n > u && name ~ 'x||\"*'",
	  "name == \"a && (b\" && name ~ 'x||\"*'", "n > u" },
	{ "u / n == 1 && CPU & CPUS{0-3}", "CPU & CPUS{0-3}", "u / n == 1" },
	{ "(n) & CPUS{1} && COMM == 'x'", "COMM == 'x'", "(n) & CPUS{1}" },
	{ "n > u && n = 1", NULL, "bad filter for 'app:e': Invalid operator\n n > u && n = 1\n" },
	{ "n > u || COMM == \"x\"", NULL, "join COMM and the other terms with '&&'" },
	{ "n == 1 && changed(n)", NULL,
	  "'changed(n)' of app:e: changed() and moved() do not work over tracefs" },
};

static void test_split(void **state)
{
	struct tap_format *fmt = format();

	(void)state;
	for (size_t i = 0; i < LEN(split_cases); i++) {
		struct tap_buf kernel = { 0 }, rest = { 0 };
		struct tap_err err = { 0 };
		int ret = tap_sieve_split(fmt, split_cases[i].filter, &kernel, &rest, &err);

		print_message("# %s\n", split_cases[i].filter);
		if (split_cases[i].kernel) {
			assert_int_equal(ret, 0);
			assert_string_equal(tap_buf_str(&kernel), split_cases[i].kernel);
			assert_string_equal(tap_buf_str(&rest), split_cases[i].rest);
		} else {
			assert_int_equal(ret, -EINVAL);
			assert_non_null(strstr(err.text, split_cases[i].rest));
		}
		tap_buf_release(&kernel);
		tap_buf_release(&rest);
	}
	tap_format_free(fmt);
}

/* A filter file takes a page: what is more stays here. */
static void test_long(void **state)
{
	struct tap_buf text = { 0 }, kernel = { 0 }, rest = { 0 };
	struct tap_format *fmt = format();

	(void)state;
	for (int i = 0; i < 1000; i++)
		tap_buf_printf(&text, "%sn != %d", i ? " && " : "", i + 1000);
	assert_int_equal(tap_sieve_split(fmt, tap_buf_str(&text), &kernel, &rest, NULL), 0);
	assert_in_range(kernel.len, 3900, 4096);
	assert_int_equal(kernel.len + rest.len + strlen(" && "), text.len);
	tap_buf_release(&text);
	tap_buf_release(&kernel);
	tap_buf_release(&rest);
	tap_format_free(fmt);
}

struct record {
	uint16_t type, pad;
	int32_t pid, n;
	uint32_t u;
	char name[16];
};

#define BIG 150u /* bytes of a record that has its length in a word of its own */

/* Records at these times, every fifth of another kind. Return: how many there is room for. */
static uint32_t fill(unsigned char *bytes, const uint64_t *times, uint32_t nr, uint64_t missed)
{
	struct tap_page page;
	uint32_t i;

	tap_page_begin(&page, bytes, times[0]);
	for (i = 0; i < nr; i++) {
		struct record rec = { .type = i % 5 == 4 ? 8 : 7, .n = (int32_t)i, .pid = 1 };
		uint32_t len = i % 7 == 3 ? BIG : sizeof(rec);
		unsigned char *at = tap_page_add(&page, times[i], len);

		if (!at)
			break;
		memset(at, 0, len);
		memcpy(at, &rec, sizeof(rec));
	}
	tap_page_end(&page, missed);
	return i;
}

static bool passes(uint32_t i, uint32_t step)
{
	return i % 5 == 4 || (step && i % step == 0);
}

static const struct tap_page_abi abi = {
	.page_size = TAP_PAGE_SIZE,
	.data_offset = TAP_PAGE_HEADER,
	.commit_size = 8,
	.big_endian = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__,
};

static void check_page(const unsigned char *bytes, const uint64_t *times, uint32_t nr,
		       uint32_t step, uint64_t missed)
{
	struct tap_page_head head;
	struct tap_cursor c = { 0 };

	assert_true(tap_page_parse(&abi, bytes, &head));
	assert_int_equal(head.stamp, times[0]);
	assert_int_equal(head.missed, missed != 0);
	assert_int_equal(head.missed_cnt, missed);
	tap_cursor_open(&c, &abi, bytes, &head, 0);
	for (uint32_t i = 0; i < nr; i++) {
		struct record rec;

		if (!passes(i, step))
			continue;
		assert_int_equal(tap_cursor_step(&c), TAP_STEP_EVENT);
		memcpy(&rec, c.rec, sizeof(rec));
		assert_int_equal(rec.n, i);
		assert_int_equal(c.ts, times[i]);
		assert_int_equal(c.size, i % 7 == 3 ? (BIG + 3) / 4 * 4 : sizeof(rec));
	}
	assert_int_equal(tap_cursor_step(&c), TAP_STEP_END);
}

static void test_pages(void **state)
{
	unsigned char from[TAP_PAGE_SIZE], to[TAP_PAGE_SIZE];
	uint64_t times[200], seed = 1;
	struct tap_sieve s;
	uint32_t left;

	(void)state;
	for (uint32_t round = 0; round < 300; round++) {
		uint32_t step = round % 9, nr, want = 0;
		uint64_t missed = round % 4 == 1 ? round : 0;
		char rest[32];

		times[0] = round * 1000 + 1;
		for (uint32_t i = 1; i < LEN(times); i++) {
			seed = seed * 6364136223846793005u + 1442695040888963407u;
			/* some further apart than a delta holds */
			times[i] = times[i - 1] + (seed >> 60 ? seed >> 44 : seed >> 34);
		}
		nr = fill(from, times, (uint32_t)LEN(times), missed);
		for (uint32_t i = 0; i < nr; i++)
			want += passes(i, step);
		s = (struct tap_sieve){ 0 };
		snprintf(rest, sizeof(rest), step ? "n %% %u == 0" : "n + %u < 0", step);
		assert_int_equal(tap_sieve_add(&s, format(), rest, NULL), 0);
		assert_int_equal(tap_sieve_page(&s, from, to, sizeof(from), 0, &left), nr - want);
		assert_int_equal(left, want);
		check_page(to, times, nr, step, missed);
		tap_sieve_release(&s);
	}
}

static void test_odd_pages(void **state)
{
	unsigned char from[TAP_PAGE_SIZE], to[TAP_PAGE_SIZE];
	const uint64_t times[] = { 5, 6 };
	struct tap_sieve s = { 0 };
	uint64_t commit = TAP_PAGE_MISSED;
	uint32_t left;

	(void)state;
	assert_int_equal(tap_sieve_add(&s, format(), "n + 1 < 0", NULL), 0);
	/* nothing is left */
	fill(from, times, 2, 0);
	assert_int_equal(tap_sieve_page(&s, from, to, sizeof(from), 0, &left), 2);
	assert_int_equal(left, 0);
	/* but for what was lost */
	fill(from, times, 2, 3);
	assert_int_equal(tap_sieve_page(&s, from, to, sizeof(from), 0, &left), 2);
	assert_int_equal(left, 1);
	memset(from, 0, sizeof(from));
	memcpy(from + 8, &commit, sizeof(commit));
	assert_int_equal(tap_sieve_page(&s, from, to, sizeof(from), 0, &left), 0);
	assert_int_equal(left, 1);
	assert_memory_equal(from, to, sizeof(from));
	/* damaged in the middle, at once */
	fill(from, times, 2, 0);
	from[TAP_PAGE_HEADER + 4 + sizeof(struct record)] = 0;
	assert_int_equal(tap_sieve_page(&s, from, to, sizeof(from), 0, &left), 0);
	assert_int_equal(left, 1);
	assert_memory_equal(from, to, sizeof(from));
	memset(from + 8, 0x07, 8);
	assert_int_equal(tap_sieve_page(&s, from, to, sizeof(from), 0, &left), 0);
	assert_int_equal(left, 1);
	/* a record that is shorter than its fields is the reader's to judge */
	memset(from, 0, sizeof(from));
	commit = 12;
	memcpy(from + 8, &commit, sizeof(commit));
	from[TAP_PAGE_HEADER] = 2;
	from[TAP_PAGE_HEADER + 4] = 7;
	assert_int_equal(tap_sieve_page(&s, from, to, sizeof(from), 0, &left), 0);
	assert_int_equal(left, 1);
	tap_sieve_release(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_split),
		cmocka_unit_test(test_long),
		cmocka_unit_test(test_pages),
		cmocka_unit_test(test_odd_pages),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
