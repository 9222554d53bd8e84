/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The program that a print format becomes (print_compile.c) and print.c runs: a list of
 * outputs, each a literal followed by one conversion. A conversion's value is a field, or
 * else a tree of nodes. Numbers are kept in 64 bits, sign- or zero-extended as their C type
 * says, so that most conversions between types cost nothing.
 */
#ifndef TAP_EVENT_PRINT_PROG_H
#define TAP_EVENT_PRINT_PROG_H

#include "event/format.h"

enum print_op {
	P_NUM,
	P_LOAD, /* a number field & num */
	P_ELEM, /* a: bytes, b: index */
	P_LEN, /* bytes of a dynamic field */
	P_CAST,
	P_NEG,
	P_INV,
	P_NOT,
	P_COND, /* a ? b : c; numbers or texts */
	P_ANDAND,
	P_OROR,
	P_MUL,
	P_DIV,
	P_MOD,
	P_ADD,
	P_SUB,
	P_SHL,
	P_SHR,
	P_LT,
	P_GT,
	P_LE,
	P_GE,
	P_EQ,
	P_NE,
	P_AND,
	P_XOR,
	P_OR,
	P_UNKNOWN, /* what only the recording kernel knew */
	P_BYTES, /* where a field that is no number lies */
	P_LITERAL,
	P_SYMBOLIC, /* a: value */
	P_FLAGS, /* a: value, b: delimiter */
	P_MASK, /* a: bytes */
	P_CPUS, /* the same, as a list */
	P_HEX, /* a: bytes, b: how many */
	P_HEX_STR,
	P_ARRAY, /* a: bytes, b: how many, c: bytes of each */
	P_DUMP, /* a: bytes, b: how many, c: the literal before each row */
};

enum print_class {
	PRINT_NUMBER,
	PRINT_REAL, /* a double's bits; a field or an element as it is: nothing is computed */
	PRINT_TEXT,
	PRINT_BYTES,
};

/* How to fetch a number; _X: of the other byte order. */
enum print_load {
	LOAD_NODE,
	LOAD_U8,
	LOAD_S8,
	LOAD_U16,
	LOAD_S16,
	LOAD_U32,
	LOAD_S32,
	LOAD_64,
	LOAD_FLOAT, /* as a double */
	LOAD_U16X,
	LOAD_S16X,
	LOAD_U32X,
	LOAD_S32X,
	LOAD_64X,
	LOAD_FLOATX,
};

/* As the kernel numbers them. */
enum { DUMP_PREFIX_NONE, DUMP_PREFIX_ADDRESS, DUMP_PREFIX_OFFSET };

/* How a hex dump is laid out. */
struct print_dump {
	uint8_t prefix, row, group; /* row, group: bytes */
	bool ascii;
};

struct print_node {
	uint8_t op, class, load;
	bool unknown; /* it, or something that it is made of */
	bool swap; /* LOAD: of the other byte order */
	bool opaque; /* a pointer to what has a size that only the kernel knew */
	struct tap_ctype type; /* of the value; of the elements where it is bytes */
	struct tap_ctype arith; /* of the operands */
	uint16_t depth;
	uint32_t a, b, c;
	uint32_t at, len; /* LOAD: in the record; LITERAL: in texts; SYMBOLIC, FLAGS: in entries */
	uint32_t most; /* bytes of text, where that is known before; 0: it is not */
	union {
		uint64_t num;
		const struct tap_field *field;
		struct print_dump dump;
	};
};

struct print_entry {
	uint64_t value;
	uint32_t at, len; /* in texts */
};

enum print_kind {
	OUT_END,
	OUT_SIGNED, /* plain %d and the like: no flags, no width */
	OUT_UNSIGNED,
	OUT_HEX,
	OUT_NUMBER, /* any number */
	OUT_CHARS16, /* a 16-byte text field (comm) */
	OUT_CHARS, /* a text field of fixed size */
	OUT_SHORT, /* a text of PRINT_SHORT bytes at most */
	/* from here on the length is not known before */
	OUT_TEXT,
	OUT_CHAR,
	OUT_REAL, /* .conv */
	OUT_SYMBOL, /* .conv */
	OUT_MASK,
	OUT_LIST,
	OUT_IP4,
	OUT_IP6,
	OUT_SOCKADDR, /* .plus: with its port */
	OUT_MAC,
	OUT_BYTES, /* the width is how many */
	OUT_ERROR, /* an error pointer's name */
	OUT_UUID,
	OUT_UNKNOWN,
};

