// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The helpers of print formats and printk's conversions, against what the kernel's trace_output.c,
 * hexdump.c and vsprintf.c (6.1) print. tests/vm/guests.t asks the kernel itself.
 */
#include <arpa/inet.h>
#include <stdio.h>

#include "tracepoint/check_text.h"
#include "tracepoint/internal.h"

static struct trace_seq seq;

static struct trace_seq *fresh(void)
{
	memset(seq.text, 'x', sizeof(seq.text));
	seq.len = 0;
	return &seq;
}

static void test_flags(void)
{
	static const struct trace_print_flags none[] = { { 0, NULL } };
	static const struct trace_print_flags flags[] = { { 1, "ONE" },		 { 2, "TWO" },
							  { 12, "TWELVE" },	 { 16, "" },
							  { 1ull << 63, "TOP" }, { 0, NULL } };
	static const struct trace_print_flags with_zero[] = { { 0, "zero" },
							      { 1, "ONE" },
							      { 0, NULL } };
	static const struct {
		const char *name;
		const struct trace_print_flags *flags;
		const char *delim;
		unsigned long long value;
		const char *want;
	} cases[] = {
		{ "flags: none is nothing", flags, "|", 0, "" },
		{ "flags: one", flags, "|", 2, "TWO" },
		{ "flags: two", flags, "|", 3, "ONE|TWO" },
		{ "flags: no delimiter", flags, NULL, 3, "ONETWO" },
		{ "flags: a long delimiter", flags, " and ", 3, "ONE and TWO" },
		{ "flags: of several bits, all must be set", flags, "|", 5, "ONE|0x4" },
		{ "flags: of several bits", flags, "|", 13, "ONE|TWELVE" },
		{ "flags: what is left is in hex", flags, "|", 0x103, "ONE|TWO|0x100" },
		{ "flags: what is left alone", flags, "|", 0x100, "0x100" },
		{ "flags: an empty name", flags, "|", 17, "ONE|" },
		{ "flags: the highest bit", flags, "|", 1ull << 63, "TOP" },
		{ "flags: a mask of 0 is in every value but 0", with_zero, "|", 1, "zero|ONE" },
		{ "flags: and not in that", with_zero, "|", 0, "" },
		{ "flags: of an empty list", none, "|", 3, "0x3" },
	};

	for (size_t i = 0; i < TABLE(cases); i++)
		check(cases[i].name,
		      tap_print_flags(fresh(), cases[i].delim, cases[i].value, cases[i].flags),
		      cases[i].want);
}

static void test_symbolic(void)
{
	static const struct trace_print_flags symbols[] = { { 0, "zero" },	{ 1, "one" },
							    { 1, "again" },	{ 5, "" },
							    { -1ull, "minus" }, { 0, NULL } };
	static const struct {
		const char *name;
		unsigned long long value;
		const char *want;
	} cases[] = {
		{ "symbolic: 0 can have a name", 0, "zero" },
		{ "symbolic: the first of a value counts", 1, "one" },
		{ "symbolic: a negative one", -1ull, "minus" },
		{ "symbolic: none is in hex", 0xabc, "0xabc" },
		{ "symbolic: an empty name is none", 5, "0x5" },
	};

	for (size_t i = 0; i < TABLE(cases); i++)
		check(cases[i].name, tap_print_symbolic(fresh(), cases[i].value, symbols),
		      cases[i].want);
}

