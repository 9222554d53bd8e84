/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* WORD(a, b, ...), which is what a header of events is made of, and WORD(...) inside it. */
#ifndef TAP_DEFINE_CALL_H
#define TAP_DEFINE_CALL_H

#include "event/define/preprocess.h"

#define TAP_CALL_MAX_ARGS 20u

/* Tokens in a row. @at: where to point if there are none. */
struct tap_part {
	const struct tap_token *v;
	unsigned int nr;
	struct tap_token at;
};

struct tap_call {
	struct tap_token name;
	struct tap_part all; /* between the parentheses */
	struct tap_part args[TAP_CALL_MAX_ARGS];
	unsigned int nr_args;
};

/*
 * The call that begins with @of->v[*i]; *i becomes what is behind it. Between "(" and ")" there are
 * no arguments, not one that is empty. Return: whether it is a call; else there was an error, as in
 * those below.
 */
bool tap_call_take(struct tap_pp *pp, const struct tap_part *of, unsigned int *i,
		   struct tap_call *c);
/* The part as WORD(...), and no more. */
bool tap_call_only(struct tap_pp *pp, const struct tap_part *part, const char *word,
		   struct tap_call *c);
/* The one word that the part is. @what: "a field's name". */
bool tap_call_name(struct tap_pp *pp, const struct tap_part *part, const char *what,
		   struct span *name);
/* @form: what the arguments are, for the error. */
bool tap_call_has(struct tap_pp *pp, const struct tap_call *c, unsigned int nr_args,
		  const char *form);

#endif
