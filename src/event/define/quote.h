/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tokens converted to text, as gcc's # operator does and the tables of events/ contain it, with the
 * source position of each token.
 */
#ifndef TAP_DEFINE_QUOTE_H
#define TAP_DEFINE_QUOTE_H

#include "event/define/arena.h"
#include "event/define/call.h"

/* The source position of the text that starts at offset @from. */
struct tap_place {
	uint32_t from;
	uint32_t at;
	const struct tap_source *source;
};

struct tap_quote {
	const char *s;
	const struct tap_place *places; /* in rising order of .from */
	unsigned int nr;
};

/* Convert the tokens to text; __entry becomes REC. Return: false after an error. */
bool tap_quote_make(struct tap_pp *pp, struct tap_arena *arena, const struct tap_part *part,
		    struct tap_quote *q);
/* Return the place of the token at @at, a pointer into q->s; NULL if @at points elsewhere. */
const struct tap_place *tap_quote_place(const struct tap_quote *q, const char *at);

#endif
