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
#include <traceevent/event-parse.h>
#include <traceevent/trace-seq.h>
#include <unistd.h>

#include "event/print/print.h"
#include "event/print/prog.h"
#include "skip_test.h"

#define TABLE(t) (sizeof(t) / sizeof((t)[0]))

enum way {
	COMPILED,
	PAIRS,
};

enum abi {
	LE64,
	BE64,
	LE32,
	BE32,
};

static const struct tap_abi abis[] = { { false, 8 }, { true, 8 }, { false, 4 }, { true, 4 } };

/* The record of the tables below: the values that its fields have on every machine. */
#define COMMON_FIELDS                                                                              \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"                     \
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"                     \
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"             \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"

static const char layout[] =
	"name: e\nID: 77\nformat:\n" COMMON_FIELDS "\tfield:s8 a;\toffset:8;\tsize:1;\tsigned:1;\n"
	"\tfield:u8 b;\toffset:9;\tsize:1;\tsigned:0;\n"
	"\tfield:s16 c;\toffset:10;\tsize:2;\tsigned:1;\n"
	"\tfield:u32 d;\toffset:12;\tsize:4;\tsigned:0;\n"
	"\tfield:foo_t e;\toffset:16;\tsize:4;\tsigned:1;\n"
	"\tfield:u64 g;\toffset:24;\tsize:8;\tsigned:0;\n"
	"\tfield:s64 h;\toffset:32;\tsize:8;\tsigned:1;\n"
	"\tfield:char comm[16];\toffset:40;\tsize:16;\tsigned:0;\n"
	"\tfield:u8 x[8];\toffset:56;\tsize:8;\tsigned:0;\n"
	"\tfield:u16 y[4];\toffset:64;\tsize:8;\tsigned:0;\n"
	"\tfield:__data_loc char[] str;\toffset:72;\tsize:4;\tsigned:0;\n"
	"\tfield:__rel_loc char[] rel;\toffset:76;\tsize:4;\tsigned:0;\n"
	"\tfield:__data_loc u32[] nums;\toffset:80;\tsize:4;\tsigned:0;\n"
	"\tfield:__data_loc cpumask_t mask;\toffset:84;\tsize:4;\tsigned:0;\n"
	"\tfield:char s5[5];\toffset:88;\tsize:5;\tsigned:0;\n"
	"\tfield:u8 uuid[16];\toffset:96;\tsize:16;\tsigned:0;\n"
	"\tfield:u8 v4[28];\toffset:112;\tsize:28;\tsigned:0;\n"
	"\tfield:u8 v6[28];\toffset:140;\tsize:28;\tsigned:0;\n"
	"\tfield:const char * p;\toffset:168;\tsize:8;\tsigned:0;\n"
	"\tfield:u8 cut[8];\toffset:176;\tsize:8;\tsigned:0;\n"
	"\tfield:float f;\toffset:228;\tsize:4;\tsigned:1;\n"
	"\tfield:double q;\toffset:232;\tsize:8;\tsigned:1;\n"
	"\tfield:double r[2];\toffset:240;\tsize:16;\tsigned:1;\n"
	"\tfield:__data_loc float[] t;\toffset:256;\tsize:4;\tsigned:1;\n"
	"\nprint fmt: ";

enum { STR = 184, REL = 192, NUMS = 200, MASK = 212, FLOATS = 260, RECORD = 268 };

static void put(unsigned char *rec, struct tap_abi abi, uint32_t at, uint32_t size, uint64_t v)
{
	for (uint32_t i = 0; i < size; i++)
		rec[at + i] = (unsigned char)(v >> 8 * (abi.big_endian ? size - 1 - i : i));
}

static void put_float(unsigned char *rec, struct tap_abi abi, uint32_t at, float v)
{
	uint32_t bits;

	memcpy(&bits, &v, sizeof(bits));
	put(rec, abi, at, sizeof(bits), bits);
}

static void put_double(unsigned char *rec, struct tap_abi abi, uint32_t at, double v)
{
	uint64_t bits;

	memcpy(&bits, &v, sizeof(bits));
	put(rec, abi, at, sizeof(bits), bits);
}

static void fill(unsigned char *rec, struct tap_abi abi)
{
	memset(rec, 0, RECORD);
	put(rec, abi, 0, 2, 77);
	put(rec, abi, 4, 4, 4242);
	put(rec, abi, 8, 1, -7ull);
	put(rec, abi, 9, 1, 200);
	put(rec, abi, 10, 2, -300ull);
	put(rec, abi, 12, 4, 4000000000u);
	put(rec, abi, 16, 4, -5ull);
	put(rec, abi, 24, 8, 12345678901234567890ull);
	put(rec, abi, 32, 8, -9000000000000000000ll);
	memcpy(rec + 40, "swapper/0", 9);
	memcpy(rec + 56, "\x00\x01\x02\xab\xcd\xef\x10\xff", 8);
	for (uint32_t i = 0; i < 4; i++)
		put(rec, abi, 64 + 2 * i, 2, 0x1111 * (i + 1));
	put(rec, abi, 72, 4, 6 << 16 | STR);
	put(rec, abi, 76, 4, 4 << 16 | (REL - 80));
	put(rec, abi, 80, 4, 12 << 16 | NUMS);
	put(rec, abi, 84, 4, 16 << 16 | MASK);
	memcpy(rec + 88, "abcde", 5);
	for (uint32_t i = 0; i < 16; i++)
		rec[96 + i] = (unsigned char)(0x10 + i);
	put(rec, abi, 112, 2, 2);
	memcpy(rec + 114, "\x00\x50\x0a\x00\x00\x01", 6);
	put(rec, abi, 140, 2, 10);
	memcpy(rec + 142, "\x01\xbb", 2);
	memcpy(rec + 148, "\x20\x01\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\x01", 16);
	put(rec, abi, 168, 8, 0xffffffff81000000);
	put(rec, abi, 176, 2, 10);
	memcpy(rec + STR, "hello", 6);
	memcpy(rec + REL, "rel", 4);
	for (uint32_t i = 0; i < 3; i++)
		put(rec, abi, NUMS + 4 * i, 4, 0xa0 + i);
	put(rec, abi, MASK, abi.long_size, 0x0f); /* CPUs 0-3 */
	put(rec, abi, MASK + 8, abi.long_size, 0x80000001);
	put_float(rec, abi, 228, 0.1f);
	put_double(rec, abi, 232, -1234.5678);
	put_double(rec, abi, 240, 0.1);
	put_double(rec, abi, 248, 1e300);
	put(rec, abi, 256, 4, 8 << 16 | FLOATS);
	put_float(rec, abi, FLOATS, -0.25f);
	put_float(rec, abi, FLOATS + 4, 3);
}

static struct tap_printer *make(const char *name, const char *text, struct tap_abi abi,
				enum way want, struct tap_format **fmt)
{
	struct tap_err err = { 0 };
	struct tap_printer *p;
	struct print_prog prog;
	enum way way;

	if (tap_format_parse("sys", text, strlen(text), abi, fmt, &err))
		fail_msg("%s: %s", name, err.text);
	assert_int_equal(tap_printer_new(*fmt, &p, &err), 0);
	way = tap_print_compile(*fmt, &prog) ? PAIRS : COMPILED;
	if (way == COMPILED)
		tap_print_prog_release(&prog);
	if (way != want)
		fail_msg("%s: printed in way %d, not %d", name, way, want);
	return p;
}

/* Print a copy of the record's exact size, so that ASan sees reads past its end. */
static void run(const struct tap_printer *p, const void *rec, uint32_t size, struct tap_buf *out)
{
	unsigned char *copy = malloc(size);

	assert_non_null(copy);
	memcpy(copy, rec, size);
	tap_buf_clear(out);
	tap_printer_run(p, copy, size, out);
	free(copy);
}

