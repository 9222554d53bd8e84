/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The parser of C expressions over a format's fields, as the preprocessor left them: REC->name is
 * a field; the kernel's helpers (__get_str(), __print_flags()) are known, other functions are an
 * error; any other name is OP_UNKNOWN, and what is computed with it .unknown.
 *
 *	tap_expr_begin(&p, fmt, "REC->prev_pid == 1", &prog);
 *	n = tap_expr_parse(&p);
 *	ret = tap_expr_end(&p);
 */
#ifndef TAP_EXPR_PARSE_H
#define TAP_EXPR_PARSE_H

#include "event/expr/build.h"

/* Takes one expression. Return: its node; 0: it is none, or an error came before. */
uint32_t tap_expr_parse(struct expr_parser *p);
/* The same behind a comma. */
uint32_t tap_expr_arg(struct expr_parser *p);
/* Takes adjacent string constants. They are one text, up to its first NUL: @at, @len in texts. */
void tap_expr_string(struct expr_parser *p, uint32_t *at, uint32_t *len);
/* Takes a word; it may be empty. */
struct span tap_expr_word(struct expr_parser *p);
/* Takes a sign, if it comes next. */
bool tap_expr_accept(struct expr_parser *p, const char *sign);
void tap_expr_expect(struct expr_parser *p, const char *sign);

#endif
