/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Building expression nodes for any language (parse.h parses C, filter.c filters). The first error
 * is kept; from then on the parser behaves as if the text had ended, so that callers need not check
 * after each step.
 */
#ifndef TAP_EXPR_BUILD_H
#define TAP_EXPR_BUILD_H

#include "event/expr/expr.h"
#include "event/span.h"

struct expr_parser;

/*
 * Resolves the names of expressions that are not about a record. Each function returns a node, or 0
 * after an error.
 */
struct expr_scope {
	uint32_t (*name)(struct expr_parser *p, struct span name);
	/* the parser has taken "("; the function takes ")" */
	uint32_t (*call)(struct expr_parser *p, struct span name);
	uint32_t (*member)(struct expr_parser *p, uint32_t of, struct span name, bool arrow);
	uint32_t (*element)(struct expr_parser *p, uint32_t of, uint32_t index);
	uint32_t (*address)(struct expr_parser *p, uint32_t place);
	/* reads the value of a place; other nodes remain as they are */
	uint32_t (*value)(struct expr_parser *p, uint32_t place);
	/* If @type is a type, set @node to operand() cast to it and return true. */
	bool (*cast)(struct expr_parser *p, struct span type,
		     uint32_t (*operand)(struct expr_parser *p), uint32_t *node);
};

#define EXPR_RECENT 512u /* a power of two */

struct expr_parser {
	const struct expr_scope *scope; /* NULL: names are the fields of .fmt */
	void *names; /* private data of the scope */
	const struct tap_format *fmt;
	struct expr_prog *prog;
	const char *at;
	unsigned int depth; /* current depth of recursion */
	int err;
	const char *bad; /* position of the error */
	uint32_t recent[EXPR_RECENT]; /* with a scope: a node by its hash; 0: none */
};

#define EXPR_INT ((struct tap_ctype){ 4, true })

/* Start parsing @text. @fmt and @text are borrowed; the program keeps @fmt. */
void tap_expr_begin(struct expr_parser *p, const struct tap_format *fmt, const char *text,
		    struct expr_prog *prog);
/*
 * Finish parsing. Return: 0 if the whole text was parsed; -EINVAL or -ENOMEM, and the program is
 * released.
 */
int tap_expr_end(struct expr_parser *p);
void tap_expr_release(struct expr_prog *prog);
/*
 * Record an error unless there was one before, and skip the rest of the text. Return: 0, which
 * callers return as their node.
 */
uint32_t tap_expr_fail(struct expr_parser *p, int err);

/*
 * Add a node; does nothing after an error, so that callers need not check the operands. .depth and
 * .unknown are derived from the operands. Return: the node; 0 after an error.
 */
uint32_t tap_expr_add(struct expr_parser *p, struct expr_node n);
uint32_t tap_expr_num(struct expr_parser *p, struct tap_ctype type, uint64_t v);
uint32_t tap_expr_unknown(struct expr_parser *p);
/*
 * Add the value of a field, or the bytes of a field that is not a number. tap_expr_bytes() always
 * adds the bytes. @f: NULL after an error.
 */
uint32_t tap_expr_field(struct expr_parser *p, const struct tap_field *f);
uint32_t tap_expr_bytes(struct expr_parser *p, const struct tap_field *f);
/* Return the type of a number field, or of an array's elements. */
struct tap_ctype tap_expr_field_type(const struct tap_field *f);
/* Add an operation with C's types and conversions. Operations on constants are computed at once. */
uint32_t tap_expr_unary(struct expr_parser *p, enum expr_op op, uint32_t a);
uint32_t tap_expr_binary(struct expr_parser *p, enum expr_op op, uint32_t a, uint32_t b);
uint32_t tap_expr_cond(struct expr_parser *p, uint32_t a, uint32_t b, uint32_t c);
/*
 * Add "a ? b : c" whose b and c have the same type. It becomes the result's type: narrow types are
 * not promoted to int.
 */
uint32_t tap_expr_choose(struct expr_parser *p, uint32_t a, uint32_t b, uint32_t c);
/* Convert a number to type @to; other nodes are errors. Return: the node. */
uint32_t tap_expr_cast(struct expr_parser *p, uint32_t node, struct tap_ctype to);
/*
 * Require a number as operand, and fail otherwise: any other node has just an address in the
 * recorded kernel, which is useless here.
 */
bool tap_expr_is_number(struct expr_parser *p, uint32_t n);

void tap_expr_add_text(struct expr_parser *p, const char *s, uint32_t len);
/*
 * Make room for @more elements after the first @nr. @array: the address of the pointer to them.
 * Return: false after an error.
 */
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
