/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What must hold whatever the input is: not an assert(), which NDEBUG would take away. */
#ifndef TAP_TESTS_FUZZ_CHECK_H
#define TAP_TESTS_FUZZ_CHECK_H

#include <stdio.h>
#include <stdlib.h>

#define CHECK(what)                                                                                \
	do {                                                                                       \
		if (!(what)) {                                                                     \
			fprintf(stderr, "%s:%d: not so: %s\n", __func__, __LINE__, #what);         \
			abort();                                                                   \
		}                                                                                  \
	} while (0)

#endif