/* Any bytes at all, in a record of any size: nothing may be read outside of it. */
static void print_garbage(const struct tap_format *fmt, const struct tap_printer *p)
{
	struct tap_buf out = { .max = 1 << 20 };
	unsigned char rec[4096];

	for (unsigned int i = 0; i < 4; i++) {
		uint32_t size = fmt->min_size + (uint32_t)random() % 32;

		for (uint32_t j = 0; j < size; j++)
			rec[j] = i == 3 ? 0xff : (unsigned char)random();
		run(p, rec, size, &out);
	}
	tap_buf_release(&out);
}

struct print_case {
	const char *name, *fmt, *want;
	enum abi abi;
	enum way way;
};

static void run_cases(const struct print_case *c, size_t nr)
{
	for (; nr; c++, nr--) {
		struct tap_buf text = { 0 }, out = { 0 };
		unsigned char rec[RECORD];
		struct tap_format *fmt;
		struct tap_printer *p;

		tap_buf_printf(&text, "%s%s\n", layout, c->fmt);
		fill(rec, abis[c->abi]);
		p = make(c->name, tap_buf_str(&text), abis[c->abi], c->way, &fmt);
		run(p, rec, RECORD, &out);
		if (strcmp(tap_buf_str(&out), c->want))
			fail_msg("%s: got <%s>, want <%s>", c->name, out.data, c->want);
		print_garbage(fmt, p);
		tap_printer_free(p);
		tap_format_free(fmt);
		tap_buf_release(&text);
		tap_buf_release(&out);
	}
}

static void test_numbers(void **state)
{
	static const struct print_case cases[] = {
		{ "no argument", "\"just text\"", "just text" },
		{ "no argument, as the kernel writes it", "\"100%% text\", ", "100% text" },
		{ "adjacent literals are one", "\"a\" \"b\"\n\t\"c\"", "abc" },
		{ "escapes", "\"a\\tb\\n\\\"q\\\\ \\x41\\101\"", "a\tb\n\"q\\ AA" },
		{ "two percent signs are one", "\"100%%%d%%\", REC->b", "100%200%" },
		{ "a literal longer than any piece",
		  "\"0123456789abcdef0123456789abcdef0123456789%u\", REC->b",
		  "0123456789abcdef0123456789abcdef0123456789200" },
		{ "all widths",
		  "\"%d %d %d %u %d %llu %lld\", REC->a, REC->b, REC->c, REC->d, REC->e, REC->g, "
		  "REC->h",
		  "-7 200 -300 4000000000 -5 12345678901234567890 -9000000000000000000" },
		{ "all widths, big endian",
		  "\"%d %d %d %u %d %llu %lld\", REC->a, REC->b, REC->c, REC->d, REC->e, REC->g, "
		  "REC->h",
		  "-7 200 -300 4000000000 -5 12345678901234567890 -9000000000000000000", BE64 },
		{ "%d of a 64-bit value is cut to an int", "\"%d %u\", REC->g, REC->g",
		  "-350287150 3944680146" },
		{ "%d of a 64-bit value is cut to an int, big endian", "\"%d %u\", REC->g, REC->g",
		  "-350287150 3944680146", BE64 },
		{ "%u of a negative int", "\"%u %x\", REC->e, REC->e", "4294967291 fffffffb" },
		{ "%lu of a negative int is 64 bits wide", "\"%lu\", REC->e",
		  "18446744073709551611" },
		{ "%lu is 32 bits wide on a 32-bit kernel", "\"%lu %lu\", REC->e, REC->g",
		  "4294967291 3944680146", LE32 },
		{ "%lu is 32 bits wide on a big-endian 32-bit kernel",
		  "\"%lx %lx\", REC->e, REC->g", "fffffffb eb1f0ad2", BE32 },
		{ "%hd and %hhu", "\"%hd %hhu %hhd\", REC->d, REC->d, REC->b", "10240 0 -56" },
		{ "%zu, %zd and %Lu", "\"%zu %zd %Lu\", REC->b, REC->e, REC->g",
		  "200 -5 12345678901234567890" },
		{ "flags and widths",
		  "\"[%5d][%-5d][%05d][%+d][% d][%3u]\", REC->e, REC->e, REC->e, REC->b, REC->b, "
		  "REC->d",
		  "[   -5][-5   ][-0005][+200][ 200][4000000000]" },
		{ "a precision", "\"[%.3d][%8.3d][%-8.4u]\", REC->e, REC->e, REC->b",
		  "[-005][    -005][0200    ]" },
		{ "a width from an argument",
		  "\"[%*d][%*d][%.*d]\", 6, REC->e, -6, REC->e, 4, REC->b",
		  "[    -5][-5    ][0200]" },
		{ "hex and octal",
		  "\"%x %X %#x %#X %o %#o %08lx %016llx %#010x\", REC->b, REC->b, REC->b, REC->b, "
		  "REC->b, REC->b, REC->b, REC->g, REC->b",
		  "c8 C8 0xc8 0XC8 310 0310 000000c8 ab54a98ceb1f0ad2 0x000000c8" },
		{ "printk writes 0x before a zero too", "\"%#x %#o\", 0, 0", "0x0 0" },
		{ "numbers around every power of ten",
		  "\"%u %u %u %u %u %u %llu %llu\", 0, 9, 10, 99, 100, 12345, "
		  "9999999999999999999ULL, 10000000000000000000ULL",
		  "0 9 10 99 100 12345 9999999999999999999 10000000000000000000" },
		{ "the ends of the ranges", "\"%lld %llu %d\", 1ULL << 63, ~0ULL, 1U << 31",
		  "-9223372036854775808 18446744073709551615 -2147483648" },
		{ "a character", "\"<%c%c>\", 65, REC->x[0]", "<A>" },
		{ "addresses", "\"%p %px %pS %ps %pK\", REC->p, REC->p, (void *)REC->g, REC->p, 0",
		  "0xffffffff81000000 0xffffffff81000000 0xab54a98ceb1f0ad2 0xffffffff81000000 "
		  "0x0" },
	};

	(void)state;
	run_cases(cases, TABLE(cases));
}

