/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * C expressions over the fields of a format ("REC->prev_state & 0xff"), parsed once
 * (parse.h) and evaluated on each record. A program is an array of nodes, an expression a
 * tree of them. Numbers are kept in 64 bits, sign- or zero-extended as their C type says, so that
 * most conversions between types cost nothing. What makes a text of a value (__print_symbolic())
 * has nodes as well: print.c writes it.
 */
#ifndef TAP_EXPR_EXPR_H
#define TAP_EXPR_EXPR_H

#include <string.h>

#include "event/format.h"

enum expr_op {
	OP_NUM,
	OP_LOAD, /* a number field & num */
	OP_ELEM, /* a: bytes, b: index */
	OP_LEN, /* bytes of a dynamic field */
	OP_CPU, /* where it was recorded */
	OP_CAST,
	OP_NEG,
	OP_INV,
	OP_NOT,
	OP_COND, /* a ? b : c; numbers or texts */
	OP_ANDAND,
	OP_OROR,
	OP_MUL,
	OP_DIV,
	OP_MOD,
	OP_ADD,
	OP_SUB,
	OP_SHL,
	OP_SHR,
	OP_LT,
	OP_GT,
	OP_LE,
	OP_GE,
	OP_EQ,
	OP_NE,
	OP_AND,
	OP_XOR,
	OP_OR,
	OP_UNKNOWN, /* what only the recording kernel knew */
	OP_BYTES, /* where a field that is no number lies */
	OP_LITERAL,
	OP_SYMBOLIC, /* a: value */
	OP_FLAGS, /* a: value, b: delimiter */
	OP_MASK, /* a: bytes */
	OP_CPUS, /* the same, as a list */
	OP_HEX, /* a: bytes, b: how many */
	OP_HEX_STR,
	OP_ARRAY, /* a: bytes, b: how many, c: bytes of each */
	OP_DUMP, /* a: bytes, b: how many, c: the literal before each row */
	/* of the kernel's memory (record/program/scope.h) */
	OP_ARG, /* num: which of the context's words: a tracepoint's arguments, or registers */
	OP_CURRENT, /* the running task */
	OP_PLACE, /* what lies num bytes behind the pointer a: no value yet */
	OP_MEMBER, /* the value there; at, len: its bits, where it is a bit field */
	OP_POINTER, /* the pointer a and num bytes */
	OP_CAPACITY, /* of the CPU a */
	/* of a program's memory (record/program/probe.h) */
	OP_USER, /* the value at the address a */
	OP_USER_TEXT, /* the address a, of a text that ends with a NUL */
	OP_COOKIE, /* of the probe's place */
};

enum expr_class {
	EXPR_NUMBER,
	EXPR_REAL, /* a double's bits; a field or an element as it is: nothing is computed */
	EXPR_TEXT,
	EXPR_BYTES,
	EXPR_PLACE,
};

/* How to fetch a number: the bytes that it has, and these. */
enum expr_load_how {
	LOAD_NODE = 0, /* the node's value */
	LOAD_SIZE = 15,
	LOAD_SIGNED = 16,
	LOAD_SWAP = 32, /* of the other byte order */
	LOAD_FLOAT = 64, /* as a double */
};

/* As the kernel numbers them. */
enum { DUMP_PREFIX_NONE, DUMP_PREFIX_ADDRESS, DUMP_PREFIX_OFFSET };

/* How a hex dump is laid out. */
struct expr_dump {
	uint8_t prefix, row, group; /* row, group: bytes */
	bool ascii;
};

struct expr_node {
	uint8_t op, class, load;
	bool unknown; /* it, or something that it is made of */
	bool swap; /* LOAD: of the other byte order */
	bool opaque; /* a pointer to what has a size that only the kernel knew */
	struct tap_ctype type; /* of the value; of the elements where it is bytes */
	struct tap_ctype arith; /* of the operands */
	uint16_t depth;
	uint32_t a, b, c;
	uint32_t at, len; /* LOAD: in the record; LITERAL: in texts; SYMBOLIC, FLAGS: in entries */
	uint32_t max_len; /* of its text, where that is known before; 0: it is not */
	uint32_t ctype; /* of the kernel: of a place, or what a pointer points to; 0: none */
	union {
		uint64_t num;
		const struct tap_field *field;
		struct expr_dump dump;
	};
};

struct expr_entry {
	uint64_t value;
	uint32_t at, len; /* in texts */
};

struct expr_prog {
	const struct tap_format *fmt;
	struct expr_node *nodes; /* node 0 is no node */
	struct expr_entry *entries;
	char *texts; /* with EXPR_SLACK bytes behind; none begins at 0 */
	uint32_t nr_nodes, nr_entries, texts_len;
	uint32_t cap_nodes, cap_entries, cap_texts;
};