static void test_bytes(void)
{
	static const unsigned char bytes[] = { 0, 1, 0xab, 0xff, 5, 6, 7, 8 };
	static const uint16_t words[] = { 1, 0xffff };
	static const uint32_t longs[] = { 0, 0xdeadbeef };
	static const uint64_t quads[] = { -1ull };

	check("hex", tap_print_hex(fresh(), bytes, 4, true), "00 01 ab ff");
	check("hex: without spaces", tap_print_hex(fresh(), bytes, 4, false), "0001abff");
	check("hex: nothing", tap_print_hex(fresh(), bytes, 0, true), "");
	check("hex: less than nothing", tap_print_hex(fresh(), bytes, -1, true), "");
	check("array: nothing", tap_print_array(fresh(), bytes, 0, 4), "{}");
	check("array: bytes", tap_print_array(fresh(), bytes, 4, 1), "{0x0,0x1,0xab,0xff}");
	check("array: of 2", tap_print_array(fresh(), words, 2, 2), "{0x1,0xffff}");
	check("array: of 4", tap_print_array(fresh(), longs, 2, 4), "{0x0,0xdeadbeef}");
	check("array: of 8", tap_print_array(fresh(), quads, 1, 8), "{0xffffffffffffffff}");
	check("array: less than nothing", tap_print_array(fresh(), bytes, -1, 1), "{}");
	/* the kernel's own words, and its bytes from there on */
	check("array: of 3 there is none", tap_print_array(fresh(), bytes, 1, 3),
	      "{BAD SIZE:3 0x0,0x1,0xab}");
}

static void test_bitmask(void)
{
	static const unsigned long bits[] = { 0x80000001, 0x2 };

	if (sizeof(long) == 8) {
		check("bitmask", tap_print_bitmask(fresh(), bits, 8), "00000000,80000001");
		check("bitmask: the last word first", tap_print_bitmask(fresh(), bits, 16),
		      "00000000,00000002,00000000,80000001");
	} else {
		check("bitmask", tap_print_bitmask(fresh(), bits, 4), "80000001");
		check("bitmask: the last word first", tap_print_bitmask(fresh(), bits, 8),
		      "00000002,80000001");
	}
	check("bitmask: nothing", tap_print_bitmask(fresh(), bits, 0), "");
}

static const char *dump(const char *prefix, int type, int row, int group, size_t len, bool ascii)
{
	static const unsigned char bytes[40] = "0123456789abcdef\0\x7f\x80\xff ghijklmnopqrstu";

	return tap_print_hex_dump(fresh(), prefix, type, row, group, bytes, len, ascii);
}

static void test_hex_dump(void)
{
	check("hex dump: a row", dump("", DUMP_PREFIX_NONE, 16, 1, 4, false), "\n30 31 32 33\n");
	check("hex dump: nothing", dump("", DUMP_PREFIX_NONE, 16, 1, 0, true), "\n");
	check("hex dump: rows and their offsets", dump("p:", DUMP_PREFIX_OFFSET, 16, 1, 18, true),
	      "\np:00000000: 30 31 32 33 34 35 36 37 38 39 61 62 63 64 65 66  0123456789abcdef\n"
	      "p:00000010: 00 7f                                            ..\n");
	check("hex dump: what is no ASCII is a dot",
	      dump("", DUMP_PREFIX_NONE, 32, 1, 22, true) + 1 + 32 * 3 + 1,
	      "0123456789abcdef.... g\n");
	check("hex dump: groups of 2", dump("", DUMP_PREFIX_NONE, 16, 2, 4, false),
	      "\n3130 3332\n");
	check("hex dump: groups of 4, with text", dump("", DUMP_PREFIX_NONE, 16, 4, 8, true),
	      "\n33323130 37363534                    01234567\n");
	check("hex dump: groups of 8", dump("", DUMP_PREFIX_NONE, 16, 8, 16, false),
	      "\n3736353433323130 6665646362613938\n");
	check("hex dump: no whole group: bytes", dump("", DUMP_PREFIX_NONE, 16, 4, 6, false),
	      "\n30 31 32 33 34 35\n");
	check("hex dump: only in that row", dump("", DUMP_PREFIX_NONE, 16, 8, 17, false),
	      "\n3736353433323130 6665646362613938\n00\n");
	check("hex dump: rows of 5 are of 16", dump("", DUMP_PREFIX_NONE, 5, 1, 6, false),
	      "\n30 31 32 33 34 35\n");
	check("hex dump: groups of 3 are of 1", dump("", DUMP_PREFIX_NONE, 16, 3, 3, false),
	      "\n30 31 32\n");
}