static void test_expressions(void **state)
{
	static const struct print_case cases[] = {
		{ "precedence is C's",
		  "\"%d %d %d %d\", 1 + 2 * 3, 1 | 2 ^ 3 & 4, 1 << 2 + 1, 7 & 3 == 3", "7 3 8 1" },
		{ "operators of one level go from the left",
		  "\"%d %d %d\", REC->b - 20 - 30, 100 / 10 * 2, 64 >> 2 >> 1", "150 20 8" },
		{ "the conditional goes from the right",
		  "\"%d\", REC->b < 0 ? 1 : REC->b > 100 ? 2 : 3", "2" },
		{ "signed and unsigned comparison",
		  "\"%d %d %d %d\", REC->e < 0, REC->e < 1U, REC->a < 0, REC->d < 0", "1 0 1 0" },
		{ "an int meets an unsigned long", "\"%d %d\", REC->e == -5UL, REC->e > 5UL",
		  "1 1" },
		{ "an int meets an unsigned int", "\"%u %llu\", REC->e / 2U, (u64)(REC->e + 0U)",
		  "2147483645 4294967291" },
		{ "signed division", "\"%d %d %lld\", REC->e / 2, REC->e % 2, REC->h / 1000",
		  "-2 -1 -9000000000000000" },
		{ "division by zero does not end us",
		  "\"%d %d\", REC->b / (REC->b - 200), REC->b % 0", "0 0" },
		{ "the smallest number by -1",
		  "\"%lld %lld\", (REC->h - REC->h + (-9223372036854775807LL - 1)) / -1, "
		  "(-9223372036854775807LL - 1) % -1",
		  "-9223372036854775808 0" },
		{ "shifting further than the type is wide",
		  "\"%d %lld %llu\", 1 << REC->b, REC->h >> REC->b, REC->g >> 64", "0 -1 0" },
		{ "shifting a signed number right", "\"%d %u\", REC->e >> 1, REC->d >> 28",
		  "-3 14" },
		{ "unary operators",
		  "\"%d %d %d %d %d\", -REC->b, ~REC->b, !REC->b, !!REC->b, - -1",
		  "-200 -201 0 1 1" },
		{ "a byte's complement is an int", "\"%x %x\", ~REC->b, ~(REC->b & 0xf0)",
		  "ffffff37 ffffff3f" },
		{ "logic", "\"%d %d %d\", REC->b && REC->x[0], REC->b || 0, 1 && 2", "0 1 1" },
		{ "a mask of a field",
		  "\"%x %llx %d\", REC->d & 0xff00, REC->g & 0xffff0000ffffUL, (REC->g & 0xff) == "
		  "0xd2",
		  "2800 a98c00000ad2 1" },
		{ "a mask of a field has a type",
		  "\"%d %llx\", (s8)(REC->b & 0xc0), ~(REC->b & 0xf0U)", "-64 ffffff3f" },
		{ "a mask of a field, big endian",
		  "\"%x %x %llx\", REC->d & 0xff00, (u8)(REC->g & 0xffff), REC->g & "
		  "0xffff0000ffffUL",
		  "2800 d2 a98c00000ad2", BE64 },
		{ "casts",
		  "\"%u %d %lx %llx %d %u\", (u8)REC->d, (s8)REC->b, (unsigned long)REC->e, "
		  "(unsigned long long)(u32)REC->e, (int)REC->g, (unsigned int) ((REC->d) >> 20)",
		  "0 -56 fffffffffffffffb fffffffb -350287150 3814" },
		{ "casts to pointers and back",
		  "\"%d\", (unsigned long)(void *)(REC->e) >= (unsigned long)-4095", "1" },
		{ "a cast to a type that a field has", "\"%lld\", (foo_t)REC->d", "-294967296" },
		{ "a cast to an unknown type",
		  "\"%llu %lld\", (bar_t)REC->d, (unsigned long)(struct bar *)REC->b + 1",
		  "4000000000 201" },
		{ "a product in parentheses is no cast", "\"%d %d\", (HZ * TICKS), REC->b",
		  "? 200" },
		{ "a name in parentheses is no cast", "\"%d\", (REC->b) - 1", "199" },
		{ "the record in parentheses", "\"%d\", (REC)->b", "200" },
		{ "constants have C's types",
		  "\"%d %d %d %d\", 0xffffffff > 0, 4294967295 > -1, -1 < 0x80000000, 'A'",
		  "1 1 0 65" },
		{ "constants in all bases",
		  "\"%d %d %d %lu\", 010, 0x1F, 0, 18446744073709551615UL",
		  "8 31 0 18446744073709551615" },
		{ "sizeof",
		  "\"%zu %zu %zu %zu\", sizeof(u64), sizeof(unsigned long), sizeof(struct rq *), "
		  "sizeof(REC->comm)",
		  "8 8 8 16" },
		{ "sizeof on 32 bits", "\"%zu %zu %zu\", sizeof(u64), sizeof(long), sizeof(void *)",
		  "8 4 4", LE32 },
		{ "compiler's hints", "\"%d\", __builtin_expect(!!(REC->b), 0) ? 0 : REC->b", "0" },
		{ "elements",
		  "\"%d %d %x %x\", REC->x[3], REC->x[REC->b - 195], REC->y[3], (int)REC->comm[0]",
		  "171 239 4444 73" },
		{ "elements, big endian",
		  "\"%x %x\", REC->y[1], ((u32 *)__get_dynamic_array(nums))[2]", "2222 a2", BE64 },
		{ "an element beyond the array is 0",
		  "\"%d %d %d\", REC->x[8], REC->x[-1], REC->y[1UL << 63]", "0 0 0" },
		{ "an element of text",
		  "\"%c%s\", __get_str(str)[1], __get_str(str)[0] ? \" yes\" : \"\"", "e yes" },
		{ "counting in elements of unknown size",
		  "\"%p %p %d\", (struct page *)4096 + REC->b, (void *)4096 + REC->b, (struct page "
		  "*)REC->b > 5",
		  "? 0x10c8 1" },
		{ "what only the kernel knew is a question mark",
		  "\"%p %d %d\", ((struct page *)vmemmap_base) + REC->g, SOME_ENUM, REC->b",
		  "? ? 200" },
	};

	(void)state;
	run_cases(cases, TABLE(cases));
}

