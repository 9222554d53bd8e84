// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <sys/mman.h>
#include <unistd.h>

#include "out/table.h"
#include "skip_test.h"

#define TABLE(t) (sizeof(t) / sizeof((t)[0]))

enum what { NONE, TEXT, U64, S64, REAL };

struct value {
	enum what what;
	const char *text;
	uint64_t u;
	double real;
};

#define TEXT(s) { TEXT, s }
#define U64(v) { U64, NULL, v }
#define S64(v) { S64, NULL, (uint64_t)(v) }
#define REAL(v) { REAL, NULL, 0, v }
#define NONE { NONE }

static const struct tap_column name_count[] = {
	{ "comm", "comm", TAP_CELL_TEXT, .width = 6 },
	{ "count", "count", TAP_CELL_COUNT, .width = 7 },
	{ 0 }
};
static const struct tap_column numbers[] = {
	{ "run_ns", "run ms", TAP_CELL_NS, TAP_UNIT_MS, .width = 9 },
	{ "max_ns", "max us", TAP_CELL_NS, TAP_UNIT_US, .width = 9 },
	{ "life_ns", "life s", TAP_CELL_NS, TAP_UNIT_S, .width = 8 },
	{ "at_ns", "at", TAP_CELL_AT, .width = 13 },
	{ "cpu", "cpu", TAP_CELL_INT, .width = 4 },
	{ "pct", "%", TAP_CELL_REAL, .width = 6, .places = 1 },
	{ 0 }
};
static const struct tap_column partly[] = {
	{ NULL, "task", TAP_CELL_LABEL, .width = 4 },
	{ "tid", NULL, TAP_CELL_INT },
	{ "what", "what", TAP_CELL_TEXT },
	{ 0 }
};

