// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>

#include "event/print/bin.h"
#include "event/print/print.h"

#define TABLE(t) (sizeof(t) / sizeof((t)[0]))

static const char printk[] = "0xffff000000002000 : \"two\\n\"\n"
			     "0xffff000000001000 : \"a \\\"q\\\" \\t%d\\n\\n\"\n"
			     "0xffff000000001000 : \"again\"\n"
			     "0xffff000000003000 : \"\"\n"
			     "0xffff000000004000 : \"back\\slash\\\"\n"
			     "0xffff000000005000 \"no colon\"\n"
			     "0xffff000000006000 : \"no end\n"
			     "11112222333344445 : \"more than 64 bits\"\n"
			     " : \"no number\"\n"
			     "0xffff000000007000 : \"the last\"";

static const char kallsyms[] = "0000000000000000 T hidden\n"
			       "0000000000001000 A per_cpu\n"
			       "0000000000001800 a per_cpu_too\n"
			       "ffff000000002000 T two\n"
			       "ffff000000001000 t one\n"
			       "ffff000000001000 T alias\n"
			       "ffff000000001010 t $x\n"
			       "ffff000000003000 t in_module\t[mod]\n"
			       "ffff000000003800\n"
			       "ffff000000003900 T\n"
			       "ffff000000003a00 T \n"
			       "ffff000000004000 D last";

static struct tap_symbols *make(void)
{
	struct tap_symbols *s;

	assert_int_equal(tap_symbols_new(printk, kallsyms, &s), 0);
	return s;
}

static void test_texts(void **state)
{
	static const struct {
		const char *name;
		uint64_t addr;
		const char *want;
	} cases[] = {
		{ "one newline at the end goes", 0xffff000000002000, "two" },
		{ "escapes; the first of an address", 0xffff000000001000, "a \"q\" \t%d\n" },
		{ "an empty text", 0xffff000000003000, "" },
		{ "a backslash stays", 0xffff000000004000, "back\\slash\\" },
		{ "a line without a colon is none", 0xffff000000005000, NULL },
		{ "a text without an end is none", 0xffff000000006000, NULL },
		{ "an address above 64 bits is none", UINT64_MAX, NULL },
		{ "no newline after the last", 0xffff000000007000, "the last" },
		{ "between two", 0xffff000000001001, NULL },
		{ "before all", 1, NULL },
	};
	struct tap_symbols *s = make();

	(void)state;
	for (size_t i = 0; i < TABLE(cases); i++) {
		const char *got = tap_symbols_text(s, cases[i].addr);

		if (!got != !cases[i].want || (got && strcmp(got, cases[i].want)))
			fail_msg("%s: '%s'", cases[i].name, got ? got : "(none)");
	}
	tap_symbols_free(s);
}

static void test_names(void **state)
{
	static const struct {
		const char *name;
		uint64_t addr;
		const char *want;
		uint64_t offset;
	} cases[] = {
		{ "at its start; the first of two", 0xffff000000001000, "one" },
		{ "inside; marks do not count", 0xffff000000001014, "one", 0x14 },
		{ "up to the next", 0xffff000000001fff, "one", 0xfff },
		{ "unsorted lines", 0xffff000000002004, "two", 4 },
		{ "without its module", 0xffff000000003001, "in_module", 1 },
		{ "broken lines are passed over", 0xffff000000003a00, "in_module", 0xa00 },
		{ "the last begins", 0xffff000000004000, "last" },
		{ "it is unknown where the last ends", 0xffff000000004001, NULL },
		{ "before the first", 0xffff000000000fff, NULL },
		{ "absolute ones are none", 0x1000, NULL },
		{ "zero is none", 0, NULL },
	};
	struct tap_symbols *s = make();

	(void)state;
	for (size_t i = 0; i < TABLE(cases); i++) {
		uint64_t offset = 0;
		const char *got = tap_symbols_name(s, cases[i].addr, &offset);

		if (!got != !cases[i].want || (got && strcmp(got, cases[i].want)) ||
		    offset != cases[i].offset)
			fail_msg("%s: '%s' + %#llx", cases[i].name, got ? got : "(none)",
				 (unsigned long long)offset);
	}
	tap_symbols_free(s);
}

