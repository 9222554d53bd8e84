/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The parser of C expressions over a format's fields, as the preprocessor left them: REC->name is
 * a field; the kernel's helpers (__get_str(), __print_flags()) are known, other functions are an
 * error; any other name is OP_UNKNOWN, and what is computed with it .unknown. The parser keeps
 * its first error and then sees the end of the text everywhere, so that nothing has to check after
 * each step:
 *
 *	tap_expr_begin(&p, fmt, "REC->prev_pid == 1", &prog);
 *	n = tap_expr_parse(&p);
 *	ret = tap_expr_end(&p);
 */
#ifndef TAP_EVENT_EXPR_PARSE_H
#define TAP_EVENT_EXPR_PARSE_H

#include "event/expr.h"

struct expr_parser {
	const struct tap_format *fmt;
	struct expr_prog *prog;
	const char *at, *end;
	unsigned int depth; /* of the recursion */
	int err;
};

/* @fmt and @text are borrowed: the program keeps @fmt. */
void tap_expr_begin(struct expr_parser *p, const struct tap_format *fmt, const char *text,
		    struct expr_prog *prog);
/* Return: 0 if the whole text was understood; -EINVAL; -ENOMEM: then the program is released. */
int tap_expr_end(struct expr_parser *p);
void tap_expr_release(struct expr_prog *prog);

/* Takes one expression. Return: its node; 0: it is none, or an error came before. */
uint32_t tap_expr_parse(struct expr_parser *p);
/* Return: a node of the same number as @to. What is no number is an error. */
uint32_t tap_expr_cast(struct expr_parser *p, uint32_t node, struct tap_ctype to);
/* Takes adjacent string constants. They are one text, up to its first NUL: @at, @len in texts. */
void tap_expr_string(struct expr_parser *p, uint32_t *at, uint32_t *len);
/* Takes a sign, if it comes next. */
bool tap_expr_accept(struct expr_parser *p, const char *sign);
void tap_expr_expect(struct expr_parser *p, const char *sign);
/* Return: 0, for callers that return a node. */
uint32_t tap_expr_fail(struct expr_parser *p, int err);

void tap_expr_add_text(struct expr_parser *p, const char *s, uint32_t len);
/* Makes room for @more elements behind @nr. Return: the array, which may have moved, or NULL. */
void *tap_expr_grow(struct expr_parser *p, void *v, uint32_t nr, uint32_t more, uint32_t *cap,
		    size_t size);

static inline const struct expr_node *node_at(const struct expr_parser *p, uint32_t n)
{
	return &p->prog->nodes[n];
}

#endif