static const struct table_case {
	const char *name;
	enum tap_style style;
	const struct tap_column *columns;
	struct value rows[3][6];
	unsigned int nr_rows;
	const char *want;
} cases[] = {
	{ "names left, numbers right", TAP_STYLE_TEXT, name_count,
	  { { TEXT("cc1"), U64(7) }, { TEXT("make"), U64(1234567) } }, 2,
	  "comm      count\ncc1           7\nmake    1234567\n" },
	{ "what is too wide pushes", TAP_STYLE_TEXT, name_count,
	  { { TEXT("kworker/0:1"), U64(12345678) } }, 1,
	  "comm      count\nkworker/0:1  12345678\n" },
	{ "a character of several bytes is one column", TAP_STYLE_TEXT, name_count,
	  { { TEXT("\xc3\xa9t\xc3\xa9"), U64(1) } }, 1,
	  "comm      count\n\xc3\xa9t\xc3\xa9           1\n" },
	{ "names are escaped", TAP_STYLE_TEXT, name_count, { { TEXT("a\x1b"), U64(0) } }, 1,
	  "comm      count\na\\x1B         0\n" },
	{ "labels are not escaped again", TAP_STYLE_TEXT, partly,
	  { { TEXT("a\\n"), S64(1), TEXT("a\\n") } }, 1,
	  "task  what\na\\n   a\\\\n\n" },
	{ "units of text", TAP_STYLE_TEXT, numbers,
	  { { U64(1234567), U64(1234567), U64(1500000000), U64(12345678901), S64(-1), REAL(12.34) },
	    { U64(499), U64(0), U64(499999), U64(0), S64(31), REAL(0) },
	    { U64(500), U64(9), U64(500000), U64(9), S64(10), REAL(100) } }, 3,
	  "   run ms     max us    life s             at   cpu       %\n"
	  "    1.235   1234.567     1.500   12.345678901    -1    12.3\n"
	  "    0.000      0.000     0.000    0.000000000    31     0.0\n"
	  "    0.001      0.009     0.001    0.000000009    10   100.0\n" },
	{ "unknown in text", TAP_STYLE_TEXT, numbers,
	  { { NONE, NONE, NONE, NONE, NONE, REAL(NAN) } }, 1,
	  "   run ms     max us    life s             at   cpu       %\n"
	  "        -          -         -              -     -       -\n" },
	{ "no blanks at the end, text columns only", TAP_STYLE_TEXT, partly,
	  { { TEXT("a"), S64(1), TEXT("x y") }, { NONE, NONE, TEXT("") },
	    { TEXT(""), NONE, TEXT("b") } }, 3,
	  "task  what\na     x y\n-\n      b\n" },
	{ "the greatest numbers", TAP_STYLE_TEXT, numbers,
	  { { U64(UINT64_MAX), U64(UINT64_MAX), U64(UINT64_MAX), U64(UINT64_MAX), S64(INT64_MIN),
	      REAL(1e20) } }, 1,
	  "   run ms     max us    life s             at   cpu       %\n"
	  "18446744073709.552  18446744073709551.615  18446744073.710  18446744073.709551615  "
	  "-9223372036854775808  100000000000000000000.0\n" },
	{ "JSON", TAP_STYLE_JSON, numbers,
	  { { U64(1234567), U64(1), U64(2), U64(12345678901), S64(-1), REAL(12.34) },
	    { NONE, NONE, NONE, NONE, NONE, REAL(INFINITY) } }, 2,
	  "{\"rows\":[{\"run_ns\":1234567,\"max_ns\":1,\"life_ns\":2,\"at_ns\":12345678901,"
	  "\"cpu\":-1,\"pct\":12.34},{\"run_ns\":null,\"max_ns\":null,\"life_ns\":null,"
	  "\"at_ns\":null,\"cpu\":null,\"pct\":null}]}\n" },
	{ "JSON without rows", TAP_STYLE_JSON, numbers, {}, 0, "{\"rows\":[]}\n" },
	{ "JSON names, and its columns only", TAP_STYLE_JSON, partly,
	  { { TEXT("no"), S64(5), TEXT("a\"\n") } }, 1,
	  "{\"rows\":[{\"tid\":5,\"what\":\"a\\\"\\u000a\"}]}\n" },
	{ "JSON Lines", TAP_STYLE_JSONL, partly,
	  { { TEXT("no"), S64(5), TEXT("a") }, { NONE, S64(6), NONE } }, 2,
	  "{\"tid\":5,\"what\":\"a\"}\n{\"tid\":6,\"what\":null}\n" },
	{ "CSV", TAP_STYLE_CSV, numbers,
	  { { U64(1234567), U64(1), U64(2), U64(12345678901), S64(-1), REAL(12.34) },
	    { NONE, NONE, NONE, NONE, NONE, REAL(NAN) } }, 2,
	  "run_ns,max_ns,life_ns,at_ns,cpu,pct\n1234567,1,2,12345678901,-1,12.3\n,,,,,\n" },
	{ "CSV names, and its columns only", TAP_STYLE_CSV, partly,
	  { { TEXT("no"), S64(5), TEXT("a,\"b\"") }, { TEXT("no"), NONE, TEXT("") } }, 2,
	  "tid,what\n5,\"a,\"\"b\"\"\"\n,\n" },
	{ "digits by twos", TAP_STYLE_CSV, name_count,
	  { { TEXT(""), U64(100) }, { TEXT(""), U64(9999) }, { TEXT(""), U64(10405) } }, 3,
	  "comm,count\n,100\n,9999\n,10405\n" },
};

static void put(struct tap_table *t, const struct value *v)
{
	if (v->what == TEXT)
		tap_table_text(t, v->text, strlen(v->text));
	else if (v->what == U64)
		tap_table_u64(t, v->u);
	else if (v->what == S64)
		tap_table_s64(t, (int64_t)v->u);
	else if (v->what == REAL)
		tap_table_real(t, v->real);
	else
		tap_table_none(t);
}

/* Compares all that was written to @fd, and closes it. */
static void check_written(const char *name, int fd, const char *want)
{
	char got[1024];
	ssize_t len = pread(fd, got, sizeof(got) - 1, 0);

	assert_true(len >= 0);
	got[len] = '\0';
	close(fd);
	if (strcmp(got, want))
		fail_msg("%s: got\n%s\nwant\n%s", name, got, want);
}

static void test_cells(void **state)
{
	(void)state;
	for (size_t i = 0; i < TABLE(cases); i++) {
		int fd = memfd_create("table", MFD_CLOEXEC);
		const struct table_case *c = &cases[i];
		struct tap_report r;
		struct tap_table t;

		tap_report_open(&r, c->style, fd);
		tap_table_begin(&t, &r, c->columns, "rows");
		for (unsigned int row = 0; row < c->nr_rows; row++) {
			for (unsigned int k = 0; c->columns[k].key || c->columns[k].title; k++)
				put(&t, &c->rows[row][k]);
			tap_table_row(&t);
		}
		tap_table_end(&t);
		assert_int_equal(tap_report_close(&r), 0);
		check_written(c->name, fd, c->want);
	}
}

