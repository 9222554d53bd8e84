// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "event/expr/kernel_glob.h"

#include <ctype.h>
#include <string.h>

static void put_char(char c, struct tap_buf *out)
{
	if (strchr("\\[]^-!", c))
		tap_buf_char(out, '\\');
	tap_buf_char(out, c);
}

/*
 * Convert a [set]. The first character in it never ends it. Return: its end; NULL if ']' is
 * missing, so that '[' is a plain character.
 */
static const char *read_set(const char *p, struct tap_buf *out)
{
	tap_buf_char(out, '[');
	if (*++p == '!')
		tap_buf_char(out, *p++);
	do {
		if (!*p)
			return NULL;
		put_char(*p, out);
		if (p[1] == '-' && p[2] && p[2] != ']') {
			tap_buf_char(out, '-');
			put_char(p[2], out);
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
