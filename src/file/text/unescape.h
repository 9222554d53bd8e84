/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Names as programs print them: schedtap dump as tap_text_escape() does, trace-cmd report -R those
 * with control characters as "ARRAY[1b, 5b, 00]".
 */
#ifndef TAP_FILE_TEXT_UNESCAPE_H
#define TAP_FILE_TEXT_UNESCAPE_H

#define TAP_ARRAY_BEGIN "ARRAY["

#include <stdlib.h>

#include "event/span.h"

/* Return @s without its escapes in @out, cut off at @size bytes. Wrong escapes remain. */
static inline struct span tap_unescape(char *out, size_t size, struct span s)
{
	size_t len = 0;

	for (size_t i = 0; i < s.len && len < size; i++) {
		const char *p = s.s + i;
		const size_t left = s.len - i;

		out[len] = *p;
		if (*p == '\\' && left > 1 && (p[1] == '\\' || p[1] == 'n' || p[1] == 't')) {
			out[len] = p[1] == 'n' ? '\n' : p[1] == 't' ? '\t' : '\\';
			i++;
		} else if (*p == '\\' && left > 3 && p[1] == 'x' && isxdigit((unsigned char)p[2]) &&
			   isxdigit((unsigned char)p[3])) {
			const char hex[] = { p[2], p[3], 0 };

			out[len] = (char)strtoul(hex, NULL, 16);
			i += 3;
		}
		len++;
	}
	return (struct span){ out, len };
}

static inline bool tap_is_array(struct span s)
{
	const size_t len = sizeof(TAP_ARRAY_BEGIN) - 1;

	return s.len > len && !memcmp(s.s, TAP_ARRAY_BEGIN, len) && s.s[s.len - 1] == ']';
}

/* Return the bytes of an array, up to its first zero or @size. */
static inline struct span tap_unarray(char *out, size_t size, struct span s)
{
	const char *end = s.s + s.len;
	size_t len = 0;

	for (const char *p = s.s + sizeof(TAP_ARRAY_BEGIN) - 1; end - p >= 3 && len < size;
	     p += 4) {
		const char hex[] = { p[0], p[1], 0 };

		out[len] = (char)strtoul(hex, NULL, 16);
		if (!out[len])
			break;
		len++;
		if (end - p < 4)
			break;
	}
	return (struct span){ out, len };
}

#endif