/* All that a report has beside tables. */
static void write_members(struct tap_report *r)
{
	struct tap_table t;

	tap_report_u64(r, "a_ns", 1);
	tap_report_object(r, "all");
	tap_report_text(r, "x", "\"", 1);
	tap_report_array(r, "list");
	tap_report_object(r, NULL);
	tap_report_object_end(r);
	tap_report_object(r, NULL);
	tap_report_real(r, "y", 0.5);
	tap_report_real(r, "z", NAN);
	tap_report_object_end(r);
	tap_report_array_end(r);
	tap_report_object_end(r);
	tap_table_begin(&t, r, name_count, "rows");
	tap_table_text(&t, "c", 1);
	tap_table_u64(&t, 2);
	tap_table_row(&t);
	tap_table_end(&t);
	if (r->style == TAP_STYLE_JSON) {
		tap_table_object(&t, r, name_count, "row");
		tap_table_none(&t);
		tap_table_u64(&t, 3);
		tap_table_row(&t);
	}
	tap_report_key(r, "b");
	if (r->style == TAP_STYLE_JSON)
		tap_buf_puts(&r->buf, "true");
}

static void test_members(void **state)
{
	static const char *const want[] = {
		[TAP_STYLE_TEXT] = "comm      count\nc             2\n",
		[TAP_STYLE_JSON] = "{\"a_ns\":1,\"all\":{\"x\":\"\\\"\",\"list\":[{},"
				   "{\"y\":0.5,\"z\":null}]},"
				   "\"rows\":[{\"comm\":\"c\",\"count\":2}],"
				   "\"row\":{\"comm\":null,\"count\":3},\"b\":true}\n",
		[TAP_STYLE_JSONL] = "{\"comm\":\"c\",\"count\":2}\n",
		[TAP_STYLE_CSV] = "comm,count\nc,2\n",
	};

	(void)state;
	for (size_t i = 0; i < TABLE(want); i++) {
		int fd = memfd_create("table", MFD_CLOEXEC);
		struct tap_report r;

		tap_report_open(&r, (enum tap_style)i, fd);
		write_members(&r);
		assert_int_equal(tap_report_close(&r), 0);
		check_written("members", fd, want[i]);
	}
}

static void write_rows(struct tap_report *r, unsigned int nr)
{
	struct tap_table t;

	tap_table_begin(&t, r, name_count, "rows");
	for (unsigned int i = 0; i < nr; i++) {
		tap_table_text(&t, "abcd", 4);
		tap_table_u64(&t, 1000000 + i);
		tap_table_row(&t);
	}
	tap_table_end(&t);
}

/* 16 bytes a row: what is kept stays below a block, and all of it arrives. */
static void test_blocks(void **state)
{
	int fd = memfd_create("table", MFD_CLOEXEC);
	struct tap_report r;

	(void)state;
	tap_report_open(&r, TAP_STYLE_TEXT, fd);
	write_rows(&r, 20000);
	assert_in_range(lseek(fd, 0, SEEK_END), 16 * 20001 - 65536, 16 * 20001 - 1);
	assert_true(lseek(fd, 0, SEEK_END) + (off_t)r.buf.len == 16 * 20001);
	assert_int_equal(tap_report_close(&r), 0);
	assert_int_equal(lseek(fd, 0, SEEK_END), 16 * 20001);
	close(fd);
}

static void test_write_error(void **state)
{
	int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
	struct tap_report r;

	(void)state;
	if (fd < 0)
		return skip_test("no /dev/full");
	tap_report_open(&r, TAP_STYLE_TEXT, fd);
	write_rows(&r, 10000);
	assert_int_equal(r.err, -ENOSPC);
	assert_true(r.buf.len < 65536); /* what cannot be written does not pile up */
	close(fd);
	r.fd = fd = memfd_create("table", MFD_CLOEXEC);
	write_rows(&r, 10000);
	assert_int_equal(tap_report_close(&r), -ENOSPC);
	check_written("nothing follows an error", fd, "");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cells),
		cmocka_unit_test(test_members),
		cmocka_unit_test(test_blocks),
		cmocka_unit_test(test_write_error),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("table", tests, NULL, NULL);
}