static void test_texts(void **state)
{
	static const struct print_case cases[] = {
		{ "text fields",
		  "\"%s|%s|%s|%s\", REC->comm, REC->s5, __get_str(str), __get_rel_str(rel)",
		  "swapper/0|abcde|hello|rel" },
		{ "text fields, big endian", "\"%s %s\", __get_str(str), __get_rel_str(rel)",
		  "hello rel", BE32 },
		{ "widths",
		  "\"[%12s][%-12s][%.3s][%-6.2s][%3s]\", REC->comm, REC->comm, REC->comm, "
		  "REC->comm, REC->comm",
		  "[   swapper/0][swapper/0   ][swa][sw    ][swapper/0]" },
		{ "a precision from an argument",
		  "\"%.*s|%*s\", REC->x[2], __get_str(str), 7, __get_str(str)", "he|  hello" },
		{ "printk takes a negative precision for 0", "\"<%.*s>\", REC->a, __get_str(str)",
		  "<>" },
		{ "text ends at its NUL, that of the format too", "\"%s %d\\0%d\", \"a\\0b\", 1",
		  "a 1" },
		{ "a literal", "\"%s-%s\", \"a\" \"b\", (\"c\")", "ab-c" },
		{ "a choice of texts",
		  "\"%s %s\", REC->b ? \"yes\" : \"no\", REC->b ? REC->comm : __get_str(str)",
		  "yes swapper/0" },
		{ "no text at all", "\"%s\", REC->b > 500 ? __get_str(str) : ((void *)0)",
		  "(null)" },
		{ "the address of a text that is not there", "\"%s\", REC->p",
		  "0xffffffff81000000" },
		{ "a symbol",
		  "\"%s %s\", __print_symbolic(REC->b, { 1, \"one\" }, { 200, \"two hundred\" }), "
		  "__print_symbolic(REC->b, { 1, \"one\" })",
		  "two hundred 0xc8" },
		{ "the first of equal symbols",
		  "\"%s\", __print_symbolic(REC->b, { 300, \"x\" }, { 200, \"first\" }, { 200, "
		  "\"second\" }, { 1, \"y\" })",
		  "first" },
		{ "a negative symbol",
		  "\"%s %s\", __print_symbolic(REC->e, { -5, \"minus five\" }), "
		  "__print_symbolic(REC->e, { 5, \"x\" })",
		  "minus five 0xfffffffffffffffb" },
		{ "a negative symbol on 32 bits", "\"%s\", __print_symbolic(REC->e, { 5, \"x\" })",
		  "0xfffffffb", LE32 },
		{ "a symbol of an unknown value",
		  "\"%s\", __print_symbolic(REC->b, { TCP_X, \"x\" }, { 100 + 100, \"sum\" },)",
		  "sum" },
		{ "an empty table, and the kernel's own end",
		  "\"%s %s\", __print_symbolic(REC->b, {}), __print_flags(REC->b, \"|\", { 8, "
		  "\"A\" }, { 0, ((void *)0) })",
		  "0xc8 A|0xc0" },
		{ "flags",
		  "\"%s\", __print_flags(REC->b, \"|\", { 0x08, \"A\" }, { 0x40, \"B\" }, { 0x80, "
		  "\"C\" }, { 0x100, \"D\" })",
		  "A|B|C" },
		{ "flags that take several bits, and leave some",
		  "\"%s\", __print_flags(REC->b, \" + \", { 0xc0, \"both\" }, { 0x80, \"one\" })",
		  "both + 0x8" },
		{ "a flag of no bits is printed with others",
		  "\"%s\", __print_flags(REC->b, \"|\", { 0, \"none\" }, { 0xc8, \"all\" }, { 0, "
		  "\"late\" })",
		  "none|all" },
		{ "flags of nothing", "\"<%s>\", __print_flags(REC->x[0], \"\", { 1, \"A\" })",
		  "<>" },
		{ "flags with a width", "\"[%-6s]\", __print_flags(8, \"|\", { 8, \"A\" })",
		  "[A     ]" },
		{ "bytes in hex",
		  "\"%s %s\", __print_hex(REC->x, 4), __print_hex_str(REC->x, sizeof(REC->x))",
		  "00 01 02 ab 000102abcdef10ff" },
		{ "more bytes than there are", "\"%s\", __print_hex(REC->x, 1 << 30)",
		  "00 01 02 ab cd ef 10 ff" },
		{ "a negative number of bytes", "\"<%s>\", __print_hex(REC->x, REC->e)", "<>" },
		{ "an array",
		  "\"%s %s\", __print_array(__get_dynamic_array(nums), "
		  "__get_dynamic_array_len(nums) / sizeof(u32), sizeof(u32)), "
		  "__print_array(REC->y, 9, 2)",
		  "{0xa0,0xa1,0xa2} {0x1111,0x2222,0x3333,0x4444}" },
		{ "an array, big endian",
		  "\"%s\", __print_array(__get_dynamic_array(nums), __get_dynamic_array_len(nums) "
		  "/ 4, 4)",
		  "{0xa0,0xa1,0xa2}", BE64 },
		{ "an array that says its length itself",
		  "\"%s %s\", __print_dynamic_array(nums, 2), __print_dynamic_array(nums, "
		  "sizeof(int))",
		  "{0xa0,0x0,0xa1,0x0,0xa2,0x0} {0xa0,0xa1,0xa2}" },
		{ "elements of no size", "\"%s\", __print_dynamic_array(nums, 0)", "{}" },
		{ "an array of strange elements", "\"%s\", __print_array(REC->y, 2, 3)", "{}" },
		{ "a hex dump",
		  "\"%s|\", __print_hex_dump(\"p: \", DUMP_PREFIX_OFFSET, 16, 1, REC->v6, "
		  "sizeof(REC->v6), false)",
		  "\np: 00000000: 0a 00 01 bb 00 00 00 00 20 01 0d b8 00 00 00 00\n"
		  "p: 00000010: 00 00 00 00 00 00 00 01 00 00 00 00\n|" },
		{ "a hex dump with its text",
		  "\"%s\", __print_hex_dump(\"\", DUMP_PREFIX_NONE, 32, 1, "
		  "__get_dynamic_array(str), __get_dynamic_array_len(str), true)",
		  "\n68 65 6c 6c 6f 00                                                             "
		  "                   hello.\n" },
		{ "a hex dump by groups", "\"%s\", __print_hex_dump(\"\", 0, 16, 4, REC->x, 8, 1)",
		  "\nab020100 ff10efcd                    ........\n" },
		{ "a hex dump by groups, big endian",
		  "\"%s%s\", __print_hex_dump(\"\", 0, 16, 2, REC->x, 4, 0), "
		  "__print_hex_dump(\"\", 0, 16, 8, REC->x, 8, 0)",
		  "\n0001 02ab\n\n000102abcdef10ff\n", BE64 },
		{ "a row without whole groups: bytes",
		  "\"%s\", __print_hex_dump(\"\", DUMP_PREFIX_NONE, 16, 8, REC->v6, 20, true)",
		  "\n00000000bb01000a 00000000b80d0120  ........ .......\n"
		  "00 00 00 00                                      ....\n" },
		{ "rows and groups that there are not",
		  "\"%s\", __print_hex_dump(\"\", 7, 5, 3, REC->v6, 17, false)",
		  "\n0a 00 01 bb 00 00 00 00 20 01 0d b8 00 00 00 00\n00\n" },
		{ "a hex dump of nothing",
		  "\"%s%s\", __print_hex_dump(\"\", 0, 16, 1, REC->x, 0, true), "
		  "__print_hex_dump(\"\", 0, 16, 1, REC->x, REC->e, true)",
		  "\n\n" },
		{ "a hex dump of more than there is",
		  "\"%s\", __print_hex_dump(\"<\" \">\", DUMP_PREFIX_NONE, 16, 1, REC->x, 1 << 30, "
		  "false)",
		  "\n<>00 01 02 ab cd ef 10 ff\n" },
		{ "addresses that the record had in the kernel",
		  "\"%s\", __print_hex_dump(\"at \", DUMP_PREFIX_ADDRESS, 16, 1, REC->x, 2, false)",
		  "\nat ?: 00 01\n" },
		{ "CPUs", "\"%s\", __get_cpumask(mask)", "0-3,64,95" },
		{ "CPUs, big endian", "\"%s\", __get_cpumask(mask)", "0-3,64,95", BE64 },
		{ "a bitmask", "\"%s\", __get_bitmask(mask)",
		  "00000000,80000001,00000000,0000000f" },
		{ "a bitmask, big endian", "\"%s\", __get_bitmask(mask)",
		  "00000000,80000001,00000000,0000000f", BE64 },
		{ "a list of as many bits as said", "\"%*pbl\", 66, __get_dynamic_array(mask)",
		  "0-3,64" },
		{ "net addresses",
		  "\"%pI4 %pM %pISpc %pISpc %pI6c\", REC->uuid, REC->uuid, REC->v4, REC->v6, "
		  "REC->uuid",
		  "16.17.18.19 10:11:12:13:14:15 10.0.0.1:80 [2001:db8::1]:443 "
		  "1011:1213:1415:1617:1819:1a1b:1c1d:1e1f" },
		{ "addresses of fields",
		  "\"%pI4 %pM %d %d\", &REC->d, & REC->uuid, REC->b & REC->b, REC->b &&REC->x[1]",
		  "238.107.40.0 10:11:12:13:14:15 200 1", BE64 },
		{ "an address that the field is too small for", "\"%pI6c %pI4\", REC->x, REC->x",
		  "? 0.1.2.171" },
		{ "net addresses in other ways",
		  "\"%pi4 %pI4n %pI4l %pI4h %pi6 %pISc %pIS %pISp\", REC->uuid, REC->uuid, "
		  "REC->uuid, REC->uuid, REC->uuid, REC->v6, REC->v4, REC->v4",
		  "016.017.018.019 16.17.18.19 19.18.17.16 19.18.17.16 "
		  "101112131415161718191a1b1c1d1e1f 2001:db8::1 10.0.0.1 10.0.0.1:80" },
		{ "the host's order, big endian", "\"%pI4h %pI4l\", REC->uuid, REC->uuid",
		  "16.17.18.19 19.18.17.16", BE64 },
		{ "hardware addresses",
		  "\"%pMF %pMR %pm %pmR\", REC->uuid, REC->uuid, REC->uuid, REC->uuid",
		  "10-11-12-13-14-15 15:14:13:12:11:10 101112131415 151413121110" },
		{ "rows of bytes",
		  "\"%*ph|%3phC|%4phD|%2phN|%ph|%0ph|%*phN\", 6, REC->uuid, REC->uuid, REC->uuid, "
		  "REC->uuid, REC->uuid, REC->uuid, -2, REC->uuid",
		  "10 11 12 13 14 15|10:11:12|10-11-12-13|1011|10|10|1011" },
		{ "as many bytes as there are", "\"%*phN\", 1000, REC->x", "000102abcdef10ff" },
		{ "a row of a dynamic array",
		  "\"%*phN\", __get_dynamic_array_len(mask), __get_dynamic_array(mask)",
		  "0f000000000000000100008000000000" },
		{ "errors' names", "\"%pe %pe %pe\", (void *)-22, (void *)-4000, (void *)16",
		  "-EINVAL -4000 0x10" },
		{ "seconds and the rest of ns",
		  "\"%llu.%09u\", __print_ns_to_secs(REC->g), __print_ns_without_secs(REC->g)",
		  "12345678901.234567890" },
		{ "net addresses, big endian", "\"%pISpc %pISpc\", REC->v4, REC->v6",
		  "10.0.0.1:80 [2001:db8::1]:443", BE64 },
		{ "an unknown address family, and one that is cut",
		  "\"%pISpc %pISpc\", REC->uuid, REC->cut", "(einval) (einval)" },
		{ "a UUID", "\"%pU: %pUL\", REC->uuid, REC->uuid",
		  "10111213-1415-1617-1819-1a1b1c1d1e1f: 13121110-1514-1716-1819-1A1B1C1D1E1F" },
	};

	(void)state;
	run_cases(cases, TABLE(cases));
}

