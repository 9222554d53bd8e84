/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * C expressions over the fields of a format ("REC->prev_state & 0xff"), parsed once (parse.h) and
 * evaluated on each record. A program is an array of nodes, an expression a tree of nodes. Numbers
 * are stored in 64 bits, sign- or zero-extended according to their C type, so that most type
 * conversions cost nothing. Functions that convert a value to text (__print_symbolic()) are nodes
 * as well; print.c implements them.
 */
#ifndef TAP_EXPR_EXPR_H
#define TAP_EXPR_EXPR_H

#include <string.h>

#include "event/format.h"

enum expr_op {
	OP_NUM,
	OP_LOAD, /* a number field, ANDed with num */
	OP_ELEM, /* element b of the bytes a */
	OP_LEN, /* size of a dynamic field, in bytes */
	OP_CPU, /* the CPU that recorded the event */
	OP_CAST,
	OP_NEG,
	OP_INV,
	OP_NOT,
	OP_COND, /* a ? b : c; for numbers or texts */
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
	OP_UNKNOWN, /* a value that only the recorded kernel knows */
	OP_BYTES, /* the bytes of a field that is not a number */
	OP_LITERAL,
	OP_SYMBOLIC, /* a: value */
	OP_FLAGS, /* a: value, b: delimiter */
	OP_MASK, /* a: bytes of a bitmask, printed in hex */
	OP_CPUS, /* a: bytes of a bitmask, printed as a list of CPUs */
	OP_HEX, /* a: bytes, b: number of bytes */
	OP_HEX_STR,
	OP_ARRAY, /* a: bytes, b: number of elements, c: bytes per element */
	OP_DUMP, /* a: bytes, b: number of bytes, c: literal that starts each row */
	/* nodes that read the kernel's memory (record/program/scope.h) */
	/*
	 * num: index of a word of the BPF context, which is a tracepoint's argument or a register
	 */
	OP_ARG,
	OP_CURRENT, /* the running task */
	OP_PLACE, /* the memory num bytes after the pointer a, not yet read */
	OP_MEMBER, /* the value of a place; at, len: its bits if it is a bit field */
	OP_POINTER, /* the pointer a plus num bytes */
	OP_CAPACITY, /* the capacity of CPU a */
	/* nodes that read a user program's memory (record/program/probe.h) */
	OP_USER, /* the value at address a */
	OP_USER_TEXT, /* the NUL-terminated text at address a */
	OP_COOKIE, /* the cookie of the probed location */
};

enum expr_class {
	EXPR_NUMBER,
	EXPR_REAL, /* a double's bits: a field or an array element; arithmetic is not possible */
	EXPR_TEXT,
	EXPR_BYTES,
	EXPR_PLACE,
};

/* How to load a number: its size in bytes, ORed with these flags. */
enum expr_load_how {
	LOAD_NODE = 0, /* evaluate the node instead */
	LOAD_SIZE = 15,
	LOAD_SIGNED = 16,
	LOAD_SWAP = 32, /* in the opposite byte order */
	LOAD_FLOAT = 64, /* a float, to be converted to a double */
};

/* Same numbers as in include/linux/printk.h. */
enum { DUMP_PREFIX_NONE, DUMP_PREFIX_ADDRESS, DUMP_PREFIX_OFFSET };

/* The layout of a hex dump. */
struct expr_dump {
	uint8_t prefix, row, group; /* row, group: in bytes */
	bool ascii;
};

struct expr_node {
	uint8_t op, class, load;
	bool unknown; /* the node or one of its operands is unknown */
	bool swap; /* LOAD: in the opposite byte order */
	bool opaque; /* a pointer to a type whose size only the recorded kernel knows */
	struct tap_ctype type; /* type of the value; for bytes: of their elements */
	struct tap_ctype arith; /* type of the operands */
	uint16_t depth;
	uint32_t a, b, c;
	/* position and size. LOAD: in the record; LITERAL: in texts; SYMBOLIC, FLAGS: in entries */
	uint32_t at, len;
	uint32_t max_len; /* maximum length of its text; 0: not known in advance */
	uint32_t ctype; /* the kernel's type of a place, or of what a pointer points to; 0: none */
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
	struct expr_node *nodes; /* index 0 stands for no node */
	struct expr_entry *entries;
	char *texts; /* followed by EXPR_SLACK bytes; offset 0 stands for no text */
	uint32_t nr_nodes, nr_entries, texts_len;
	uint32_t cap_nodes, cap_entries, cap_texts;
};

/*
 * Texts are copied in blocks of this size: up to so many bytes may be read and written beyond their
 * end.
 */
#define EXPR_SLACK 16u
#define EXPR_MAX_DEPTH 200u

/* A program and the record to evaluate it on, which has at least fmt->min_size bytes. */
struct expr_run {
	const struct expr_prog *prog;
	const unsigned char *rec;
	uint32_t size;
	int cpu;
};

/* Return the value of an EXPR_NUMBER node, or a double's bits for an EXPR_REAL node. */
uint64_t tap_expr_eval(const struct expr_run *r, uint32_t node);

/*
 * Return the operand that an "a ? b : c" of texts or bytes selects; for other nodes the node
 * itself.
 */
static inline uint32_t expr_chosen(const struct expr_run *r, uint32_t node)
{
	const struct expr_node *nodes = r->prog->nodes;

	while (nodes[node].op == OP_COND && nodes[node].class != EXPR_NUMBER)
		node = tap_expr_eval(r, nodes[node].a) ? nodes[node].b : nodes[node].c;
	return node;
}

/* Return the bytes of a field, limited to those inside the record. */
static inline const unsigned char *expr_region(const struct expr_run *r, const struct tap_field *f,
					       uint32_t *len)
{
	return (const unsigned char *)tap_field_region(f, r->rec, r->size, len);
}

/* Truncate @v to @type, sign- or zero-extended to 64 bits. */
static inline uint64_t expr_fit(struct tap_ctype type, uint64_t v)
{
	return tap_fit(v, type.size, type.is_signed);
}

/*
 * Compute an operation. Cases that C leaves undefined are defined: x / 0 is 0, and shifting too far
 * shifts out all bits.
 */
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

/*
 * Return the type of a number field or of an array's elements; a byte's type if these are not
 * numbers.
 */
static inline struct tap_ctype expr_elem_type(const struct tap_field *f)
{
	bool whole = f->elem_size <= 8 && !(f->elem_size & (f->elem_size - 1));

	return (struct tap_ctype){ whole ? (uint8_t)f->elem_size : 1, f->is_signed, f->is_real };
}

#endif