static void test_damaged(void **state)
{
	(void)state;
	srandom(1);
	for (unsigned int i = 0; i < 4000; i++) {
		char a[sizeof(printk)], b[sizeof(kallsyms)];
		struct tap_symbols *s;
		uint64_t offset;

		memcpy(a, printk, sizeof(a));
		memcpy(b, kallsyms, sizeof(b));
		for (unsigned int j = 0; j < 4; j++) {
			a[(size_t)random() % (sizeof(a) - 1)] = (char)random();
			b[(size_t)random() % (sizeof(b) - 1)] = (char)random();
		}
		assert_int_equal(tap_symbols_new(a, b, &s), 0);
		for (uint64_t addr = 0xffff000000000800; addr < 0xffff000000008000; addr += 0x400) {
			const char *got = tap_symbols_text(s, addr);

			assert_true(!got || strlen(got) < sizeof(a));
			got = tap_symbols_name(s, addr, &offset);
			assert_true(!got || (*got && strlen(got) < sizeof(b)));
		}
		tap_symbols_free(s);
	}
}

/* Arguments as bytes: of a little-endian kernel with 64 bits, but where the case says other. */
struct bin_case {
	const char *name, *fmt;
	const char *args;
	uint32_t len;
	const char *want;
	bool big_endian;
	uint8_t long_size;
};

#define ARGS(s) (s), sizeof(s) - 1

static const struct bin_case bin_cases[] = {
	{ "no arguments", "100%% plain", ARGS(""), "100% plain" },
	{ "words", "%d %u %x", ARGS("\xff\xff\xff\xff\x05\0\0\0\xab\0\0\0"), "-1 5 ab" },
	{ "8 bytes are aligned to 4", "%d %lu %llx",
	  ARGS("\1\0\0\0\2\0\0\0\0\0\0\0\3\0\0\0\1\0\0\0"), "1 2 100000003" },
	{ "a long of 32 bits", "%ld %d %lld", ARGS("\xfe\xff\xff\xff\1\0\0\0\3\0\0\0\0\0\0\0"),
	  "-2 1 3", .long_size = 4 },
	{ "big endian", "%d %lu", ARGS("\0\0\0\1\0\0\0\0\0\0\0\2"), "1 2", .big_endian = true },
	{ "a number after a text is aligned", "%s=%d", ARGS("abcd\0\0\0\0\7\0\0\0"), "abcd=7" },
	{ "a text after a text is not", "%s%s|%d", ARGS("a\0bc\0\0\0\0\7\0\0\0"), "abc|7" },
	{ "width and precision of a text", "%5s|%-5s|%.2s|", ARGS("ab\0cd\0efg\0"),
	  "   ab|cd   |ef|" },
	{ "width and precision as arguments", "%*d|%.*s|", ARGS("\4\0\0\0\7\0\0\0\1\0\0\0xyz\0"),
	  "   7|x|" },
	{ "a negative width is to the left", "%*d|", ARGS("\xfc\xff\xff\xff\7\0\0\0"), "7   |" },
	{ "flags", "%05d|%-4d|%+d|%#x", ARGS("\7\0\0\0\7\0\0\0\7\0\0\0\7\0\0\0"),
	  "00007|7   |+7|0x7" },
	{ "short ones are cut", "%hd %hhu", ARGS("\xff\xff\1\0\1\2\3\4"), "-1 1" },
	{ "a character is one byte", "%c%c|%3c", ARGS("abc"), "ab|  c" },
	{ "a pointer", "%p %px", ARGS("\0\x20\0\0\0\0\xff\xff\1\0\0\0\0\0\0\0"),
	  "0xffff000000002000 0x1" },
	{ "a name", "%ps %pS", ARGS("\4\x20\0\0\0\0\xff\xff\4\x20\0\0\0\0\xff\xff"),
	  "two two+0x4" },
	{ "a return address belongs to what is before it", "%pB %pB %pS",
	  ARGS("\0\x20\0\0\0\0\xff\xff\4\x20\0\0\0\0\xff\xff\0\x20\0\0\0\0\xff\xff"),
	  "one+0x1000 two+0x4 two+0x0" },
	{ "names of older kernels", "%pf %pF", ARGS("\4\x20\0\0\0\0\xff\xff\4\x20\0\0\0\0\xff\xff"),
	  "two two+0x4" },
	{ "an address without a name", "%ps|", ARGS("\1\0\0\0\0\0\0\0"), "0x1|" },
	{ "what the kernel followed is a text", "%pI4 %d", ARGS("10.0.0.1\0\0\0\0\5\0\0\0"),
	  "10.0.0.1 5" },
	{ "an argument is missing", "%d %d %s", ARGS("\1\0\0\0"), "1 ? ?" },
	{ "an argument is cut", "%lld %d", ARGS("\1\0\0\0"), "? ?" },
	{ "a text without an end", "%s %d", ARGS("abc"), "? ?" },
	{ "a character is missing", "%c", ARGS(""), "?" },
	{ "an unknown conversion, and all after it", "%g %d", ARGS("\1\0\0\0\1\0\0\0"), "? ?" },
	{ "the format ends in a conversion", "a%", ARGS("\1\0\0\0"), "a?" },
	{ "the format ends in a length", "a%ll", ARGS("\1\0\0\0"), "a?" },
	{ "a width beyond all bounds", "%99999999999999999999d|%s", ARGS("\1\0\0\0a\0"), NULL },
};