/* Texts are copied in pieces of this size: so much may be read and written too much. */
#define EXPR_SLACK 16u
#define EXPR_MAX_DEPTH 200u

/* A program and the record that it is evaluated on, of fmt->min_size bytes at least. */
struct expr_run {
	const struct expr_prog *prog;
	const unsigned char *rec;
	uint32_t size;
	int cpu;
};

/* Return: the value of a node of class EXPR_NUMBER, or EXPR_REAL: then a double's bits. */
uint64_t tap_expr_eval(const struct expr_run *r, uint32_t node);

/* Return: the node that an "a ? b : c" of texts or bytes stands for; any other node itself. */
static inline uint32_t expr_chosen(const struct expr_run *r, uint32_t node)
{
	const struct expr_node *nodes = r->prog->nodes;

	while (nodes[node].op == OP_COND && nodes[node].class != EXPR_NUMBER)
		node = tap_expr_eval(r, nodes[node].a) ? nodes[node].b : nodes[node].c;
	return node;
}

/* Return: what lies in the record there, and nothing outside of it. */
static inline const unsigned char *expr_region(const struct expr_run *r, const struct tap_field *f,
					       uint32_t *len)
{
	return (const unsigned char *)tap_field_region(f, r->rec, r->size, len);
}

/* Brings @v into the range of @type. */
static inline uint64_t expr_fit(struct tap_ctype type, uint64_t v)
{
	return tap_fit(v, type.size, type.is_signed);
}

/* What C leaves undefined is defined here: x / 0 is 0, shifting too far shifts all out. */
static inline uint64_t expr_arith(enum expr_op op, struct tap_ctype type, uint64_t a, uint64_t b)
{
	int64_t sa = (int64_t)a, sb = (int64_t)b;
	bool sign = type.is_signed;

	switch (op) {
	case OP_MUL:
		return expr_fit(type, a * b);
	case OP_DIV:
		if (!b || (sign && sb == -1))
			return b ? expr_fit(type, -a) : 0;
		return expr_fit(type, sign ? (uint64_t)(sa / sb) : a / b);
	case OP_MOD:
		if (!b || (sign && sb == -1))
			return 0;
		return sign ? (uint64_t)(sa % sb) : a % b;
	case OP_ADD:
		return expr_fit(type, a + b);
	case OP_SUB:
		return expr_fit(type, a - b);
	case OP_SHL:
		return b < type.size * 8u ? expr_fit(type, a << b) : 0;
	case OP_SHR:
		if (b >= type.size * 8u)
			return sign && sa < 0 ? UINT64_MAX : 0;
		return sign ? (uint64_t)(sa >> b) : a >> b;
	case OP_LT:
		return sign ? sa < sb : a < b;
	case OP_GT:
		return sign ? sa > sb : a > b;
	case OP_LE:
		return sign ? sa <= sb : a <= b;
	case OP_GE:
		return sign ? sa >= sb : a >= b;
	case OP_EQ:
		return a == b;
	case OP_NE:
		return a != b;
	case OP_AND:
		return a & b;
	case OP_XOR:
		return a ^ b;
	case OP_OR:
		return a | b;
	default:
		return 0;
	}
}

static inline uint8_t expr_load_of(struct tap_ctype type, bool swap)
{
	return type.size | (type.is_signed ? LOAD_SIGNED : 0) | (swap ? LOAD_SWAP : 0) |
	       (type.is_real && type.size == 4 ? LOAD_FLOAT : 0);
}

static inline uint64_t expr_load(uint8_t how, const unsigned char *p)
{
	unsigned int size = how & LOAD_SIZE;
	uint64_t v = tap_load(p, size, how & LOAD_SWAP);
	double real;

	if (how & LOAD_FLOAT) {
		real = tap_real_of(v, size);
		memcpy(&v, &real, sizeof(v));
		return v;
	}
	return tap_fit(v, size, how & LOAD_SIGNED);
}

static inline uint64_t expr_load_elem(const unsigned char *p, struct tap_ctype type, bool swap)
{
	return expr_load(expr_load_of(type, swap), p);
}

/* Of a number, or of an array's elements: bytes where these are no numbers. */
static inline struct tap_ctype expr_elem_type(const struct tap_field *f)
{
	bool whole = f->elem_size <= 8 && !(f->elem_size & (f->elem_size - 1));

	return (struct tap_ctype){ whole ? (uint8_t)f->elem_size : 1, f->is_signed, f->is_real };
}

#endif