struct print_out {
	uint8_t kind, load;
	uint8_t base;
	char between; /* MAC, BYTES: what stands between bytes; '\0': nothing */
	char conv; /* REAL: f, e, g, a or a capital; SYMBOL: the letter behind %p */
	bool is_signed, left, plus, space, zero, special, upper;
	uint32_t lit, lit_len; /* in texts; comes first */
	uint32_t at, len; /* of the field, where kind or load say so */
	uint32_t node;
	int32_t width, precision; /* precision -1: none */
	uint32_t width_node, precision_node; /* "*"; 0: a constant */
	size_t rest; /* bytes that literals and conversions from here on write at most, up to
		      * and including the next one of unknown length */
};

struct print_prog {
	const struct tap_format *fmt;
	struct print_node *nodes; /* node 0 is no node */
	struct print_entry *entries;
	struct print_out *outs; /* ends with OUT_END */
	char *texts; /* with PRINT_SLACK bytes behind */
	uint32_t nr_nodes, nr_entries, nr_outs, texts_len;
	uint32_t cap_nodes, cap_entries, cap_outs, cap_texts;
};

/* Texts are copied in pieces of this size: so much may be read and written too much. */
#define PRINT_SLACK 16u
#define PRINT_MAX_WIDTH 1024
#define PRINT_SHORT 1024u
#define PRINT_MAX_DEPTH 200u

/* Return: 0; -EINVAL if the text is not understood; -ENOMEM. */
int tap_print_compile(const struct tap_format *fmt, struct print_prog *prog);
void tap_print_prog_release(struct print_prog *prog);

/* Brings @v into the range of @type. */
static inline uint64_t print_fit(struct tap_ctype type, uint64_t v)
{
	switch (type.size) {
	case 1:
		return type.is_signed ? (uint64_t)(int8_t)v : (uint8_t)v;
	case 2:
		return type.is_signed ? (uint64_t)(int16_t)v : (uint16_t)v;
	case 4:
		return type.is_signed ? (uint64_t)(int32_t)v : (uint32_t)v;
	default:
		return v;
	}
}

/* What C leaves undefined is defined here: x / 0 is 0, shifting too far shifts all out. */
static inline uint64_t print_arith(enum print_op op, struct tap_ctype type, uint64_t a, uint64_t b)
{
	int64_t sa = (int64_t)a, sb = (int64_t)b;
	bool sign = type.is_signed;

	switch (op) {
	case P_MUL:
		return print_fit(type, a * b);
	case P_DIV:
		if (!b || (sign && sb == -1))
			return b ? print_fit(type, -a) : 0;
		return print_fit(type, sign ? (uint64_t)(sa / sb) : a / b);
	case P_MOD:
		if (!b || (sign && sb == -1))
			return 0;
		return sign ? (uint64_t)(sa % sb) : a % b;
	case P_ADD:
		return print_fit(type, a + b);
	case P_SUB:
		return print_fit(type, a - b);
	case P_SHL:
		return b < type.size * 8u ? print_fit(type, a << b) : 0;
	case P_SHR:
		if (b >= type.size * 8u)
			return sign && sa < 0 ? UINT64_MAX : 0;
		return sign ? (uint64_t)(sa >> b) : a >> b;
	case P_LT:
		return sign ? sa < sb : a < b;
	case P_GT:
		return sign ? sa > sb : a > b;
	case P_LE:
		return sign ? sa <= sb : a <= b;
	case P_GE:
		return sign ? sa >= sb : a >= b;
	case P_EQ:
		return a == b;
	case P_NE:
		return a != b;
	case P_AND:
		return a & b;
	case P_XOR:
		return a ^ b;
	case P_OR:
		return a | b;
	default:
		return 0;
	}
}

#endif
