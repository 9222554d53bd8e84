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

#include "show/out/table.h"
#include "skip_test.h"

#define TABLE(t) (sizeof(t) / sizeof((t)[0]))

enum what { NONE, TEXT, U64, S64, REAL };

struct value {
	enum what what;
	const char *text;
	uint64_t u;
	double real;
};

#define TEXT(s)                                                                                    \
	{                                                                                          \
		TEXT, s                                                                            \
	}
#define U64(v)                                                                                     \
	{                                                                                          \
		U64, NULL, v                                                                       \
	}
#define S64(v)                                                                                     \
	{                                                                                          \
		S64, NULL, (uint64_t)(v)                                                           \
	}
#define REAL(v)                                                                                    \
	{                                                                                          \
		REAL, NULL, 0, v                                                                   \
	}
#define NONE                                                                                       \
	{                                                                                          \
		NONE                                                                               \
	}

static const struct tap_column name_count[] = { { "comm", "comm", TAP_CELL_TEXT, .width = 6 },
						{ "count", "count", TAP_CELL_COUNT, .width = 7 },
						{ 0 } };
static const struct tap_column numbers[] = { { "run_ns", "run", TAP_CELL_NS, .width = 9 },
					     { "max_ns", "max", TAP_CELL_NS, .width = 9 },
					     { "life_ns", "life", TAP_CELL_NS, .width = 8 },
					     { "at_ns", "at", TAP_CELL_AT, .width = 13 },
					     { "cpu", "cpu", TAP_CELL_INT, .width = 4 },
					     { "pct", "%", TAP_CELL_REAL, .width = 6, .places = 1 },
					     { 0 } };
static const struct tap_column partly[] = { { NULL, "task", TAP_CELL_LABEL, .width = 4 },
					    { "tid", NULL, TAP_CELL_INT },
					    { "what", "what", TAP_CELL_TEXT },
					    { 0 } };

static const struct tap_column streamed[] = { { "wait_ns", "wait", TAP_CELL_NS, .width = 9,
						.rank = 1 },
					      { "comm", "comm", TAP_CELL_TEXT, .width = 6 },
					      { "count", "count", TAP_CELL_COUNT, .width = 7 },
					      { 0 } };
static const struct tap_column compared[] = { { "avg_ns", "avg", TAP_CELL_NS, .width = 9 },
					      { "pct", "%", TAP_CELL_REAL, .places = 1 },
					      { "max_ns", "max", TAP_CELL_NS, .width = 9,
						.same_unit = true },
					      { "own_ns", "own", TAP_CELL_NS, .width = 9 },
					      { 0 } };
/* A table of these columns is 4 + 6 + 9 + 5 + 9 wide, plus 2 between columns. */
static const struct tap_column ranked[] = { { NULL, "task", TAP_CELL_LABEL },
					    { "tid", NULL, TAP_CELL_INT },
					    { "waits", "waits", TAP_CELL_COUNT, .width = 6,
					      .rank = 1 },
					    { "max_ns", "max", TAP_CELL_NS, .width = 9 },
					    { "cpu", "cpu", TAP_CELL_INT, .width = 5, .rank = 3 },
					    { "avg_ns", "avg", TAP_CELL_NS, .width = 9, .rank = 2 },
					    { 0 } };
static const struct tap_column twice[] = {
	{ "a", "a", TAP_CELL_COUNT, .width = 9 },
	{ "pct", "%", TAP_CELL_REAL, .width = 9, .places = 6, .rank = 1 },
	{ "b", "%", TAP_CELL_REAL, .width = 9, .places = 6, .rank = 1 },
	{ 0 }
};
static const struct tap_column noted[] = { { "cpu", "cpu", TAP_CELL_INT, .width = 3 },
					   { NULL, "what ran", TAP_CELL_LABEL },
					   { 0 } };
static const struct tap_column tinted[] = {
	{ "comm", "comm", TAP_CELL_TEXT, .width = 5 },
	{ "lost", "lost", TAP_CELL_COUNT, .width = 4, .tint = TAP_TINT_RED },
	{ "pct", "%", TAP_CELL_REAL, .width = 4, .places = 1, .tint = TAP_TINT_YELLOW },
	{ 0 }
};

