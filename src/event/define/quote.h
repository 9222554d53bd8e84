/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tokens as text, as gcc's # operator has it and the readings of events/ use it, with the place of
 * each. */
#ifndef TAP_DEFINE_QUOTE_H
#define TAP_DEFINE_QUOTE_H

#include "event/define/arena.h"
#include "event/define/call.h"

/* From where in the text something comes from where. */
struct tap_place {
	uint32_t from;
	uint32_t at;
	const struct tap_source *source;
};

struct tap_quote {
	const char *s;
	const struct tap_place *places; /* in order */
	unsigned int nr;
};

/* Adds the tokens; __entry becomes REC. Return: false behind an error. */
bool tap_quote_make(struct tap_pp *pp, struct tap_arena *arena, const struct tap_part *part,
		    struct tap_quote *q);
/* Return: NULL: @at is not in it. */
const struct tap_place *tap_quote_place(const struct tap_quote *q, const char *at);

#endif
