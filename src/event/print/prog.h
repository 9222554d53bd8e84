/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The program that a print format becomes (compile.c) and print.c runs: a list of
 * outputs, each a literal followed by one conversion. A conversion's value is a field, or
 * else an expression.
 */
#ifndef TAP_PRINT_PROG_H
#define TAP_PRINT_PROG_H

#include "event/expr/expr.h"

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
	size_t room; /* bytes that literals and conversions from here on write at most, up to
		      * and including the next one of unknown length */
};

struct print_prog {
	struct expr_prog expr; /* its texts hold the literals as well */
	struct print_out *outs; /* ends with OUT_END */
	uint32_t nr_outs, cap_outs;
};

#define PRINT_MAX_WIDTH 1024
#define PRINT_SHORT 1024u

/* Return: 0; -EINVAL if the text is not understood; -ENOMEM. */
int tap_print_compile(const struct tap_format *fmt, struct print_prog *prog);
void tap_print_prog_release(struct print_prog *prog);

/*
 * Take a conversion's flags, or those of its length modifiers that are @known (@size: bytes of the
 * number). Before @s is a '%' at least. Return: what follows them.
 */
const char *tap_conversion_flags(const char *s, struct print_out *o);
const char *tap_conversion_length(const char *s, const char *known, uint8_t long_size,
				  uint8_t *size);
/* How a conversion prints a number: 'd', 'i', 'u', 'x', 'X' or 'o'. */
void tap_conversion_base(char conv, struct print_out *o);

#endif
