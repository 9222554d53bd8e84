// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "file/symbol/demangle.h"

#define TABLE(t) (sizeof(t) / sizeof((t)[0]))

static void test_names(void **state)
{
	static const struct {
		const char *symbol, *want;
	} cases[] = {
		{ "main", "main" },
		{ "", "" },
		{ "read@@GLIBC_2.2.5", "read" },
		{ "memcpy@GLIBC_2.14", "memcpy" },
		{ "@", "@" },
		{ "_Z3fooi", "foo" },
		{ "_ZN9wikipedia7article6formatEv", "wikipedia::article::format" },
		{ "_ZNSt6vectorIiSaIiEE9push_backERKi",
		  "std::vector<int, std::allocator<int> >::push_back" },
		{ "_ZN4core3fmt9Formatter3pad17h0123456789abcdefE", "core::fmt::Formatter::pad" },
		{ "_RNvC6_123foo3bar", "123foo::bar" },
		{ "_RNvMs_CsXXXXXXXXXXX_5helloNtB4_5Thing3run", "<hello::Thing>::run" },
		/* no names of a compiler */
		{ "_Z", "_Z" },
		{ "_ZN", "_ZN" },
		{ "_R", "_R" },
		{ "_Read", "_Read" },
		{ "_Zebra@V1", "_Zebra" },
	};

	(void)state;
	for (size_t i = 0; i < TABLE(cases); i++) {
		char out[TAP_DEMANGLED_MAX];
		size_t len = tap_demangle(cases[i].symbol, out);

		if (len != strlen(cases[i].want) || memcmp(out, cases[i].want, len))
			fail_msg("'%s': '%.*s', not '%s'", cases[i].symbol, (int)len, out,
				 cases[i].want);
	}
}

/* Each template argument p<x, x> has the one before it as x, twice: c++filt prints 2^30 names for
 * these 400 characters. */
static void test_bomb(void **state)
{
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	char symbol[1024] = "_Z1fI1a1pIS0_S0_E", out[TAP_DEMANGLED_MAX];
	size_t len = strlen(symbol);

	(void)state;
	for (int i = 2; i < 32; i++)
		len += (size_t)snprintf(symbol + len, sizeof(symbol) - len, "S1_IS%c_S%c_E",
					digits[i], digits[i]);
	snprintf(symbol + len, sizeof(symbol) - len, "Evv");
	assert_int_equal(tap_demangle(symbol, out), TAP_DEMANGLED_MAX);
	assert_memory_equal(out, "f<a, p<a, a>, p<p<a, a>, p<a, a> >", 34);
}

static void test_long(void **state)
{
	char symbol[3000], out[TAP_DEMANGLED_MAX];

	(void)state;
	memset(symbol, 'x', sizeof(symbol) - 1);
	symbol[sizeof(symbol) - 1] = '\0';
	assert_int_equal(tap_demangle(symbol, out), TAP_DEMANGLED_MAX);
	assert_memory_equal(out, "xxxx", 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_bomb),
		cmocka_unit_test(test_long),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("demangle", tests, NULL, NULL);
}
