/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Checks an invariant for any input. Not assert(), which NDEBUG would remove. */
#ifndef TAP_TESTS_FUZZ_CHECK_H
#define TAP_TESTS_FUZZ_CHECK_H

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK(what)                                                                                \
	do {                                                                                       \
		if (!(what)) {                                                                     \
			fprintf(stderr, "%s:%d: not so: %s\n", __func__, __LINE__, #what);         \
			abort();                                                                   \
		}                                                                                  \
	} while (0)

/* Return the number of open descriptors. Comparing it before and after shows a leaked one. */
static inline unsigned int count_descriptors(void)
{
	struct pollfd all[200];
	unsigned int nr = 0;

	for (int fd = 0; fd < 200; fd++)
		all[fd] = (struct pollfd){ .fd = fd };
	poll(all, 200, 0);
	for (int fd = 0; fd < 200; fd++)
		nr += !(all[fd].revents & POLLNVAL);
	return nr;
}

#endif