#define PRINT(name, want, fmt...)                                                                  \
	do {                                                                                       \
		tap_seq_printf(fresh(), fmt);                                                      \
		check("printf: " name, seq.text, want);                                            \
	} while (0)

static void test_numbers(void)
{
	const char *volatile none = NULL; /* the compiler would find it odd */
	char expected[256];

	PRINT("no conversion", "text", "text");
	PRINT("a percent sign", "100%", "100%%");
	PRINT("numbers of all sizes", "-1 255 -2 65535 -3 -4 -5 6 7 8",
	      "%hhd %hhu %hd %hu %d %ld %lld %zu %td %ju", (signed char)-1, (unsigned char)255,
	      (short)-2, (unsigned short)65535, -3, -4l, -5ll, (size_t)6, (ptrdiff_t)7,
	      (uintmax_t)8);
	PRINT("the smallest and the biggest", "-9223372036854775808 18446744073709551615",
	      "%lld %llu", -9223372036854775807ll - 1, 18446744073709551615ull);
	PRINT("widths and flags", "|   5|5   |0005|+5|0x1f|0X1F|017|",
	      "|%4d|%-4d|%04d|%+d|%#x|%#X|%#o|", 5, 5, 5, 5, 31, 31, 15);
	PRINT("widths as arguments", "|   5|5   |005|", "|%*d|%-*d|%.*d|", 4, 5, 4, 5, 3, 5);
	PRINT("characters and texts", "x abc ab |  abc|abc  |", "%c %s %.2s |%5s|%-*s|", 'x', "abc",
	      "abc", "abc", 5, "abc");
	PRINT("a precision as an argument", "ab", "%.*s", 2, "abc");
	PRINT("printk takes a negative precision for 0", "<><5>", "<%.*s><%.*d>", -7, "abc", -1, 5);
	PRINT("a negative width is to the left", "<7  >", "<%*d>", -3, 7);
	PRINT("no text", "(null)", "%s", none);
	PRINT("what only programs have", "1.50 1e+06 2.25", "%.2f %g %Lg", 1.5, 1e6,
	      (long double)2.25);
	PRINT("addresses with a width", "<  0x10><0x10  ><0x10  >", "<%6p><%-6p><%*p>", (void *)16,
	      (void *)16, -6, (void *)16);
	snprintf(expected, sizeof(expected), "0x%lx", (unsigned long)&nr);
	PRINT("an address", expected, "%p", (void *)&nr);
}