static const struct table_case {
	const char *name;
	const struct tap_style *style;
	const struct tap_column *columns;
	struct value rows[3][6];
	unsigned int nr_rows;
	const char *want;
	unsigned int width; /* of the terminal */
	bool color, stream;
} cases[] = {
	{ "names left, numbers right",
	  &tap_style_text,
	  name_count,
	  { { TEXT("cc1"), U64(7) }, { TEXT("make"), U64(1234567) } },
	  2,
	  "comm      count\ncc1           7\nmake    1234567\n" },
	{ "columns are as wide as what is in them",
	  &tap_style_text,
	  name_count,
	  { { TEXT("kworker/0:1"), U64(12345678) }, { TEXT("a"), U64(1) } },
	  2,
	  "comm            count\nkworker/0:1  12345678\na                   1\n" },
	{ "of rows that are printed as they come, what is too wide pushes",
	  &tap_style_text,
	  name_count,
	  { { TEXT("kworker/0:1"), U64(12345678) }, { TEXT("a"), U64(1) } },
	  2,
	  "comm      count\nkworker/0:1  12345678\na             1\n",
	  .stream = true },
	{ "a wide character is two columns, one that combines none",
	  &tap_style_text,
	  name_count,
	  { { TEXT("\xe6\x97\xa5\xe6\x9c\xac"), U64(1) }, { TEXT("e\xcc\x81"), U64(2) } },
	  2,
	  "comm      count\n\xe6\x97\xa5\xe6\x9c\xac          1\ne\xcc\x81             2\n" },
	{ "it fits",
	  &tap_style_text,
	  ranked,
	  { { TEXT("make"), S64(1), U64(7), U64(1500), S64(3), U64(500) } },
	  1,
	  "task   waits     max us    cpu     avg us\n"
	  "make       7      1.500      3      0.500\n",
	  41 },
	{ "columns shrink to what is in them",
	  &tap_style_text,
	  ranked,
	  { { TEXT("make"), S64(1), U64(7), U64(1500), S64(3), U64(500) } },
	  1,
	  "task  waits  max us  cpu  avg us\nmake      7   1.500    3   0.500\n",
	  32 },
	{ "the column that matters least goes",
	  &tap_style_text,
	  ranked,
	  { { TEXT("make"), S64(1), U64(7), U64(1500), S64(3), U64(500) } },
	  1,
	  "task  waits  max us  avg us\nmake      7   1.500   0.500\n"
	  "hidden: cpu; --wide\n",
	  31 },
	{ "and the next ones",
	  &tap_style_text,
	  ranked,
	  { { TEXT("make"), S64(1), U64(7), U64(1500), S64(3), U64(500) } },
	  1,
	  "task  max us\nmake   1.500\nhidden: waits,\n    cpu, avg us;\n    --wide\n",
	  18 },
	{ "what matters most stays; a text is cut",
	  &tap_style_text,
	  ranked,
	  { { TEXT("kworker/0:1H [1234]"), S64(1), U64(7), U64(1500), S64(3), U64(500) } },
	  1,
	  "task          max us\nkworker/0:1>   1.500\nhidden: waits,\n    cpu, avg us;\n"
	  "    --wide\n",
	  20 },
	{ "of a path the end stays",
	  &tap_style_text,
	  name_count,
	  { { TEXT("/user.slice/\xe6\x97\xa5/app.scope"), U64(1) } },
	  1,
	  "comm              count\n<ce/\xe6\x97\xa5/app.scope      1\n",
	  23 },
	{ "what is hidden is named once",
	  &tap_style_text,
	  twice,
	  { { U64(123456789), REAL(1), REAL(2) } },
	  1,
	  "        a\n123456789\nhidden: %;\n    --wide\n",
	  18 },
	{ "of rows that are printed as they come, it is said before",
	  &tap_style_text,
	  streamed,
	  { { U64(1500), TEXT("abcdefgh"), U64(1) } },
	  1,
	  "hidden: wait ms;\n    --wide\ncomm      count\nabcde>        1\n",
	  25,
	  .stream = true },
	{ "the last text goes on below itself",
	  &tap_style_text,
	  noted,
	  { { S64(1), TEXT("make [100] 1.000, cc1 [101] 2.000, ld [102] 3.000") } },
	  1,
	  "cpu  what ran\n  1  make [100] 1.000, cc1 [101] 2.000, ld\n     [102] 3.000\n",
	  46 },
	{ "or where there is no room, below the row",
	  &tap_style_text,
	  noted,
	  { { S64(1), TEXT("make [100] 1.000, cc1 [101] 2.000") }, { S64(2), TEXT("-") } },
	  2,
	  "cpu  what ran\n  1\n    make [100] 1.000, cc1\n    [101] 2.000\n  2  -\n",
	  26 },
	{ "JSON is as wide as it is",
	  &tap_style_json,
	  ranked,
	  { { TEXT("make"), S64(1), U64(7), U64(1500), S64(3), U64(500) } },
	  1,
	  "{\"rows\":[{\"tid\":1,\"waits\":7,\"max_ns\":1500,\"cpu\":3,\"avg_ns\":500}]}\n",
	  10 },
	{ "colours: the header, and what is not 0",
	  &tap_style_text,
	  tinted,
	  { { TEXT("make"), U64(3), REAL(0.5) }, { TEXT("cc1"), U64(0), REAL(0) } },
	  2,
	  "\033[1mcomm   lost     %\033[m\n"
	  "make\033[31m      3\033[m\033[33m   0.5\033[m\ncc1       0   0.0\n",
	  .color = true },
	{ "of rows that are printed as they come, durations are in ms",
	  &tap_style_text,
	  streamed,
	  { { U64(1500), TEXT("a"), U64(1) }, { U64(500000000000), TEXT("b"), U64(1) } },
	  2,
	  "  wait ms  comm      count\n    0.002  a             1\n500000.000  b             1\n",
	  .stream = true },
	{ "a character of several bytes is one column",
	  &tap_style_text,
	  name_count,
	  { { TEXT("\xc3\xa9t\xc3\xa9"), U64(1) } },
	  1,
	  "comm      count\n\xc3\xa9t\xc3\xa9           1\n" },
	{ "names are escaped",
	  &tap_style_text,
	  name_count,
	  { { TEXT("a\x1b"), U64(0) } },
	  1,
	  "comm      count\na\\x1B         0\n" },
	{ "labels are not escaped again",
	  &tap_style_text,
	  partly,
	  { { TEXT("a\\n"), S64(1), TEXT("a\\n") } },
	  1,
	  "task  what\na\\n   a\\\\n\n" },
	{ "units of text: the greatest is below 100000",
	  &tap_style_text,
	  numbers,
	  { { U64(100000000), U64(99999999), U64(100000000000), U64(12345678901), S64(-1),
	      REAL(12.34) },
	    { U64(499), U64(0), U64(499999), U64(0), S64(31), REAL(0) },
	    { U64(500), U64(9), U64(500000), U64(9), S64(10), REAL(100) } },
	  3,
	  "   run ms     max us    life s             at   cpu       %\n"
	  "  100.000  99999.999   100.000   12.345678901    -1    12.3\n"
	  "    0.000      0.000     0.000    0.000000000    31     0.0\n"
	  "    0.001      0.009     0.001    0.000000009    10   100.0\n" },
	{ "what is to be compared has one unit",
	  &tap_style_text,
	  compared,
	  { { U64(1500000), REAL(1), U64(200000000), U64(1500) } },
	  1,
	  "   avg ms    %     max ms     own us\n    1.500  1.0    200.000      1.500\n" },
	{ "unknown in text",
	  &tap_style_text,
	  numbers,
	  { { NONE, NONE, NONE, NONE, NONE, REAL(NAN) } },
	  1,
	  "   run us     max us   life us             at   cpu       %\n"
	  "        -          -         -              -     -       -\n" },
	{ "no blanks at the end, text columns only",
	  &tap_style_text,
	  partly,
	  { { TEXT("a"), S64(1), TEXT("x y") },
	    { NONE, NONE, TEXT("") },
	    { TEXT(""), NONE, TEXT("b") } },
	  3,
	  "task  what\na     x y\n-\n      b\n" },
	{ "the greatest numbers",
	  &tap_style_text,
	  numbers,
	  { { U64(UINT64_MAX), U64(UINT64_MAX), U64(UINT64_MAX), U64(UINT64_MAX), S64(INT64_MIN),
	      REAL(1e20) } },
	  1,
	  "          run s            max s           life s                     at                "
	  "   cpu                        %\n"
	  "18446744073.710  18446744073.710  18446744073.710  18446744073.709551615  "
	  "-9223372036854775808  100000000000000000000.0\n" },
	{ "JSON",
	  &tap_style_json,
	  numbers,
	  { { U64(1234567), U64(1), U64(2), U64(12345678901), S64(-1), REAL(12.34) },
	    { NONE, NONE, NONE, NONE, NONE, REAL(INFINITY) } },
	  2,
	  "{\"rows\":[{\"run_ns\":1234567,\"max_ns\":1,\"life_ns\":2,\"at_ns\":12345678901,\"cpu\":"
	  "-1,\"pct\":12.34},{\"run_ns\":null,\"max_ns\":null,\"life_ns\":null,\"at_ns\":null,"
	  "\"cpu\":null,\"pct\":null}]}\n" },
	{ "JSON without rows", &tap_style_json, numbers, {}, 0, "{\"rows\":[]}\n" },
	{ "JSON names, and its columns only",
	  &tap_style_json,
	  partly,
	  { { TEXT("no"), S64(5), TEXT("a\"\n") } },
	  1,
	  "{\"rows\":[{\"tid\":5,\"what\":\"a\\\"\\u000a\"}]}\n" },
	{ "JSON Lines, after the head",
	  &tap_style_json,
	  partly,
	  { { TEXT("no"), S64(5), TEXT("a") }, { NONE, S64(6), NONE } },
	  2,
	  "{}\n{\"tid\":5,\"what\":\"a\"}\n{\"tid\":6,\"what\":null}\n",
	  .stream = true },
	{ "CSV",
	  &tap_style_csv,
	  numbers,
	  { { U64(1234567), U64(1), U64(2), U64(12345678901), S64(-1), REAL(12.34) },
	    { NONE, NONE, NONE, NONE, NONE, REAL(NAN) } },
	  2,
	  "run_ns,max_ns,life_ns,at_ns,cpu,pct\n1234567,1,2,12345678901,-1,12.3\n,,,,,\n" },
	{ "CSV names, and its columns only",
	  &tap_style_csv,
	  partly,
	  { { TEXT("no"), S64(5), TEXT("a,\"b\"") }, { TEXT("no"), NONE, TEXT("") } },
	  2,
	  "tid,what\n5,\"a,\"\"b\"\"\"\n,\n" },
	{ "digits by twos",
	  &tap_style_csv,
	  name_count,
	  { { TEXT(""), U64(100) }, { TEXT(""), U64(9999) }, { TEXT(""), U64(10405) } },
	  3,
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
		struct tap_page r;
		struct tap_table t;

		tap_page_open(&r, c->stream && c->style->in_lines ? c->style->in_lines : c->style,
			      fd);
		r.columns = c->width;
		r.color = c->color;
		if (r.style->end_head)
			r.style->end_head(&r);
		if (c->stream)
			tap_table_stream(&t, &r, c->columns, "rows");
		else
			tap_table_begin(&t, &r, c->columns, "rows");
		for (unsigned int row = 0; row < c->nr_rows; row++) {
			for (unsigned int k = 0; c->columns[k].key || c->columns[k].title; k++)
				put(&t, &c->rows[row][k]);
			tap_table_row(&t);
		}
		tap_table_end(&t);
		assert_int_equal(tap_page_close(&r), 0);
		check_written(c->name, fd, c->want);
	}
}