#define ALL_PAIRS                                                                                  \
	"a=-7 b=200 c=-300 d=4000000000 e=-5 g=12345678901234567890 h=-9000000000000000000 "       \
	"comm=swapper/0 x={0,1,2,171,205,239,16,255} y={4369,8738,13107,17476} str=hello rel=rel " \
	"nums={160,161,162} mask={15,2147483649} s5=abcde "                                        \
	"uuid={16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31} "                                  \
	"v4={2,0,0,80,10,0,0,1,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0} "                          \
	"v6={10,0,1,187,0,0,0,0,32,1,13,184,0,0,0,0,0,0,0,0,0,0,0,1,0,0,0,0} "                     \
	"p=0xffffffff81000000 cut={10,0,0,0,0,0,0,0} f=0.1 q=-1234.5678 r={0.1,1e+300} "           \
	"t={-0.25,3}"

/* Printed as C's printf does, for the kernel has none. */
static void test_reals(void **state)
{
	static const struct print_case cases[] = {
		{ "a double",
		  "\"%f %g %e %.3f %.0f|%d\", REC->q, REC->q, REC->q, REC->q, REC->q, REC->b",
		  "-1234.567800 -1234.57 -1.234568e+03 -1234.568 -1235|200" },
		{ "a double, big endian", "\"%f %g\", REC->q, REC->r[1]", "-1234.567800 1e+300",
		  BE64 },
		{ "a float", "\"%f %.9g\", REC->f, REC->f", "0.100000 0.100000001" },
		{ "a float, big endian", "\"%g\", REC->f", "0.1", BE32 },
		{ "flags and widths",
		  "\"[%12.2f][%-12.2f][%012.2f][%+g][% g][%#g][%*.*f][%-*g]\", REC->q, REC->q, "
		  "REC->q, REC->f, REC->f, REC->f, 10, 1, REC->q, 6, REC->f",
		  "[    -1234.57][-1234.57    ][-00001234.57][+0.1][ 0.1][0.100000][   "
		  "-1234.6][0.1   ]" },
		{ "capitals, hex",
		  "\"%F %E %G %a %A\", REC->r[0], REC->r[1], REC->r[1], REC->r[0], REC->r[0]",
		  "0.100000 1.000000E+300 1E+300 0x1.999999999999ap-4 0X1.999999999999AP-4" },
		{ "lengths", "\"%lf %Lf\", REC->q, (long double)REC->q",
		  "-1234.567800 -1234.567800" },
		{ "elements",
		  "\"%g %g %g %g\", REC->r[0], REC->r[2], ((float *)__get_dynamic_array(t))[0], "
		  "__get_dynamic_array(t)[1]",
		  "0.1 0 -0.25 3" },
		{ "elements, big endian",
		  "\"%g %g\", ((double *)REC->r)[0], ((float *)__get_dynamic_array(t))[0]",
		  "0.1 -0.25", BE64 },
		{ "a choice",
		  "\"%g %g\", REC->b ? REC->q : REC->r[0], (REC->x[0] ? REC->f : REC->r[0])",
		  "-1234.57 0.1" },
		{ "casts", "\"%g %g\", (double)REC->f, (double)(REC->q)", "0.1 -1234.57" },
		{ "the size of a double", "\"%zu %zu\", sizeof(double), sizeof(float)", "8 4" },
		{ "what only the kernel knew", "\"%f %d\", FOO, REC->b", "? 200" },
		/* other readers of a recording must not trip over what is computed with them */
		{ "arithmetic", "\"%f\", REC->q / 2", ALL_PAIRS, LE64, PAIRS },
		{ "a comparison", "\"%d\", REC->q > 2", ALL_PAIRS, LE64, PAIRS },
		{ "a condition", "\"%d\", REC->q ? 1 : 2", ALL_PAIRS, LE64, PAIRS },
		{ "a constant", "\"%f\", 1.5", ALL_PAIRS, LE64, PAIRS },
		{ "a number made a double", "\"%f\", (double)REC->a", ALL_PAIRS, LE64, PAIRS },
		{ "a double made a number", "\"%d\", (int)REC->q", ALL_PAIRS, LE64, PAIRS },
		{ "a double made a float", "\"%f\", (float)REC->q", ALL_PAIRS, LE64, PAIRS },
		{ "a number as %f", "\"%f\", REC->x[1]", ALL_PAIRS, LE64, PAIRS },
		{ "a double as %d", "\"%d\", REC->r[0]", ALL_PAIRS, LE64, PAIRS },
		{ "a double as %s", "\"%s\", REC->r[0]", ALL_PAIRS, LE64, PAIRS },
		{ "a double as an index", "\"%d\", REC->x[REC->q]", ALL_PAIRS, LE64, PAIRS },
	};

	(void)state;
	run_cases(cases, TABLE(cases));
}

static void test_not_understood(void **state)
{
	static const struct print_case cases[] = {
		{ "nothing", "", ALL_PAIRS, LE64, PAIRS },
		{ "a member", "\"%d\", REC->g.x", ALL_PAIRS, LE64, PAIRS },
		{ "a member of a member, and others", "\"%d %d\", REC->uuid.x.y, REC->b", ALL_PAIRS,
		  LE64, PAIRS },
		{ "a member of what an address stands for", "\"%d\", REC->p->x", ALL_PAIRS, LE64,
		  PAIRS },
		{ "an element's member", "\"%d\", REC->x[1].y", ALL_PAIRS, LE64, PAIRS },
		{ "the address of a number", "\"%d\", &3", ALL_PAIRS, LE64, PAIRS },
		{ "the address of an element", "\"%pI4\", &REC->x[1]", ALL_PAIRS, LE64, PAIRS },
		{ "a format in a format", "\"%pV\", REC->p", ALL_PAIRS, LE64, PAIRS },
		{ "no string", "REC->a", ALL_PAIRS, LE64, PAIRS },
		{ "a string without an end", "\"%d", ALL_PAIRS, LE64, PAIRS },
		{ "a comma without an argument", "\"%d\", REC->a,", ALL_PAIRS, LE64, PAIRS },
		{ "a parenthesis too few", "\"%d\", ((REC->a)", ALL_PAIRS, LE64, PAIRS },
		{ "an unknown function over an array", "\"%d\", blah(REC->x[0])", ALL_PAIRS, LE64,
		  PAIRS },
		{ "a statement", "\"%d\", ({ int x = REC->a; x; })", ALL_PAIRS, LE64, PAIRS },
		{ "an unknown field's array", "\"%d\", REC->zz[0]", ALL_PAIRS, LE64, PAIRS },
		{ "a string that is multiplied", "\"%d\", REC->x[\"a\" * 2]", ALL_PAIRS, LE64,
		  PAIRS },
		{ "a string that is an index", "\"%d\", REC->x[REC->comm]", ALL_PAIRS, LE64,
		  PAIRS },
		{ "an operator without its operand", "\"%d\", REC->x[1 +]", ALL_PAIRS, LE64,
		  PAIRS },
		{ "a hex dump of a number",
		  "\"%s\", __print_hex_dump(\"\", 0, 16, 1, REC->b, 1 + 0, 0)", ALL_PAIRS, LE64,
		  PAIRS },
		{ "a hex dump in a hex dump",
		  "\"%s\", __print_hex_dump(__print_hex_dump(\"\", 0, 16, 1, REC->x, 1 + 0, 0), 0, "
		  "16, 1, REC->x, 1, 0)",
		  ALL_PAIRS, LE64, PAIRS },
		{ "a hex dump that the record lays out",
		  "\"%s\", __print_hex_dump(\"\", 0, REC->b, 1, REC->x, 1 + 0, 0)", ALL_PAIRS, LE64,
		  PAIRS },
		{ "__get_str of what is none", "\"%s\", __get_str(a)[0] ? \"\" : \"\"", ALL_PAIRS,
		  LE64, PAIRS },
		{ "a table of flags without its comma",
		  "\"%s %*d %s\", __print_flags(REC->dE \"|\", { 1 << 2, \"a\" }), REC->e, REC->b, "
		  "__get_str(str)",
		  ALL_PAIRS, LE64, PAIRS },
		{ "a conditional without its end", "\"%d\", ((1 ? t : REC->", ALL_PAIRS, LE64,
		  PAIRS },
		{ "a constant of another base", "\"%d\", 08", ALL_PAIRS, LE64, PAIRS },
		{ "an address of a kind that is not known", "\"[%d] %pISb\", REC->e, REC->v4",
		  ALL_PAIRS, LE64, PAIRS },
		{ "a number as a net address", "\"%pi4\", REC->d", ALL_PAIRS, LE64, PAIRS },
	};

	(void)state;
	run_cases(cases, TABLE(cases));
}