/* The compiler takes the letters after a %p for text and does not check them. */
static void test_pointers(void)
{
	static const unsigned char ip6[16] = { 0x20, 1, 0xd, 0xb8, [15] = 1 };
	static const unsigned char uuid[16] = { 0,    0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77,
						0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff };
	static const unsigned long bits[] = { 0xd };
	struct sockaddr_in in = { .sin_family = AF_INET, .sin_port = htons(80) };
	struct sockaddr_in6 in6 = { .sin6_family = AF_INET6, .sin6_port = htons(443) };
	struct sockaddr other = { .sa_family = AF_UNIX };

	inet_pton(AF_INET, "10.0.0.1", &in.sin_addr);
	memcpy(&in6.sin6_addr, ip6, 16);
	PRINT("%*pbl", "<0,2-3>", "<%*pbl>", 8, (const void *)bits);
	PRINT("%*pbl: not more bits than it says", "0,2", "%*pbl", 3, (const void *)bits);
	PRINT("%*pbl: none", "", "%*pbl", 0, (const void *)bits);
	PRINT("%*pb", "0000000d", "%*pb", 32, (const void *)bits);
	PRINT("%pI4", "32.1.13.184", "%pI4", (const void *)ip6);
	PRINT("%pI6", "2001:0db8:0000:0000:0000:0000:0000:0001", "%pI6", (const void *)ip6);
	PRINT("%pI6c", "2001:db8::1", "%pI6c", (const void *)ip6);
	PRINT("%pIS", "10.0.0.1", "%pIS", (const void *)&in);
	PRINT("%pISpc", "10.0.0.1:80 [2001:db8::1]:443", "%pISpc %pISpc", (const void *)&in,
	      (const void *)&in6);
	PRINT("%pIS and letters after it", "10.0.0.1 pc", "%pIS pc", (const void *)&in);
	PRINT("%pIS of another family", "(einval)", "%pISpc", (const void *)&other);
	PRINT("%pI4 in other orders", "32.1.13.184 184.13.1.32 032.001.013.184", "%pI4n %pI4l %pi4",
	      (const void *)ip6, (const void *)ip6, (const void *)ip6);
	PRINT("%pi6", "20010db8000000000000000000000001", "%pi6", (const void *)ip6);
	PRINT("%pM", "00:11:22:33:44:55", "%pM", (const void *)uuid);
	PRINT("%pMF, %pMR, %pm, %pmR",
	      "00-11-22-33-44-55 55:44:33:22:11:00 001122334455 554433221100", "%pMF %pMR %pm %pmR",
	      (const void *)uuid, (const void *)uuid, (const void *)uuid, (const void *)uuid);
	PRINT("%pe", "-EINVAL -4000 0x10", "%pe %pe %pe", (const void *)-22L, (const void *)-4000L,
	      (const void *)16);
	PRINT("%pU", "00112233-4455-6677-8899-aabbccddeeff 33221100-5544-7766-8899-AABBCCDDEEFF",
	      "%pU %pUL", (const void *)uuid, (const void *)uuid);
	PRINT("%*ph", "00 11 22|001122|00:11|00-11|00", "%*ph|%*phN|%2phC|%2phD|%ph", 3,
	      (const void *)uuid, 3, (const void *)uuid, (const void *)uuid, (const void *)uuid,
	      (const void *)uuid);
	PRINT("%*ph: nothing", "", "%*ph", 0, (const void *)uuid);
	PRINT("of nothing", "(null)", "%pI4", (const void *)NULL);
	PRINT("what is not known is an address", "0x10!", "%pXYZ!", (const void *)0x10);
}

static void test_room(void)
{
	static const unsigned char bytes[2000];
	struct trace_seq *s = fresh();
	const char *first = tap_print_hex(s, bytes, 2, true),
		   *second = tap_print_hex(s, bytes, 2, false);

	check("two texts stand beside each other", first, "00 00");
	check("and so does the second", second, "0000");
	tap_print_hex(fresh(), bytes, sizeof(bytes), true);
	check("a text longer than there is room is cut",
	      strlen(seq.text) == sizeof(seq.text) - 1 ? "cut" : "not", "cut");
	check("what follows it is empty", tap_print_hex(&seq, bytes, 2, true), "");
}

static void test_cut(void)
{
	static const struct {
		const char *name, *text;
		size_t room;
		const char *want;
	} cases[] = {
		{ "cut: a text that fits stays", "abc", 20, "abc" },
		{ "cut: just fits", "abc", 4, "abc" },
		{ "cut: a mark stands at the end", "abcdefghijkl", 10, "abcd[cut]" },
		{ "cut: no room for the mark", "abcdefghijkl", 6, "abcde" },
		{ "cut: room for a NUL alone", "abc", 1, "" },
	};

	for (size_t i = 0; i < TABLE(cases); i++) {
		char to[32] = "";

		tap_put_cut_text(to, cases[i].text, cases[i].room);
		check(cases[i].name, to, cases[i].want);
	}
}

int main(void)
{
	test_flags();
	test_symbolic();
	test_bytes();
	test_bitmask();
	test_hex_dump();
	test_numbers();
	test_pointers();
	test_room();
	test_cut();
	printf("1..%d\n", nr);
	return failed != 0;
}
