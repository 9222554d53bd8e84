/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* One TAP line for each text. */
#ifndef TAP_TEST_CHECK_TEXT_H
#define TAP_TEST_CHECK_TEXT_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define TABLE(t) (sizeof(t) / sizeof((t)[0]))

static int nr, failed;

static void check(const char *name, const char *got, const char *want)
{
	bool ok = !strcmp(got, want);

	printf("%sok %d - %s\n", ok ? "" : "not ", ++nr, name);
	if (!ok)
		fprintf(stderr, "# got  <%s>\n# want <%s>\n", got, want);
	failed += !ok;
}

#endif
