// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "event/expr/kernel_glob.h"

#include <ctype.h>
#include <string.h>

static void put(char c, struct tap_buf *out)
{
	if (strchr("\\[]^-!", c))
		tap_buf_char(out, '\\');
	tap_buf_char(out, c);
}

/* A set; what comes first in it is never its end. Return: behind it; NULL: it has no end, so that
 * its '[' is a letter. */
static const char *read_set(const char *p, struct tap_buf *out)
{
	tap_buf_char(out, '[');
	if (*++p == '!')
		tap_buf_char(out, *p++);
	do {
		if (!*p)
			return NULL;
		put(*p, out);
		if (p[1] == '-' && p[2] && p[2] != ']') {
			tap_buf_char(out, '-');
			put(p[2], out);
			p += 2;
		}
	} while (*++p != ']');
	tap_buf_char(out, ']');
	return p + 1;
}

void tap_kernel_glob_read(const char *glob, struct tap_buf *out)
{
	while (*glob) {
		size_t before = out->len;
		const char *end = *glob == '[' ? read_set(glob, out) : NULL;

		if (!end) {
			out->len = before;
			if (*glob == '[')
				tap_buf_char(out, '\\');
			tap_buf_char(out, *glob);
			if (*glob == '\\' && glob[1])
				tap_buf_char(out, *++glob);
			end = glob + 1;
		}
		glob = end;
	}
}

const char *tap_kernel_glob_prefix(const char *glob)
{
	return *glob == '*' ? "**" : isdigit((unsigned char)*glob) ? "\\" : "";
}