static void run_bin(const struct bin_case *c, const struct tap_symbols *s, const void *args,
		    uint32_t len, struct tap_buf *out)
{
	struct tap_abi abi = { c->big_endian, c->long_size ? c->long_size : 8 };
	unsigned char *copy = malloc(len); /* of its own size: so the sanitizer sees all */

	assert_true(copy || !len);
	if (len)
		memcpy(copy, args, len);
	tap_buf_clear(out);
	tap_print_bin(c->fmt, copy, len, abi, s, out);
	free(copy);
}

static void test_bin(void **state)
{
	struct tap_symbols *s = make();
	struct tap_buf out = { 0 };

	(void)state;
	srandom(2);
	for (size_t i = 0; i < TABLE(bin_cases); i++) {
		const struct bin_case *c = &bin_cases[i];

		run_bin(c, s, c->args, c->len, &out);
		if (c->want && strcmp(tap_buf_str(&out), c->want))
			fail_msg("%s: got <%s>, want <%s>", c->name, out.data, c->want);
		if (!c->want)
			assert_int_equal(out.len, 1024 + strlen("|a"));
		for (unsigned int j = 0; j < 200; j++) {
			uint32_t garbage[16];

			for (size_t k = 0; k < TABLE(garbage); k++)
				garbage[k] = (uint32_t)random() << (j & 8);
			run_bin(c, s, garbage, (uint32_t)random() % sizeof(garbage), &out);
			assert_true(!out.err && out.len < 8192);
		}
	}
	tap_buf_release(&out);
	tap_symbols_free(s);
}

/* ---- in a printer */

#define COMMON                                                                                     \
	"ID: 5\nformat:\n\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n"   \
	"\tfield:unsigned long ip;\toffset:8;\tsize:8;\tsigned:0;\n"                               \
	"\tfield:const char * fmt;\toffset:16;\tsize:8;\tsigned:0;\n"

struct message_case {
	const char *name, *text;
	uint64_t ip, fmt;
	const char *rest; /* the record's bytes 24 to 31 */
	const char *with, *without; /* symbols */
};

#define BPRINT                                                                                     \
	"name: bprint\n" COMMON "\tfield:u32 buf;\toffset:24;\tsize:0;\tsigned:0;\n\n"             \
	"print fmt: \"%ps: %s\", (void *)REC->ip, REC->fmt\n"
#define PRINT                                                                                      \
	"name: print\n" COMMON "\tfield:char buf;\toffset:24;\tsize:0;\tsigned:0;\n\n"             \
	"print fmt: \"%ps: %s\", (void *)REC->ip, REC->buf\n"
#define OTHER                                                                                      \
	"name: other\n" COMMON "\n"                                                                \
	"print fmt: \"%s %8s %pS %pf\", REC->fmt, REC->fmt, (void *)REC->ip, (void *)REC->ip\n"

