/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A test that cannot run here: `return skip_test("no clang");`. */
#ifndef TAP_TESTS_SKIP_TEST_H
#define TAP_TESTS_SKIP_TEST_H

#include <stdio.h>

/* cmocka's skip() says "not ok", which is a failure; tests/run counts this. */
static inline void skip_test(const char *why)
{
	fprintf(stderr, "# SKIP %s\n", why);
}

#endif