/* Formats that are too deep or too long in one way: refused by the compiler, in bounded time. */
static void test_excess(void **state)
{
	static const struct {
		const char *name, *start, *part, *end;
		unsigned int times;
		bool ok;
	} cases[] = {
		{ "a hundred parentheses", "\"%d\", ", "(", "1", 100, false },
		{ "very many parentheses", "\"%d\", ", "(", "", 1000000, false },
		{ "very many signs", "\"%d\", ", "-~", "1", 1000000, false },
		{ "very many conditionals", "\"%d\", ", "REC->a ? 1 : ", "2", 300000, false },
		{ "very many indices", "\"%d\", ", "REC->x[", "", 300000, false },
		{ "very many sums of fields", "\"%d\", 1", " + REC->a", "", 300000, false },
		{ "a hundred sums of fields", "\"%d\", 1", " + REC->a", "", 100, true },
		{ "very many constants", "\"%d\", 1", " | 2", "", 1000000, true },
		{ "very many casts", "\"%d\", ", "(int)", "1", 500000, false },
		{ "very many strings", "\"%s\", ", "\"a\" ", "", 1000000, true },
		{ "very many symbols", "\"%s\", __print_symbolic(REC->b", ", { 1, \"a\" }", ")",
		  300000, true },
		{ "a width of a gigabyte", "\"%", "1000000000", "d\", 1", 1, false },
		{ "a number of many digits", "\"%d\", ", "9", "", 100000, false },
	};

	(void)state;
	for (size_t i = 0; i < TABLE(cases); i++) {
		struct tap_buf text = { 0 };
		struct tap_err err = { 0 };
		struct print_prog prog;
		struct tap_format *fmt;
		int ret;

		tap_buf_printf(&text, "%s%s", layout, cases[i].start);
		for (unsigned int j = 0; j < cases[i].times && text.len < TAP_FORMAT_MAX_BYTES - 20;
		     j++)
			tap_buf_puts(&text, cases[i].part);
		tap_buf_puts(&text, cases[i].end);
		if (tap_format_parse("sys", text.data, text.len, abis[LE64], &fmt, &err))
			fail_msg("%s: %s", cases[i].name, err.text);
		ret = tap_print_compile(fmt, &prog);
		if (ret != (cases[i].ok ? 0 : -EINVAL))
			fail_msg("%s: %d", cases[i].name, ret);
		tap_print_prog_release(&prog);
		tap_format_free(fmt);
		tap_buf_release(&text);
	}
}

/* sched_switch of 6.18, as the kernel prints it. */
static const char sched_switch[] =
	"name: sched_switch\nID: 372\nformat:\n" COMMON_FIELDS
	"\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
	"\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;\n"
	"\tfield:int prev_prio;\toffset:28;\tsize:4;\tsigned:1;\n"
	"\tfield:long prev_state;\toffset:32;\tsize:8;\tsigned:1;\n"
	"\tfield:char next_comm[16];\toffset:40;\tsize:16;\tsigned:0;\n"
	"\tfield:pid_t next_pid;\toffset:56;\tsize:4;\tsigned:1;\n"
	"\tfield:int next_prio;\toffset:60;\tsize:4;\tsigned:1;\n"
	"\nprint fmt: \"prev_comm=%s prev_pid=%d prev_prio=%d prev_state=%s%s ==> next_comm=%s "
	"next_pid=%d next_prio=%d\", REC->prev_comm, REC->prev_pid, REC->prev_prio, "
	"(REC->prev_state & ((((0x00000000 | 0x00000001 | 0x00000002 | 0x00000004 | 0x00000008 | "
	"0x00000010 | 0x00000020 | 0x00000040) + 1) << 1) - 1)) ? __print_flags(REC->prev_state & "
	"((((0x00000000 | 0x00000001 | 0x00000002 | 0x00000004 | 0x00000008 | 0x00000010 | "
	"0x00000020 | 0x00000040) + 1) << 1) - 1), \"|\", { 0x00000001, \"S\" }, { 0x00000002, "
	"\"D\" }, { 0x00000004, \"T\" }, { 0x00000008, \"t\" }, { 0x00000010, \"X\" }, { "
	"0x00000020, \"Z\" }, { 0x00000040, \"P\" }, { 0x00000080, \"I\" }) : \"R\", "
	"REC->prev_state & (((0x00000000 | 0x00000001 | 0x00000002 | 0x00000004 | 0x00000008 | "
	"0x00000010 | 0x00000020 | 0x00000040) + 1) << 1) ? \"+\" : \"\", REC->next_comm, "
	"REC->next_pid, REC->next_prio\n";

static void test_sched_switch(void **state)
{
	static const struct {
		const char *name, *comm, *letters;
		uint64_t prev_state;
	} cases[] = {
		{ "runnable", "bash", "R", 0 },
		{ "sleeping", "bash", "S", 1 },
		{ "blocked", "bash", "D", 2 },
		{ "idle kthread", "kworker/0:1", "I", 0x80 },
		{ "preempted", "bash", "R+", 0x100 },
		{ "two states", "bash", "S|X", 0x11 },
		{ "states that are not shown", "bash", "D", 0xfffffe02 },
		{ "a name of 15 letters", "kworker/u8:12-e", "S", 1 },
		{ "a name without an end", "0123456789abcdef", "S", 1 },
		{ "no name", "", "S", 1 },
	};

	(void)state;
	for (size_t i = 0; i < TABLE(cases) * 2; i++) {
		size_t k = i / 2;
		const struct tap_abi abi = abis[i % 2 ? BE64 : LE64];
		unsigned char rec[64] = "";
		struct tap_buf out = { 0 };
		struct tap_format *fmt;
		struct tap_printer *p = make(cases[k].name, sched_switch, abi, COMPILED, &fmt);
		char want[200];

		assert_int_equal(fmt->min_size, sizeof(rec));
		memcpy(rec + 8, cases[k].comm, strlen(cases[k].comm));
		put(rec, abi, 24, 4, 1234567);
		put(rec, abi, 28, 4, 120);
		put(rec, abi, 32, 8, cases[k].prev_state);
		memcpy(rec + 40, "swapper/1", 9);
		put(rec, abi, 60, 4, -1ull);
		snprintf(want, sizeof(want),
			 "prev_comm=%s prev_pid=1234567 prev_prio=120 prev_state=%s ==> "
			 "next_comm=swapper/1 next_pid=0 next_prio=-1",
			 cases[k].comm, cases[k].letters);
		run(p, rec, sizeof(rec), &out);
		if (strcmp(tap_buf_str(&out), want))
			fail_msg("%s: got <%s>, want <%s>", cases[k].name, out.data, want);
		tap_printer_free(p);
		tap_format_free(fmt);
		tap_buf_release(&out);
	}
}

