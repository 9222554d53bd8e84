/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Undo tap_text_escape(), with which schedtap dump prints texts. */
#ifndef TAP_FILE_TEXT_UNESCAPE_H
#define TAP_FILE_TEXT_UNESCAPE_H

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

#endif
