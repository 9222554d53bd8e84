/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Parser for C expressions over the fields of a format, after preprocessing. REC->name is a field.
 * The kernel's helpers (__get_str(), __print_flags()) are known; other functions are errors. Any
 * other name becomes OP_UNKNOWN, and expressions that use it are .unknown.
 *
 *	tap_expr_begin(&p, fmt, "REC->prev_pid == 1", &prog);
 *	n = tap_expr_parse(&p);
 *	ret = tap_expr_end(&p);
 */
#ifndef TAP_EXPR_PARSE_H
#define TAP_EXPR_PARSE_H

#include "event/expr/build.h"

/* Parse an expression. Return: its node; 0 after an error. */
uint32_t tap_expr_parse(struct expr_parser *p);
/* Parse a comma and an expression. Return: its node; 0 after an error. */
uint32_t tap_expr_arg(struct expr_parser *p);
/*
 * Parse adjacent string constants, which form one text up to its first NUL. @at, @len: its place in
 * texts.
 */
void tap_expr_string(struct expr_parser *p, uint32_t *at, uint32_t *len);
/* Take a word, which may be empty. */
struct span tap_expr_word(struct expr_parser *p);
/* Take a sign if it comes next. tap_expr_expect() fails if it does not. */
bool tap_expr_accept(struct expr_parser *p, const char *sign);
void tap_expr_expect(struct expr_parser *p, const char *sign);

#endif
