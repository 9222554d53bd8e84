/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * C's preprocessor, for headers that define events: what a compiler would see of them, token by
 * token, each of which knows its place in the file. White space between tokens is where gcc's #
 * operator puts it.
 *
 * Words of the event headers that every reading gives the same meaning (PARAMS(), tp_if()) are
 * macros from the start, as is TRACE_HEADER_MULTI_READ, which keeps guards from keeping anything
 * out. #include <...> is passed over.
 */
#ifndef TAP_DEFINE_PREPROCESS_H
#define TAP_DEFINE_PREPROCESS_H

#include "event/define/token.h"

struct tap_pp;

/*
 * @sources: the list that @first is in; files that it includes are added.
 * Return: 0 or -ENOMEM.
 */
int tap_pp_new(struct tap_pp **out, struct tap_source **sources, const struct tap_source *first,
	       struct tap_err *err);
void tap_pp_free(struct tap_pp *pp);

/* The next token, which lives as long as @pp. Its kind is TOKEN_END at the end, and behind an
 * error. */
void tap_pp_next(struct tap_pp *pp, struct tap_token *t);
/* What the macro of this name stands for now. Return: whether there is one; add to @out with
 * tap_pp_add(). */
bool tap_pp_value(struct tap_pp *pp, const char *name, struct tap_tokens *out);

/* Adds to a list, which the caller frees. */
void tap_pp_add(struct tap_pp *pp, struct tap_tokens *list, struct tap_token t);

/* Ends it with an error that points to @at; the first one is kept. Return: tap_pp_err(). */
int tap_pp_fail(struct tap_pp *pp, const struct tap_token *at, const char *fmt, ...)
	TAP_PRINTF(3, 4);
int tap_pp_no_memory(struct tap_pp *pp);
int tap_pp_err(const struct tap_pp *pp); /* 0 or -errno */

#endif
