// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>

#include "event/expr/parse.h"

#define TABLE(t) (sizeof(t) / sizeof((t)[0]))

static const char text[] = "name: e\nID: 77\nformat:\n"
			   "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
			   "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
			   "\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
			   "\tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;\n"
			   "\tfield:int prio;\toffset:28;\tsize:4;\tsigned:1;\n"
			   "\tfield:double load;\toffset:32;\tsize:8;\tsigned:1;\n";

static struct tap_format *parse_format(void)
{
	const struct tap_abi abi = { .big_endian = true, .long_size = 8 };
	struct tap_format *fmt;

	assert_int_equal(tap_format_parse("s", text, strlen(text), abi, &fmt, NULL), 0);
	return fmt;
}

/* A filter is one expression that takes up the whole text. */
static void test_whole_text(void **state)
{
	static const struct {
		const char *text;
		enum expr_class class;
		uint64_t want; /* of a number */
		bool unknown;
	} cases[] = {
		{ "REC->pid", EXPR_NUMBER, 4242 },
		{ " REC->pid == 4242 && REC->prio < 0 ", EXPR_NUMBER, 1 },
		{ "REC->pid == 4242 && REC->prio > 0", EXPR_NUMBER, 0 },
		{ "REC->prio", EXPR_NUMBER, UINT64_MAX },
		{ "(unsigned int)REC->prio", EXPR_NUMBER, UINT32_MAX },
		{ "REC->comm[0] == 's'", EXPR_NUMBER, 1 },
		{ "REC->pid & (1 << 7) ? 2 : 3", EXPR_NUMBER, 2 },
		{ "1 + 0x0A", EXPR_NUMBER, 11 },
		{ "HZ + REC->pid", EXPR_NUMBER, 0, true },
		{ "REC->load", EXPR_REAL },
		{ "REC->comm", EXPR_BYTES },
		{ "REC->pid ? \"a\" : \"b\"", EXPR_TEXT },
	};
	struct tap_format *fmt = parse_format();
	unsigned char rec[40] = { [8] = 's', [26] = 4242 >> 8, 4242 & 255, 255, 255, 255, 255 };

	(void)state;
	for (size_t i = 0; i < TABLE(cases); i++) {
		struct expr_parser p;
		struct expr_prog prog;
		struct expr_run run = { &prog, rec, sizeof(rec) };
		uint32_t n;

		tap_expr_begin(&p, fmt, cases[i].text, &prog);
		n = tap_expr_parse(&p);
		if (tap_expr_end(&p) || prog.nodes[n].class != cases[i].class ||
		    prog.nodes[n].unknown != cases[i].unknown)
			fail_msg("%s: %d", cases[i].text, p.err);
		if (cases[i].class == EXPR_NUMBER && !cases[i].unknown &&
		    tap_expr_eval(&run, n) != cases[i].want)
			fail_msg("%s: %#jx", cases[i].text, (uintmax_t)tap_expr_eval(&run, n));
		tap_expr_release(&prog);
	}
	tap_format_free(fmt);
}

static void test_refused(void **state)
{
	static const char *const cases[] = {
		"",
		"REC->pid REC->pid",
		"REC->pid == ",
		"REC->nobody",
		"(REC->pid",
		"REC->pid)",
		"08",
		"0x",
		"99999999999999999999",
		"REC->comm == 1",
		"f(REC->pid)",
		"REC->load + 1",
		"1,",
	};
	struct tap_format *fmt = parse_format();

	(void)state;
	for (size_t i = 0; i < TABLE(cases); i++) {
		struct expr_parser p;
		struct expr_prog prog;

		tap_expr_begin(&p, fmt, cases[i], &prog);
		tap_expr_parse(&p);
		if (tap_expr_end(&p) != -EINVAL || prog.nodes || prog.texts)
			fail_msg("%s: %d", cases[i], p.err);
	}
	tap_format_free(fmt);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole_text),
		cmocka_unit_test(test_refused),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
