/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Making nodes, whatever language they come from (parse.h has C's, filter.c the filters'). The
 * first error is kept, and from then on the text is at its end everywhere, so that nothing has to
 * check after each step.
 */
#ifndef TAP_EXPR_BUILD_H
#define TAP_EXPR_BUILD_H

#include "event/expr/expr.h"
#include "event/span.h"

struct expr_parser;

/* Whose names an expression has, where they are not a record's. Each returns a node, or 0 behind an
 * error. */
struct expr_scope {
	uint32_t (*name)(struct expr_parser *p, struct span name);
	uint32_t (*call)(struct expr_parser *p,
			 struct span name); /* its "(" was taken; takes ")" */
	uint32_t (*member)(struct expr_parser *p, uint32_t of, struct span name, bool arrow);
	uint32_t (*element)(struct expr_parser *p, uint32_t of, uint32_t index);
	uint32_t (*address)(struct expr_parser *p, uint32_t place);
	uint32_t (*value)(struct expr_parser *p, uint32_t place); /* any other node as it is */
	/* Whether it is a type; then what a cast of @node to it is. */
	bool (*cast)(struct expr_parser *p, struct span type,
		     uint32_t (*operand)(struct expr_parser *p), uint32_t *node);
};

struct expr_parser {
	const struct expr_scope *scope; /* NULL: the fields of .fmt */
	void *names; /* the scope's own */
	const struct tap_format *fmt;
	struct expr_prog *prog;
	const char *at;
	unsigned int depth; /* of the recursion */
	int err;
	const char *bad; /* where the error is */
};

#define EXPR_INT ((struct tap_ctype){ 4, true })

/* @fmt and @text are borrowed: the program keeps @fmt. */
void tap_expr_begin(struct expr_parser *p, const struct tap_format *fmt, const char *text,
		    struct expr_prog *prog);
/* Return: 0 if the whole text was understood; -EINVAL; -ENOMEM: then the program is released. */
int tap_expr_end(struct expr_parser *p);
void tap_expr_release(struct expr_prog *prog);
/* Return: 0, for callers that return a node. */
uint32_t tap_expr_fail(struct expr_parser *p, int err);

/*
 * Adds a node, unless there was an error: then its parts may be none. Its depth and whether it is
 * known follow from those that it is made of. Return: the node; 0: none.
 */
uint32_t tap_expr_add(struct expr_parser *p, struct expr_node n);
uint32_t tap_expr_num(struct expr_parser *p, struct tap_ctype type, uint64_t v);
uint32_t tap_expr_unknown(struct expr_parser *p);
/* A field, a number or what is none; of any field its bytes. @f: NULL: there was an error. */
uint32_t tap_expr_field(struct expr_parser *p, const struct tap_field *f);
uint32_t tap_expr_bytes(struct expr_parser *p, const struct tap_field *f);
/* Of a number, or of an array's elements. */
struct tap_ctype tap_expr_field_type(const struct tap_field *f);
/* As C computes them, with its types; constants become one. */
uint32_t tap_expr_unary(struct expr_parser *p, enum expr_op op, uint32_t a);
uint32_t tap_expr_binary(struct expr_parser *p, enum expr_op op, uint32_t a, uint32_t b);
uint32_t tap_expr_cond(struct expr_parser *p, uint32_t a, uint32_t b, uint32_t c);
/* "a ? b : c" of two that are of one type already, which it has: narrow ones are not promoted. */
uint32_t tap_expr_choose(struct expr_parser *p, uint32_t a, uint32_t b, uint32_t c);
/* Return: a node of the same number as @to. What is no number is an error. */
uint32_t tap_expr_cast(struct expr_parser *p, uint32_t node, struct tap_ctype to);
/* An operand has to be a number; what is none has an address, which is no help to anybody. */
bool tap_expr_is_number(struct expr_parser *p, uint32_t n);

void tap_expr_add_text(struct expr_parser *p, const char *s, uint32_t len);
/* Makes room for @more elements behind @nr. @array: the address of the pointer to them. */
bool tap_expr_grow(struct expr_parser *p, void *array, uint32_t nr, uint32_t more, uint32_t *cap,
		   size_t size);

static inline const struct expr_node *node_at(const struct expr_parser *p, uint32_t n)
{
	return &p->prog->nodes[n];
}

static inline bool expr_is_const(const struct expr_parser *p, uint32_t n)
{
	return node_at(p, n)->op == OP_NUM;
}

static inline struct tap_abi expr_abi(const struct expr_parser *p)
{
	return (struct tap_abi){ p->fmt->big_endian, p->fmt->long_size };
}

static inline struct tap_ctype expr_ulong(const struct expr_parser *p)
{
	return (struct tap_ctype){ p->fmt->long_size, false };
}

#endif