static void test_many_symbols(void **state)
{
	struct tap_buf text = { 0 }, out = { 0 };
	struct tap_format *fmt;
	struct tap_printer *p;

	(void)state;
	tap_buf_puts(&text, "name: e\nID: 1\nformat:\n" COMMON_FIELDS
			    "\tfield:u64 id;\toffset:8;\tsize:8;\tsigned:0;\n"
			    "print fmt: \"%s\", __print_symbolic(REC->id");
	for (unsigned int i = 0; i < 500; i++)
		tap_buf_printf(&text, ", { %u, \"/group/%u\" }", i * 7919 % 1000 + 3, i);
	tap_buf_puts(&text, ")\n");
	p = make("many symbols", tap_buf_str(&text), abis[LE64], COMPILED, &fmt);
	for (unsigned int id = 0; id < 1010; id++) {
		unsigned char rec[16] = "";
		char want[40];
		unsigned int i;

		for (i = 0; i < 500 && i * 7919 % 1000 + 3 != id; i++)
			;
		if (i < 500)
			snprintf(want, sizeof(want), "/group/%u", i);
		else
			snprintf(want, sizeof(want), "0x%x", id);
		put(rec, abis[LE64], 8, 8, id);
		run(p, rec, sizeof(rec), &out);
		assert_string_equal(tap_buf_str(&out), want);
	}
	tap_printer_free(p);
	tap_format_free(fmt);
	tap_buf_release(&text);
	tap_buf_release(&out);
}

/* ---- against libtraceevent, on the events of this kernel ---- */

/* Where libtraceevent 1.7 is wrong, by what the print format contains. */
static const struct {
	const char *part, *why;
	bool only_big; /* small numbers are printed right */
} wrongs_of_tep[] = {
	{ "<< REC->", "a shift by more than the type is wide depends on the machine" },
	{ "%-8s", "no width for a number that stands in for a symbol" },
	{ "->stripe_nr - REC->nr_data + 1", "a - b + c is taken as a - (b + c)" },
	{ "REC->flags & (0x00040000 |", "a & (b | c) is taken as (a & b) | c" },
	{ "<< BTRFS_ORDERED", "an unknown name is taken as 0" },
	{ "<< (APICV_INHIBIT", "an unknown name is taken as 0" },
	{ "<< VMSCAN_THROTTLE", "an unknown name is taken as 0" },
	{ "(jiffies - REC->", "an unknown name is taken as 0" },
	{ "{ (1ULL << 63)", "the topmost flag is never found" },
	{ "{ 0u, \"none\" }", "a flag of no bits is left out, the kernel prints it" },
	{ "vmemmap_base", "an unknown name is taken as 0" },
	{ "%.*s", "prints '%.*s' itself where the length is negative", true },
	{ "%*pbl", "not understood" },
	{ "%c%c", "not understood" },
	{ "__print_hex", "reads as many bytes as the record says" },
	{ "REC->ret < 0 ? REC->ret", "an error number is not taken as negative" },
};

struct compared {
	unsigned int events, native, compared, texts;
};

static bool is_skipped(const struct tap_format *fmt, unsigned int *skipped, bool *only_small)
{
	*only_small = false;
	for (size_t i = 0; i < TABLE(wrongs_of_tep); i++) {
		if (!strstr(fmt->print_fmt, wrongs_of_tep[i].part))
			continue;
		skipped[i]++;
		*only_small = wrongs_of_tep[i].only_big;
		return !*only_small;
	}
	/* the text is in the kernel: libtraceevent prints its address, without 0x */
	for (unsigned int i = 0; i < fmt->nr_fields; i++) {
		if (!strstr(fmt->fields[i].type, "char *") || !strstr(fmt->print_fmt, "%s"))
			continue;
		skipped[TABLE(wrongs_of_tep)]++;
		return true;
	}
	return false;
}

/*
 * Random bytes, with what both must find: locations inside, text that ends, addresses that are
 * not 0 ("(nil)" there). Signed fields stay positive: libtraceevent does not extend their sign.
 */
static uint32_t random_record(const struct tap_format *fmt, unsigned char *rec, bool small)
{
	uint32_t end = fmt->min_size;

	for (uint32_t i = 0; i < fmt->min_size; i++)
		rec[i] = (unsigned char)random();
	memcpy(rec, &fmt->id, 2);
	for (unsigned int i = fmt->nr_common; i < fmt->nr_fields; i++) {
		const struct tap_field *f = &fmt->fields[i];
		unsigned char *p = rec + f->offset;
		uint32_t len, loc;

		if (f->kind == TAP_FIELD_NUMBER && small) {
			memset(p + 1, 0, f->size - 1);
			p[0] &= 0x3f;
		}
		if (f->kind == TAP_FIELD_NUMBER) {
			p[0] |= 1;
			p[f->size - 1] &= f->is_signed ? 0x7f : 0xff;
		}
		if (f->kind == TAP_FIELD_CHARS)
			for (uint32_t j = 0; j < f->size; j++)
				p[j] = j + 1 < f->size ? (unsigned char)('a' + random() % 26) : 0;
		/* the address family of a struct sockaddr */
		if (f->size == 28)
			memcpy(p, &(uint16_t){ random() % 2 ? 2 : 10 }, 2);
		if (f->kind != TAP_FIELD_STRING && f->kind != TAP_FIELD_DYNAMIC)
			continue;
		len = 8 * (1 + (uint32_t)random() % 3);
		for (uint32_t j = 0; j < len; j++)
			rec[end + j] = (unsigned char)('a' + random() % 26);
		rec[end + len - 1] = f->kind == TAP_FIELD_STRING ? 0 : 'z';
		loc = len << 16 | end;
		memcpy(p, &loc, 4);
		end += len;
	}
	memset(rec + end, 0, 64);
	return end;
}

/* Of the leak sanitizer, where it is linked: libtraceevent loses bits of texts that it refuses. */
void __lsan_disable(void) __attribute__((weak));
void __lsan_enable(void) __attribute__((weak));

static struct tep_handle *tep_of(const struct tap_format *fmt)
{
	struct tep_handle *tep = tep_alloc();
	bool ok;

	assert_non_null(tep);
	tep_set_long_size(tep, fmt->long_size);
	tep_set_file_bigendian(tep, TEP_LITTLE_ENDIAN);
	tep_set_local_bigendian(tep, TEP_LITTLE_ENDIAN);
	if (__lsan_disable)
		__lsan_disable();
	ok = !tep_parse_event(tep, fmt->text, strlen(fmt->text), fmt->system) &&
	     !(tep_find_event(tep, fmt->id)->flags & TEP_EVENT_FL_FAILED);
	if (__lsan_enable)
		__lsan_enable();
	if (ok)
		return tep;
	tep_free(tep);
	return NULL;
}

/* ftrace's stacks are not printed as their format says: test_frames.c tests them. */
static bool is_stack(const struct tap_format *fmt)
{
	return !strcmp(fmt->system, "ftrace") &&
	       (!strcmp(fmt->name, "kernel_stack") || !strcmp(fmt->name, "user_stack"));
}

static void compare(const struct tap_format *fmt, const struct tap_printer *p, bool only_small,
		    struct compared *res)
{
	struct tep_handle *tep = is_stack(fmt) ? NULL : tep_of(fmt);
	struct tap_buf out = { 0 };
	struct trace_seq seq;