#define BACKTRACE                                                                                  \
	"name: other\n" COMMON "\n"                                                                \
	"print fmt: \"%pB %pSR %ps\", (void *)REC->ip, REC->fmt, (void *)REC->fmt\n"

/* of before Linux 5.14 */
#define FUNCTION                                                                                   \
	"name: function\nID: 5\nformat:\n"                                                         \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n"                   \
	"\tfield:unsigned long ip;\toffset:8;\tsize:8;\tsigned:0;\n"                               \
	"\tfield:unsigned long parent_ip;\toffset:16;\tsize:8;\tsigned:0;\n\n"                     \
	"print fmt: \" %lx <-- %lx\", REC->ip, REC->parent_ip\n"

static const struct message_case message_cases[] = {
	{ "a call", FUNCTION, 0xffff000000002004, 0xffff000000001000, "\0\0\0\0\0\0\0\0",
	  " two <-- one", " 0xffff000000002004 <-- 0xffff000000001000" },
	{ "binary arguments", BPRINT, 0xffff000000002004, 0xffff000000001000, "\7\0\0\0\0\0\0\0",
	  "two: a \"q\" \t7", "0xffff000000002004: 0xffff000000001000" },
	{ "binary arguments without their text", BPRINT, 0xffff000000002004, 0xffff000000009000,
	  "\7\0\0\0\0\0\0\0", "two: 0xffff000000009000", "0xffff000000002004: 0xffff000000009000" },
	{ "binary arguments from nowhere", BPRINT, 0x77, 0xffff000000002000, "\7\0\0\0\0\0\0\0",
	  "0x77: two", "0x77: 0xffff000000002000" },
	{ "a message ends without its newline", PRINT, 0xffff000000002004, 0, "hello\n\0\0",
	  "two: hello", "0xffff000000002004: hello" },
	{ "a return address", BACKTRACE, 0xffff000000002000, 0xffff000000002004, "\0\0\0\0\0\0\0\0",
	  "one+0x1000 two+0x4 two", "0xffff000000002000 0xffff000000002004 0xffff000000002004" },
	{ "a program's address has no name", BACKTRACE, 0x5555000020a4, 0x1000, "\0\0\0\0\0\0\0\0",
	  "0x5555000020a4 0x1000 0x1000", "0x5555000020a4 0x1000 0x1000" },
	{ "a text by address", OTHER, 0xffff000000002004, 0xffff000000002000, "\0\0\0\0\0\0\0\0",
	  "two      two two+0x4 two",
	  "0xffff000000002000 0xffff000000002000 0xffff000000002004 0xffff000000002004" },
};

static void test_messages(void **state)
{
	struct tap_symbols *s = make();

	(void)state;
	for (size_t i = 0; i < TABLE(message_cases); i++) {
		const struct message_case *c = &message_cases[i];
		unsigned char rec[32] = { 5 };
		struct tap_buf out = { 0 };
		struct tap_format *fmt;
		struct tap_printer *p;

		memcpy(rec + 8, &c->ip, 8);
		memcpy(rec + 16, &c->fmt, 8);
		memcpy(rec + 24, c->rest, 8);
		assert_int_equal(tap_format_parse("ftrace", c->text, strlen(c->text),
						  (struct tap_abi){ false, 8 }, &fmt, NULL),
				 0);
		assert_int_equal(tap_printer_new(fmt, &p, NULL), 0);
		tap_printer_run(p, rec, sizeof(rec), &out);
		if (strcmp(tap_buf_str(&out), c->without))
			fail_msg("%s: without: <%s>", c->name, out.data);
		tap_printer_set_symbols(p, s);
		tap_buf_clear(&out);
		tap_printer_run(p, rec, sizeof(rec), &out);
		if (strcmp(tap_buf_str(&out), c->with))
			fail_msg("%s: with: <%s>", c->name, out.data);
		tap_printer_free(p);
		tap_format_free(fmt);
		tap_buf_release(&out);
	}
	tap_symbols_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_texts),	 cmocka_unit_test(test_names),
		cmocka_unit_test(test_damaged),	 cmocka_unit_test(test_bin),
		cmocka_unit_test(test_messages),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
