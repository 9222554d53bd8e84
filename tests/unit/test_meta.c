// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What a description says of itself without being parsed: whether its recording was ended, and its
 * format. */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>

#include "file/meta.h"
#include "main_of_cases.h"

static const struct meta_case {
	const char *name, *text;
	bool is_incomplete;
	int format; /* of tap_meta_check_format() */
} cases[] = {
	{ "ended", "{\"tool\":\"x\",\"complete\":true}" },
	{ "not ended", "{\"tool\":\"x\",\"complete\":false}", true },
	{ "with blanks", "{ \"complete\" :\n\t false }", true },
	{ "no such key", "{\"tool\":\"x\"}" },
	{ "another value", "{\"complete\":null}" },
	{ "a text that looks like the key", "{\"a\":\"\\\"complete\\\":false\"}" },
	{ "a value that is called so", "{\"a\":[\"complete\",false]}" },
	{ "cut", "{\"complete\"" },
	{ "empty", "" },
	{ "today's format", "{\"format\":1}" },
	{ "a newer format", "{\"tool\":\"schedtap 9\",\"format\":2}", .format = -ENOTSUP },
	{ "of an unknown tool", "{\"format\":2}", .format = -ENOTSUP },
	{ "the format of something else", "{\"later\":{\"format\":2}}" },
	{ "a format that is no number", "{\"format\":\"2\"}" },
	{ "damaged", "{\"format\":2" },
};

static void run_case(void **state)
{
	const struct meta_case *c = *state;
	struct tap_err err = { 0 };

	assert_int_equal(tap_meta_is_incomplete(c->text), c->is_incomplete);
	assert_int_equal(tap_meta_check_format(c->text, &err), c->format);
	assert_int_equal(!!err.text[0], !!c->format);
}

MAIN_OF_CASES(cases, run_case)
