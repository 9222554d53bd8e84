/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Parts of a text, not NUL-terminated. */
#ifndef TAP_EVENT_SPAN_H
#define TAP_EVENT_SPAN_H

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct span {
	const char *s;
	size_t len;
};

static inline bool span_is(struct span a, const char *s)
{
	return a.len == strlen(s) && !memcmp(a.s, s, a.len);
}

static inline bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static inline struct span trim(struct span t)
{
	while (t.len && isspace((unsigned char)t.s[0]))
		t = (struct span){ t.s + 1, t.len - 1 };
	while (t.len && isspace((unsigned char)t.s[t.len - 1]))
		t.len--;
	return t;
}

#endif
