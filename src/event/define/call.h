/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Calls, WORD(a, b, ...): the statements of a header with events, and the calls nested in them. */
#ifndef TAP_DEFINE_CALL_H
#define TAP_DEFINE_CALL_H

#include "event/define/preprocess.h"

#define TAP_CALL_MAX_ARGS 20u

/* Consecutive tokens. @at: the position for errors if there are none. */
struct tap_part {
	const struct tap_token *v;
	unsigned int nr;
	struct tap_token at;
};

struct tap_call {
	struct tap_token name;
	struct tap_part all; /* all tokens between the parentheses */
	struct tap_part args[TAP_CALL_MAX_ARGS];
	unsigned int nr_args;
};

/*
 * Parse the call that starts at @of->v[*i] and move *i after it. "()" has no arguments, rather than
 * one empty argument. Return: true; false after an error, which was reported to @pp. The functions
 * below do the same.
 */
bool tap_call_take(struct tap_pp *pp, const struct tap_part *of, unsigned int *i,
		   struct tap_call *c);
/* Parse a part that consists only of WORD(...). */
bool tap_call_only(struct tap_pp *pp, const struct tap_part *part, const char *word,
		   struct tap_call *c);
/*
 * Read a part that is a single name. @what: its description for errors, such as "a field's name".
 */
bool tap_call_name(struct tap_pp *pp, const struct tap_part *part, const char *what,
		   struct span *name);
/* Check the number of arguments. @form: their description for errors. */
bool tap_call_has(struct tap_pp *pp, const struct tap_call *c, unsigned int nr_args,
		  const char *form);

#endif