/* All that a report has beside tables. */
static void write_members(struct tap_page *r)
{
	struct tap_table t;

	tap_page_u64(r, "a_ns", 1);
	tap_page_object(r, "all");
	tap_page_text(r, "x", "\"", 1);
	tap_page_array(r, "list");
	tap_page_object(r, NULL);
	tap_page_object_end(r);
	tap_page_object(r, NULL);
	tap_page_real(r, "y", 0.5);
	tap_page_real(r, "z", NAN);
	tap_page_object_end(r);
	tap_page_array_end(r);
	tap_page_object_end(r);
	tap_table_begin(&t, r, name_count, "rows");
	tap_table_text(&t, "c", 1);
	tap_table_u64(&t, 2);
	tap_table_row(&t);
	tap_table_end(&t);
	if (tap_page_is_for(r, TAP_FOR_PROGRAMS)) {
		tap_table_object(&t, r, name_count, "row");
		tap_table_none(&t);
		tap_table_u64(&t, 3);
		tap_table_row(&t);
		tap_table_end(&t);
	}
	tap_page_bool(r, "b", true);
}

static void test_members(void **state)
{
	static const struct {
		const struct tap_style *style;
		const char *want;
	} styles[] = {
		{ &tap_style_text, "comm      count\nc             2\n" },
		{ &tap_style_json, "{\"a_ns\":1,\"all\":{\"x\":\"\\\"\",\"list\":[{},{\"y\":0.5,"
				   "\"z\":null}]},\"rows\":[{\"comm\":\"c\",\"count\":2}],\"row\":{"
				   "\"comm\":null,\"count\":3},\"b\":true}\n" },
		{ &tap_style_csv, "comm,count\nc,2\n" },
	};

	(void)state;
	for (size_t i = 0; i < TABLE(styles); i++) {
		int fd = memfd_create("table", MFD_CLOEXEC);
		struct tap_page r;

		tap_page_open(&r, styles[i].style, fd);
		write_members(&r);
		assert_int_equal(tap_page_close(&r), 0);
		check_written("members", fd, styles[i].want);
	}
}

