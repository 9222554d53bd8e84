/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* C's tokens. */
#ifndef TAP_DEFINE_TOKEN_H
#define TAP_DEFINE_TOKEN_H

#include <stdbool.h>

#include "event/define/source.h"
#include "event/span.h"

enum tap_token_kind {
	TOKEN_END, /* of a file, or behind an error */
	TOKEN_LINE_END,
	TOKEN_WORD,
	TOKEN_NUMBER,
	TOKEN_STRING, /* with its quotes */
	TOKEN_CHAR,
	TOKEN_SIGN,
	TOKEN_OPEN, /* a string or a comment that does not end */
	/* no token: of the white space where a macro was, and the next token is one of its text */
	TOKEN_GAP,
};

/* Whether white space stands before a token; of a gap also that it leaves that to the next one. */
enum tap_space { SPACE_NO, SPACE_YES, SPACE_NEXT };

struct tap_token {
	struct span text;
	const struct tap_source
		*source; /* where it is written: in a macro's body, if it comes from there */
	uint32_t at;
	uint8_t kind, space;
	bool line_begin; /* it is the first one in its line */
	bool fixed; /* never a macro's name again */
};

static inline bool token_is(const struct tap_token *t, const char *text)
{
	return (t->kind == TOKEN_SIGN || t->kind == TOKEN_WORD) && span_is(t->text, text);
}

struct tap_tokens {
	struct tap_token *v;
	unsigned int nr, cap;
};

/* Sets kind and text of the token that begins with @s, which is no white space, and its kind. */
void tap_token_scan(const char *s, struct tap_token *t);

/*
 * The token at *@at or behind it. @in_line: not beyond the line.
 * Text with a NUL at its end is what @s has.
 */
void tap_token_next(const struct tap_source *s, uint32_t *at, bool in_line, struct tap_token *t);

#endif