	if (!tep)
		return;
	res->compared++;
	trace_seq_init(&seq);
	for (unsigned int i = 0; i < 4; i++) {
		unsigned char rec[4096];
		uint32_t size = random_record(fmt, rec, only_small || i % 2);
		struct tep_record tr = { .data = rec, .size = (int)size };

		trace_seq_reset(&seq);
		tep_print_event(tep, &seq, &tr, "%s", TEP_PRINT_INFO);
		trace_seq_terminate(&seq);
		run(p, rec, size, &out);
		if (strcmp(tap_buf_str(&out), seq.buffer))
			fail_msg("%s:%s %s\ngot  <%s>\nwant <%s>", fmt->system, fmt->name,
				 fmt->print_fmt, out.data, seq.buffer);
		res->texts++;
	}
	trace_seq_destroy(&seq);
	tep_free(tep);
	tap_buf_release(&out);
}

static bool must_be_native(const char *system)
{
	static const char *const systems[] = { "sched",	    "power",	"irq",		"timer",
					       "workqueue", "signal",	"net",		"block",
					       "writeback", "kmem",	"task",		"rcu",
					       "ipi",	    "syscalls", "raw_syscalls", "cgroup",
					       "napi" };

	for (size_t i = 0; i < TABLE(systems); i++)
		if (!strcmp(system, systems[i]))
			return true;
	return false;
}

static void one_event(const char *path, struct compared *res, unsigned int *skipped)
{
	struct tap_buf text = { 0 };
	struct tap_format *fmt;
	struct tap_printer *p;
	struct print_prog prog;
	char system[64];
	bool only_small;

	assert_int_equal(sscanf(path, "/sys/kernel/tracing/events/%63[^/]", system), 1);
	if (tap_buf_read_file(&text, path))
		goto out;
	assert_int_equal(tap_format_parse(system, text.data, text.len, abis[LE64], &fmt, NULL), 0);
	assert_int_equal(tap_printer_new(fmt, &p, NULL), 0);
	assert_true(fmt->min_size < 2048);
	res->events++;
	print_garbage(fmt, p);
	if (!tap_print_compile(fmt, &prog)) {
		tap_print_prog_release(&prog);
		res->native++;
		if (!is_skipped(fmt, skipped, &only_small))
			compare(fmt, p, only_small, res);
	} else if (must_be_native(system)) {
		fail_msg("%s:%s is not compiled: %s", system, fmt->name, fmt->print_fmt);
	}
	tap_printer_free(p);
	tap_format_free(fmt);
out:
	tap_buf_release(&text);
}

static void test_this_kernel(void **state)
{
	unsigned int skipped[TABLE(wrongs_of_tep) + 1] = { 0 };
	struct compared res = { 0 };
	glob_t g = { 0 };

	(void)state;
	if (glob("/sys/kernel/tracing/events/*/*/format", 0, NULL, &g) ||
	    access(g.gl_pathv[0], R_OK)) {
		globfree(&g);
		return skip_test("no event formats in /sys/kernel/tracing: needs root");
	}
	srandom(1);
	for (size_t i = 0; i < g.gl_pathc; i++)
		one_event(g.gl_pathv[i], &res, skipped);
	globfree(&g);
	print_message("# %u events, %u compiled, %u compared with libtraceevent, %u texts equal\n",
		      res.events, res.native, res.compared, res.texts);
	for (size_t i = 0; i < TABLE(wrongs_of_tep); i++)
		if (skipped[i])
			print_message("# SKIP %u with '%s': libtraceevent: %s\n", skipped[i],
				      wrongs_of_tep[i].part, wrongs_of_tep[i].why);
	print_message(
		"# SKIP %u with a text in the kernel: libtraceevent: prints its address bare\n",
		skipped[TABLE(wrongs_of_tep)]);
	assert_true(res.native > res.events * 9 / 10);
	assert_true(res.compared > res.native * 3 / 4);
}

/* A format with a letter more, less or another: whatever it then means, no harm is done. */
static void test_damaged_formats(void **state)
{
	static const char *const texts[] = {
		"\"%s %d %-5.3s\", __print_symbolic(REC->b, { 1, \"a\" }), (REC->a & 3) ? 1 : "
		"REC->x[2], REC->comm",
		"\"%s %*d %s\", __print_flags(REC->d, \"|\", { 1 << 2, \"a\" }), REC->e, REC->b, "
		"__get_str(str)",
		"\"%s %s %pI4\", __print_hex(REC->x, REC->b), "
		"__print_array(__get_dynamic_array(nums), 3, REC->x[1]), REC->x",
		"\"%s %s\", __print_hex_dump(\"x\", DUMP_PREFIX_OFFSET, 16, 2, REC->x, REC->b, 1), "
		"__print_hex_dump(\"\", 0, 32, 8, __get_dynamic_array(nums), REC->e, 0)",
		"\"%g %-8.3f %e\", REC->b ? REC->q : REC->f, ((float *)REC->x)[REC->a], "
		"__get_dynamic_array(t)[0]",
		"\"%s %.*s %c\", __get_cpumask(mask), REC->c, __get_rel_str(rel), ((u16 "
		"*)REC->x)[REC->b]",
	};
	static const char letters[] = "()[]{}\"'\\,%*-+?:!~<>&|0x9azRE->_ \xff";
	struct tap_buf out = { .max = 1 << 20 };
	unsigned int compiled = 0, refused = 0;

	(void)state;
	srandom(2);
	for (unsigned int i = 0; i < 8000; i++) {
		char text[sizeof(layout) + 200];
		const char *from = texts[i % TABLE(texts)];
		size_t at = (size_t)random() % strlen(from), skip_len = (size_t)random() % 3;
		struct tap_printer *p;
		struct tap_format *fmt;
		struct print_prog prog;
		unsigned char rec[RECORD];

		snprintf(text, sizeof(text), "%s%.*s%c%s", layout, (int)at, from,
			 letters[(size_t)random() % (sizeof(letters) - 1)],
			 from + (at + skip_len > strlen(from) ? strlen(from) : at + skip_len));
		assert_int_equal(
			tap_format_parse("sys", text, strlen(text), abis[i % 4], &fmt, NULL), 0);
		if (tap_print_compile(fmt, &prog)) {
			refused++;
		} else {
			tap_print_prog_release(&prog);
			compiled++;
			assert_int_equal(tap_printer_new(fmt, &p, NULL), 0);
			for (size_t j = 0; j < sizeof(rec); j++)
				rec[j] = (unsigned char)random();
			run(p, rec, sizeof(rec), &out);
			fill(rec, abis[i % 4]);
			run(p, rec, sizeof(rec), &out);
			tap_printer_free(p);
		}
		tap_format_free(fmt);
	}
	tap_buf_release(&out);
	assert_true(compiled > 500 && refused > 500);
}

static void test_full_buffer(void **state)
{
	struct tap_buf out = { .max = 64 };
	struct tap_format *fmt;
	struct tap_printer *p = make("full", sched_switch, abis[LE64], COMPILED, &fmt);
	unsigned char rec[64] = "";

	(void)state;
	run(p, rec, sizeof(rec), &out);
	assert_int_equal(out.err, -EFBIG);
	assert_true(out.len <= 64);
	tap_printer_free(p);
	tap_format_free(fmt);
	tap_buf_release(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numbers),	       cmocka_unit_test(test_expressions),
		cmocka_unit_test(test_texts),	       cmocka_unit_test(test_reals),
		cmocka_unit_test(test_not_understood), cmocka_unit_test(test_excess),
		cmocka_unit_test(test_sched_switch),   cmocka_unit_test(test_many_symbols),
		cmocka_unit_test(test_this_kernel),    cmocka_unit_test(test_damaged_formats),
		cmocka_unit_test(test_full_buffer),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
