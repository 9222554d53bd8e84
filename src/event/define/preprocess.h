/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The C preprocessor, for headers that define events: it returns the tokens that a compiler would
 * see, each with its position in the file. The white space between tokens is the same as in the
 * output of gcc's # operator.
 *
 * Macros of the event headers that mean the same in every reading (PARAMS(), tp_if()) are
 * predefined, as is TRACE_HEADER_MULTI_READ, with which include guards have no effect. #include
 * <...> is ignored.
 */
#ifndef TAP_DEFINE_PREPROCESS_H
#define TAP_DEFINE_PREPROCESS_H

#include "event/define/token.h"

struct tap_pp;

/*
 * Create a preprocessor that reads @first. @sources: the list that contains @first; included files
 * are added to it. Return: 0 or -ENOMEM.
 */
int tap_pp_new(struct tap_pp **out, struct tap_source **sources, const struct tap_source *first,
	       struct tap_err *err);
void tap_pp_free(struct tap_pp *pp);

/*
 * Read the next token, which is valid as long as @pp. Its kind is TOKEN_END at the end of the file
 * and after an error.
 */
void tap_pp_next(struct tap_pp *pp, struct tap_token *t);
/*
 * Add the current expansion of an object-like macro to @out, as tap_pp_add() does. Return: false if
 * there is no such macro.
 */
bool tap_pp_value(struct tap_pp *pp, const char *name, struct tap_tokens *out);

/* Add a token to a list, whose .v the caller frees. */
void tap_pp_add(struct tap_pp *pp, struct tap_tokens *list, struct tap_token t);

/*
 * Report an error at @at and stop preprocessing; only the first error is kept. Return:
 * tap_pp_err().
 */
int tap_pp_fail(struct tap_pp *pp, const struct tap_token *at, const char *fmt, ...)
	TAP_PRINTF(3, 4);
int tap_pp_no_memory(struct tap_pp *pp);
int tap_pp_err(const struct tap_pp *pp); /* 0 or -errno */

#endif
