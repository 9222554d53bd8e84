// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/buf.h"
#include "event/format.h"
#include "skip_test.h"

#define TABLE(t) (sizeof(t) / sizeof((t)[0]))
#define check(name, cond)                                                                          \
	do {                                                                                       \
		if (!(cond))                                                                       \
			fail_msg("%s: %s", name, #cond);                                           \
	} while (0)

#define HEAD "name: e\nID: 7\nformat:\n"
#define COMMON                                                                                     \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"                     \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"

static const struct tap_abi le64 = { false, 8 }, be64 = { true, 8 }, le32 = { false, 4 },
			    be32 = { true, 4 };

/* Parse a copy of the exact size, so that ASan sees reads past its end. */
static int parse(const char *text, size_t len, struct tap_abi abi, struct tap_format **fmt,
		 struct tap_err *err)
{
	char *copy = malloc(len ? len : 1);
	int ret;

	assert_non_null(copy);
	memcpy(copy, text, len);
	ret = tap_format_parse("sys", copy, len, abi, fmt, err);
	free(copy);
	return ret;
}

static void test_fields(void **state)
{
	static const struct {
		const char *name, *line;
		struct tap_abi abi;
		struct tap_field want;
	} cases[] = {
		{ "a number",
		  "\tfield:pid_t pid;\toffset:8;\tsize:4;\tsigned:1;\n",
		  { false, 8 },
		  { "pid", "pid_t", TAP_FIELD_NUMBER, 8, 4, 4, true } },
		{ "a type of several words",
		  "\tfield:unsigned long long x;\toffset:8;\tsize:8;\tsigned:0;\n",
		  { false, 8 },
		  { "x", "unsigned long long", TAP_FIELD_NUMBER, 8, 8, 8 } },
		{ "a pointer",
		  "\tfield:unsigned char * p;\toffset:8;\tsize:8;\tsigned:0;\n",
		  { false, 8 },
		  { "p", "unsigned char *", TAP_FIELD_NUMBER, 8, 8, 8 } },
		{ "a star that touches the name",
		  "\tfield:const void *p;\toffset:8;\tsize:4;\tsigned:0;\n",
		  { false, 4 },
		  { "p", "const void *", TAP_FIELD_NUMBER, 8, 4, 4 } },
		{ "text of fixed size",
		  "\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n",
		  { false, 8 },
		  { "comm", "char", TAP_FIELD_CHARS, 8, 16, 1 } },
		{ "text whose size is a macro's name",
		  "\tfield:char comm[TASK_COMM_LEN];\toffset:8;\tsize:16;\tsigned:1;\n",
		  { false, 8 },
		  { "comm", "char", TAP_FIELD_CHARS, 8, 16, 1, true } },
		{ "bytes are no text",
		  "\tfield:u8 x[8];\toffset:8;\tsize:8;\tsigned:0;\n",
		  { false, 8 },
		  { "x", "u8", TAP_FIELD_ARRAY, 8, 8, 1 } },
		{ "an array of longs, 32 bits",
		  "\tfield:unsigned long a[];\toffset:8;\tsize:0;\tsigned:0;\n",
		  { false, 4 },
		  { "a", "unsigned long", TAP_FIELD_ARRAY, 8, 0, 4 } },
		{ "an array of something unknown is divided by its count",
		  "\tfield:struct foo a[3];\toffset:8;\tsize:36;\tsigned:0;\n",
		  { false, 8 },
		  { "a", "struct foo", TAP_FIELD_ARRAY, 8, 36, 12 } },
		{ "a struct is bytes",
		  "\tfield:struct foo s;\toffset:8;\tsize:28;\tsigned:0;\n",
		  { false, 8 },
		  { "s", "struct foo", TAP_FIELD_ARRAY, 8, 28, 1 } },
		{ "one of a number's size is no number",
		  "\tfield:const union foo s;\toffset:8;\tsize:8;\tsigned:0;\n",
		  { false, 8 },
		  { "s", "const union foo", TAP_FIELD_ARRAY, 8, 8, 1 } },
		{ "a struct's address is",
		  "\tfield:struct foo *s;\toffset:8;\tsize:8;\tsigned:0;\n",
		  { false, 8 },
		  { "s", "struct foo *", TAP_FIELD_NUMBER, 8, 8, 8 } },
		{ "text elsewhere",
		  "\tfield:__data_loc char[] s;\toffset:8;\tsize:4;\tsigned:0;\n",
		  { false, 8 },
		  { "s", "__data_loc char[]", TAP_FIELD_STRING, 8, 4, 1 } },
		{ "text elsewhere, relative",
		  "\tfield:__rel_loc char[] s;\toffset:8;\tsize:4;\tsigned:0;\n",
		  { false, 8 },
		  { "s", "__rel_loc char[]", TAP_FIELD_STRING, 8, 4, 1, false, true } },
		{ "numbers elsewhere",
		  "\tfield:__data_loc u64[] n;\toffset:8;\tsize:4;\tsigned:0;\n",
		  { false, 8 },
		  { "n", "__data_loc u64[]", TAP_FIELD_DYNAMIC, 8, 4, 8 } },
		{ "a mask elsewhere",
		  "\tfield:__data_loc cpumask_t m;\toffset:8;\tsize:4;\tsigned:0;\n",
		  { false, 4 },
		  { "m", "__data_loc cpumask_t", TAP_FIELD_DYNAMIC, 8, 4, 4 } },
		{ "an old special field",
		  "\tfield special:char buf[];\toffset:8;\tsize:0;\tsigned:0;\n",
		  { false, 8 },
		  { "buf", "char", TAP_FIELD_CHARS, 8, 0, 1 } },
		{ "blanks as in header_page",
		  "  \tfield: local_t commit;\toffset:8;  size:8; signed:1;\n",
		  { false, 8 },
		  { "commit", "local_t", TAP_FIELD_NUMBER, 8, 8, 8, true } },
		{ "without signed the type says it",
		  "\tfield:s32 x;\toffset:8;\tsize:4;\n",
		  { false, 8 },
		  { "x", "s32", TAP_FIELD_NUMBER, 8, 4, 4, true } },
		{ "a double",
		  "\tfield:double x;\toffset:8;\tsize:8;\tsigned:1;\n",
		  { false, 8 },
		  { "x", "double", TAP_FIELD_REAL, 8, 8, 8, true, .is_real = true } },
		{ "a float",
		  "\tfield:const float x;\toffset:8;\tsize:4;\tsigned:1;\n",
		  { false, 8 },
		  { "x", "const float", TAP_FIELD_REAL, 8, 4, 4, true, .is_real = true } },
		{ "an array of doubles",
		  "\tfield:double x[2];\toffset:8;\tsize:16;\tsigned:1;\n",
		  { false, 8 },
		  { "x", "double", TAP_FIELD_ARRAY, 8, 16, 8, true, .is_real = true } },
		{ "floats elsewhere",
		  "\tfield:__data_loc float[] x;\toffset:8;\tsize:4;\tsigned:1;\n",
		  { false, 8 },
		  { "x", "__data_loc float[]", TAP_FIELD_DYNAMIC, 8, 4, 4, true,
		    .is_real = true } },
		{ "a pointer to a double is an address",
		  "\tfield:double * x;\toffset:8;\tsize:8;\tsigned:0;\n",
		  { false, 8 },
		  { "x", "double *", TAP_FIELD_NUMBER, 8, 8, 8 } },
		{ "a double of another size is none",
		  "\tfield:double x;\toffset:8;\tsize:4;\tsigned:1;\n",
		  { false, 8 },
		  { "x", "double", TAP_FIELD_NUMBER, 8, 4, 4, true } },
		{ "a long double is bytes",
		  "\tfield:long double x;\toffset:16;\tsize:16;\tsigned:1;\n",
		  { false, 8 },
		  { "x", "long double", TAP_FIELD_ARRAY, 16, 16, 16, true } },
		{ "big endian is swapped",
		  "\tfield:int x;\toffset:8;\tsize:4;\tsigned:1;\n",
		  { true, 8 },
		  { "x", "int", TAP_FIELD_NUMBER, 8, 4, 4, true, false, true } },
	};

	(void)state;
	for (size_t i = 0; i < TABLE(cases); i++) {
		const struct tap_field *w = &cases[i].want, *f;
		struct tap_err err = { 0 };
		struct tap_format *fmt;
		char text[1024];

		snprintf(text, sizeof(text), HEAD COMMON "%s\nprint fmt: \"\"\n", cases[i].line);
		if (parse(text, strlen(text), cases[i].abi, &fmt, &err))
			fail_msg("%s: %s", cases[i].name, err.text);
		f = tap_format_field(fmt, w->name);
		check(cases[i].name, fmt->id == 7 && fmt->nr_fields == 3 && fmt->nr_common == 2);
		check(cases[i].name, f && !strcmp(f->type, w->type) && f->kind == w->kind);
		check(cases[i].name, f->offset == w->offset && f->size == w->size);
		check(cases[i].name, f->elem_size == w->elem_size && f->is_signed == w->is_signed);
		check(cases[i].name, f->is_real == w->is_real);
		check(cases[i].name, f->is_rel == w->is_rel && f->swap == w->swap && !f->absent);
		check(cases[i].name, fmt->min_size == w->offset + w->size);
		check(cases[i].name, !strcmp(fmt->text, text) && !strcmp(fmt->print_fmt, "\"\""));
		check(cases[i].name, !strcmp(fmt->system, "sys") && !strcmp(fmt->name, "e"));
		check(cases[i].name, !tap_format_field(fmt, "no_such"));
		tap_format_free(fmt);
	}
}

static void test_bad_texts(void **state)
{
	static const struct {
		const char *name, *text;
	} cases[] = {
		{ "nothing", "" },
		{ "no name", "ID: 7\nformat:\n" COMMON },
		{ "an empty name", "name:\nID: 7\nformat:\n" COMMON },
		{ "no ID", "name: e\nformat:\n" COMMON },
		{ "an ID that is no number", "name: e\nID: x\nformat:\n" },
		{ "an ID above 16 bits", "name: e\nID: 65536\nformat:\n" },
		{ "an ID that overflows", "name: e\nID: 99999999999999999999\nformat:\n" },
		{ "a line of something else", HEAD "hello\n" },
		{ "a field without a name", HEAD "\tfield:int;\toffset:0;\tsize:4;\tsigned:0;\n" },
		{ "a field that is only brackets", HEAD "\tfield:[];\toffset:0;\tsize:4;\n" },
		{ "a field that opens no bracket", HEAD "\tfield:int x];\toffset:0;\tsize:4;\n" },
		{ "a field without an end", HEAD "\tfield:int x" },
		{ "a field without an offset", HEAD "\tfield:int x;\tsize:4;\tsigned:0;\n" },
		{ "a field without a size", HEAD "\tfield:int x;\toffset:4;\tsigned:0;\n" },
		{ "a size without an end", HEAD "\tfield:int x;\toffset:4;\tsize:4\n" },
		{ "a negative offset", HEAD "\tfield:int x;\toffset:-4;\tsize:4;\n" },
		{ "a field beyond every record",
		  HEAD "\tfield:int x;\toffset:4294967295;\tsize:4;\n" },
		{ "a location of 8 bytes",
		  HEAD "\tfield:__data_loc char[] x;\toffset:8;\tsize:8;\n" },
	};

	(void)state;
	for (size_t i = 0; i < TABLE(cases); i++) {
		struct tap_format *fmt = (void *)1;
		struct tap_err err = { 0 };
		int ret = parse(cases[i].text, strlen(cases[i].text), le64, &fmt, &err);

		check(cases[i].name, ret == -EINVAL && !fmt);
		check(cases[i].name, err.code == -EINVAL && strstr(err.text, "line "));
	}
}

static void test_bounds(void **state)
{
	struct tap_buf b = { 0 };
	struct tap_format *fmt;

	(void)state;
	tap_buf_puts(&b, HEAD);
	for (unsigned int i = 0; i < TAP_FORMAT_MAX_FIELDS; i++)
		tap_buf_printf(&b, "\tfield:int x%u;\toffset:8;\tsize:4;\n", i);
	assert_int_equal(parse(b.data, b.len, le64, &fmt, NULL), 0);
	assert_int_equal(fmt->nr_fields, TAP_FORMAT_MAX_FIELDS);
	tap_format_free(fmt);
	tap_buf_puts(&b, "\tfield:int y;\toffset:8;\tsize:4;\n");
	assert_int_equal(parse(b.data, b.len, le64, &fmt, NULL), -E2BIG);
	assert_null(fmt);
	tap_buf_clear(&b);
	tap_buf_puts(&b, HEAD);
	while (b.len < TAP_FORMAT_MAX_BYTES)
		tap_buf_char(&b, '\n');
	assert_int_equal(parse(b.data, b.len, le64, &fmt, NULL), 0);
	tap_format_free(fmt);
	tap_buf_char(&b, '\n');
	assert_int_equal(parse(b.data, b.len, le64, &fmt, NULL), -E2BIG);
	assert_int_equal(parse("name: e\0\nID: 7\n", 15, le64, &fmt, NULL), -EINVAL);
	assert_int_equal(parse(HEAD, strlen(HEAD), (struct tap_abi){ false, 2 }, &fmt, NULL),
			 -EINVAL);
	tap_buf_release(&b);
}

/* Whatever a text is cut to, or whatever letter in it is another: an error, or a format. */
static void test_damaged_texts(void **state)
{
	static const char text[] =
		HEAD COMMON "\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
			    "\tfield:__data_loc char[] s;\toffset:24;\tsize:4;\tsigned:0;\n\nprint "
			    "fmt: \"%s\", x\n";
	static const char others[] = { '[', ']', ';', ':', '\n', ' ', '9', 'x', '\xff' };
	unsigned int formats = 0, errors = 0;
	struct tap_format *fmt;

	(void)state;
	for (size_t i = 0; i < sizeof(text) - 1; i++) {
		parse(text, i, le64, &fmt, NULL) ? errors++ : formats++;
		tap_format_free(fmt);
		for (size_t j = 0; j < sizeof(others); j++) {
			char copy[sizeof(text)];

			memcpy(copy, text, sizeof(text));
			copy[i] = others[j];
			parse(copy, sizeof(text) - 1, be32, &fmt, NULL) ? errors++ : formats++;
			tap_format_free(fmt);
		}
	}
	assert_true(errors > 100 && formats > 100);
}

static void test_numbers(void **state)
{
	static const unsigned char rec[12] = { [4] = 0x80, 1, 2, 3, 4, 5, 6, 0x87 };
	static const struct {
		const char *name;
		uint32_t size, rec_size;
		bool is_signed, swap;
		uint64_t want;
	} cases[] = {
		{ "a byte", 1, 12, false, false, 0x80 },
		{ "a signed byte", 1, 12, true, true, -128ull },
		{ "two bytes", 2, 12, false, false, 0x0180 },
		{ "two bytes swapped", 2, 12, false, true, 0x8001 },
		{ "two signed bytes swapped", 2, 12, true, true, 0xffffffffffff8001 },
		{ "four bytes", 4, 12, true, false, 0x03020180 },
		{ "four bytes swapped", 4, 12, false, true, 0x80010203 },
		{ "four signed bytes swapped", 4, 12, true, true, 0xffffffff80010203 },
		{ "eight bytes", 8, 12, false, false, 0x8706050403020180 },
		{ "eight bytes swapped", 8, 12, true, true, 0x8001020304050687 },
		{ "a cut record gives 0", 8, 11, false, false, 0 },
		{ "a record that ends before gives 0", 1, 4, false, false, 0 },
		{ "three bytes are no number", 3, 12, false, false, 0 },
	};

	(void)state;
	for (size_t i = 0; i < TABLE(cases); i++) {
		struct tap_field f = { .offset = 4,
				       .size = cases[i].size,
				       .is_signed = cases[i].is_signed,
				       .swap = cases[i].swap };
		uint64_t v = tap_field_u64(&f, rec, cases[i].rec_size);

		if (v != cases[i].want)
			fail_msg("%s: got %#lx, want %#lx", cases[i].name, v, cases[i].want);
	}
}

static void test_reals(void **state)
{
	static const unsigned char rec[12] = { [4] = 0x40, 0x0a, 0, 0, 0, 0, 0, 0 };
	static const unsigned char little[12] = { [10] = 0x04, [11] = 0xc0 };
	static const unsigned char little_float[8] = { [6] = 0x20, [7] = 0xc0 };
	const bool swap = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
	const struct {
		const char *name;
		const unsigned char *rec;
		uint32_t size, rec_size;
		bool swap;
		double want;
	} cases[] = {
		{ "a big-endian double", rec, 8, 12, swap, 3.25 },
		{ "a big-endian float", rec, 4, 12, swap, 2.15625 },
		{ "a little-endian double", little, 8, 12, !swap, -2.5 },
		{ "a little-endian float", little_float, 4, 8, !swap, -2.5 },
		{ "a cut record gives 0", rec, 8, 11, swap, 0 },
	};

	(void)state;
	for (size_t i = 0; i < TABLE(cases); i++) {
		struct tap_field f = { .offset = 4,
				       .size = cases[i].size,
				       .is_signed = true,
				       .is_real = true,
				       .kind = TAP_FIELD_REAL,
				       .swap = cases[i].swap };
		double v = tap_field_real(&f, cases[i].rec, cases[i].rec_size);

		if (v < cases[i].want || v > cases[i].want)
			fail_msg("%s: got %g, want %g", cases[i].name, v, cases[i].want);
	}
}

static void test_bytes(void **state)
{
	/* at 8: a location word; at 12: "abc\0def" and no NUL */
	static const struct {
		const char *name;
		struct tap_field f;
		uint32_t loc, rec_size;
		const char *want;
		uint32_t len;
	} cases[] = {
		{ "text ends at its NUL",
		  { .kind = TAP_FIELD_CHARS, .offset = 12, .size = 7 },
		  0,
		  19,
		  "abc",
		  3 },
		{ "text without NUL ends with the field",
		  { .kind = TAP_FIELD_CHARS, .offset = 16, .size = 3 },
		  0,
		  19,
		  "def",
		  3 },
		{ "no size: to the record's end",
		  { .kind = TAP_FIELD_CHARS, .offset = 16 },
		  0,
		  18,
		  "de",
		  2 },
		{ "an array keeps its NULs",
		  { .kind = TAP_FIELD_ARRAY, .offset = 12, .size = 7 },
		  0,
		  19,
		  "abc\0def",
		  7 },
		{ "a cut array is shorter",
		  { .kind = TAP_FIELD_ARRAY, .offset = 12, .size = 7 },
		  0,
		  14,
		  "ab",
		  2 },
		{ "an array beyond the record",
		  { .kind = TAP_FIELD_ARRAY, .offset = 20, .size = 7 },
		  0,
		  19,
		  "",
		  0 },
		{ "a location",
		  { .kind = TAP_FIELD_STRING, .offset = 8, .size = 4 },
		  4 << 16 | 12,
		  19,
		  "abc",
		  3 },
		{ "a relative location",
		  { .kind = TAP_FIELD_STRING, .offset = 8, .size = 4, .is_rel = true },
		  3 << 16 | 4,
		  19,
		  "def",
		  3 },
		{ "a location of the other byte order",
		  { .kind = TAP_FIELD_STRING, .offset = 8, .size = 4, .swap = true },
		  0x0c000300,
		  19,
		  "abc",
		  3 },
		{ "numbers keep their NULs",
		  { .kind = TAP_FIELD_DYNAMIC, .offset = 8, .size = 4 },
		  7 << 16 | 12,
		  19,
		  "abc\0def",
		  7 },
		{ "a location one byte too long",
		  { .kind = TAP_FIELD_STRING, .offset = 8, .size = 4 },
		  8 << 16 | 12,
		  19,
		  "",
		  0 },
		{ "a location far beyond the record",
		  { .kind = TAP_FIELD_DYNAMIC, .offset = 8, .size = 4 },
		  ~0u,
		  19,
		  "",
		  0 },
		{ "a relative location far beyond the record",
		  { .kind = TAP_FIELD_DYNAMIC, .offset = 8, .size = 4, .is_rel = true },
		  ~0u,
		  19,
		  "",
		  0 },
		{ "a location that is cut itself",
		  { .kind = TAP_FIELD_STRING, .offset = 8, .size = 4 },
		  4 << 16 | 12,
		  11,
		  "",
		  0 },
	};

	(void)state;
	for (size_t i = 0; i < TABLE(cases); i++) {
		uint32_t size = cases[i].rec_size, len = 99;
		unsigned char all[19] = "", *rec = malloc(size);
		const char *s;

		assert_non_null(rec);
		memcpy(all + 8, &cases[i].loc, 4);
		memcpy(all + 12, "abc\0def", 7);
		memcpy(rec, all, size);
		s = tap_field_bytes(&cases[i].f, rec, size, &len);
		check(cases[i].name, len == cases[i].len && !memcmp(s, cases[i].want, len));
		free(rec);
	}
}

static void test_types(void **state)
{
	static const struct {
		const char *type;
		uint8_t size, size32; /* 0: not known */
		bool is_signed;
	} cases[] = {
		{ "int", 4, 4, true },
		{ "unsigned", 4, 4, false },
		{ "unsigned int", 4, 4, false },
		{ "long", 8, 4, true },
		{ "unsigned long", 8, 4, false },
		{ "long unsigned int", 8, 4, false },
		{ "long long", 8, 8, true },
		{ "unsigned long long int", 8, 8, false },
		{ "short", 2, 2, true },
		{ "unsigned char", 1, 1, false },
		{ "const u16", 2, 2, false },
		{ "s64", 8, 8, true },
		{ "size_t", 8, 4, false },
		{ "gfp_t", 4, 4, false },
		{ "struct rq *", 8, 4, false },
		{ "enum hrtimer_mode", 4, 4, true },
		{ "struct rq", 0, 0, false },
		{ "blah_t", 0, 0, false },
		{ "", 0, 0, false },
	};

	(void)state;
	for (size_t i = 0; i < TABLE(cases); i++) {
		const char *s = cases[i].type;
		struct tap_ctype t64 = { 0 }, t32 = { 0 };
		bool known = tap_ctype_find(s, strlen(s), le64, &t64);

		check(s, known == (cases[i].size != 0));
		check(s, known == tap_ctype_find(s, strlen(s), le32, &t32));
		if (!known)
			continue;
		check(s, t64.size == cases[i].size && t32.size == cases[i].size32);
		check(s, t64.is_signed == cases[i].is_signed);
	}
}

static void test_ftrace_stack_may_be_short(void **state)
{
	static const char text[] =
		HEAD COMMON "\tfield:int size;\toffset:8;\tsize:4;\tsigned:1;\n"
			    "\tfield:unsigned long caller[8];\toffset:16;\tsize:64;\tsigned:0;\n";
	struct tap_format *fmt;

	(void)state;
	assert_int_equal(tap_format_parse("ftrace", text, strlen(text), be64, &fmt, NULL), 0);
	assert_int_equal(fmt->min_size, 16);
	tap_format_free(fmt);
	assert_int_equal(tap_format_parse("other", text, strlen(text), be64, &fmt, NULL), 0);
	assert_int_equal(fmt->min_size, 80);
	tap_format_free(fmt);
}

static void test_this_kernel(void **state)
{
	static const char pattern[] = "/sys/kernel/tracing/events/*/*/format";
	glob_t g = { 0 };

	(void)state;
	if (glob(pattern, 0, NULL, &g) || access(g.gl_pathv[0], R_OK)) {
		globfree(&g);
		return skip_test("no event formats in /sys/kernel/tracing: needs root");
	}
	for (size_t i = 0; i < g.gl_pathc; i++) {
		struct tap_err err = { 0 };
		struct tap_buf b = { 0 };
		struct tap_format *fmt;

		if (!tap_buf_read_file(&b, g.gl_pathv[i]) && parse(b.data, b.len, le64, &fmt, &err))
			fail_msg("%s: %s", g.gl_pathv[i], err.text);
		else if (b.len)
			check(g.gl_pathv[i], fmt->nr_common == 4 && *fmt->print_fmt);
		if (b.len)
			tap_format_free(fmt);
		tap_buf_release(&b);
	}
	globfree(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fields),
		cmocka_unit_test(test_bad_texts),
		cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_damaged_texts),
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_reals),
		cmocka_unit_test(test_bytes),
		cmocka_unit_test(test_types),
		cmocka_unit_test(test_ftrace_stack_may_be_short),
		cmocka_unit_test(test_this_kernel),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
