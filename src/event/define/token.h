/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tokens of C. */
#ifndef TAP_DEFINE_TOKEN_H
#define TAP_DEFINE_TOKEN_H

#include <stdbool.h>

#include "event/define/source.h"
#include "event/span.h"

enum tap_token_kind {
	TOKEN_END, /* end of a file, or after an error */
	TOKEN_LINE_END,
	TOKEN_WORD,
	TOKEN_NUMBER,
	TOKEN_STRING, /* with its quotes */
	TOKEN_CHAR,
	TOKEN_SIGN,
	TOKEN_OPEN, /* an unterminated string or comment */
	/*
	 * not a real token: a border of a macro's expansion with its white space (gcc's
	 * CPP_PADDING)
	 */
	TOKEN_GAP,
};

/* Whether white space precedes a token. SPACE_NEXT, for a gap only: the next token decides. */
enum tap_space { SPACE_NO, SPACE_YES, SPACE_NEXT };

struct tap_token {
	struct span text;
	/* where it was written; for a token of a macro, the macro's body */
	const struct tap_source *source;
	uint32_t at;
	uint8_t kind, space;
	bool line_begin; /* first token of its line */
	bool fixed; /* must not be expanded as a macro any more */
};

static inline bool token_is(const struct tap_token *t, const char *text)
{
	return (t->kind == TOKEN_SIGN || t->kind == TOKEN_WORD) && span_is(t->text, text);
}

struct tap_tokens {
	struct tap_token *v;
	unsigned int nr, cap;
};

/* Set kind and text of the token that starts at @s, which must not be white space or a comment. */
void tap_token_scan(const char *s, struct tap_token *t);

/*
 * Read the token at or after *@at and move *@at to its end. @in_line: stop at the end of the line.
 * The text of @s must be NUL-terminated.
 */
void tap_token_next(const struct tap_source *s, uint32_t *at, bool in_line, struct tap_token *t);

#endif