static void write_rows(struct tap_page *r, unsigned int nr)
{
	struct tap_table t;

	tap_table_stream(&t, r, name_count, "rows");
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
	struct tap_page r;

	(void)state;
	tap_page_open(&r, &tap_style_text, fd);
	write_rows(&r, 20000);
	assert_in_range(lseek(fd, 0, SEEK_END), 16 * 20001 - 65536, 16 * 20001 - 1);
	assert_true(lseek(fd, 0, SEEK_END) + (off_t)r.buf.len == 16 * 20001);
	assert_int_equal(tap_page_close(&r), 0);
	assert_int_equal(lseek(fd, 0, SEEK_END), 16 * 20001);
	close(fd);
}

static void test_write_error(void **state)
{
	int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
	struct tap_page r;

	(void)state;
	if (fd < 0)
		return skip_test("no /dev/full");
	tap_page_open(&r, &tap_style_text, fd);
	write_rows(&r, 10000);
	assert_int_equal(r.err, -ENOSPC);
	assert_true(r.buf.len < 65536); /* what cannot be written does not pile up */
	close(fd);
	r.fd = fd = memfd_create("table", MFD_CLOEXEC);
	write_rows(&r, 10000);
	assert_int_equal(tap_page_close(&r), -ENOSPC);
	check_written("nothing follows an error", fd, "");
}

static void test_too_much(void **state)
{
	int fd = memfd_create("table", MFD_CLOEXEC);
	struct tap_page r;
	struct tap_table t;

	(void)state;
	tap_page_open(&r, &tap_style_text, fd);
	tap_table_begin(&t, &r, name_count, "rows");
	t.texts.max = 4;
	tap_table_text(&t, "abcdefgh", 8);
	tap_table_u64(&t, 1);
	tap_table_row(&t);
	tap_table_end(&t);
	assert_int_equal(tap_page_close(&r), -EFBIG);
	check_written("nothing of what could not be kept", fd, "");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cells),	 cmocka_unit_test(test_members),
		cmocka_unit_test(test_blocks),	 cmocka_unit_test(test_write_error),
		cmocka_unit_test(test_too_much),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("table", tests, NULL, NULL);
}
