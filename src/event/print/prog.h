/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The program that compile.c makes of a print format and print.c runs: a list of outputs, each a
 * literal followed by a conversion. A conversion prints a field or an expression.
 */
#ifndef TAP_PRINT_PROG_H
#define TAP_PRINT_PROG_H

#include "event/expr/expr.h"

enum print_kind {
	OUT_END,
	OUT_SIGNED, /* %d and similar conversions without flags or width */
	OUT_UNSIGNED,
	OUT_HEX,
	OUT_NUMBER, /* a number with any flags */
	OUT_CHARS16, /* a 16-byte text field (comm) */
	OUT_CHARS, /* a text field of fixed size */
	OUT_SHORT, /* a text of at most PRINT_SHORT bytes */
	/* the length of these is not known in advance */
	OUT_TEXT,
	OUT_CHAR,
	OUT_REAL, /* .conv is the conversion */
	OUT_SYMBOL, /* .conv is the letter after %p */
	OUT_MASK,
	OUT_LIST,
	OUT_IP4,
	OUT_IP6,
	OUT_SOCKADDR, /* .plus: including the port */
	OUT_MAC,
	OUT_BYTES, /* the width is the number of bytes */
	OUT_ERROR, /* the name of an error pointer */
	OUT_UUID,
	OUT_UNKNOWN,
};

struct print_out {
	uint8_t kind, load;
	uint8_t base;
	char between; /* MAC, BYTES: separator of bytes; '\0': none */
	char conv; /* REAL: f, e, g, a or a capital; SYMBOL: the letter after %p */
	bool is_signed, left, plus, space, zero, special, upper;
	uint32_t lit, lit_len; /* in texts; printed before the conversion */
	uint32_t at, len; /* of the field, if kind or load need it */
	uint32_t node;
	int32_t width, precision; /* precision -1: not given */
	uint32_t width_node, precision_node; /* node of a "*" argument; 0: none */
	/*
	 * maximum bytes written by literals and conversions from here up to and including the next
	 * conversion whose length is not known in advance
	 */
	size_t room;
};

struct print_prog {
	struct expr_prog expr; /* its texts include the literals */
	struct print_out *outs; /* ends with OUT_END */
	uint32_t nr_outs, cap_outs;
};

#define PRINT_MAX_WIDTH 1024
#define PRINT_SHORT 1024u

/* Compile a print format. Return: 0; -EINVAL if it is not supported; -ENOMEM. */
int tap_print_compile(const struct tap_format *fmt, struct print_prog *prog);
void tap_print_prog_release(struct print_prog *prog);

/*
 * Parse a conversion's flags, or its length modifiers, limited to those in @known (@size is set to
 * the number's bytes). At least a '%' must precede @s. Return: the end of the parsed part.
 */
const char *tap_conversion_flags(const char *s, struct print_out *o);
const char *tap_conversion_length(const char *s, const char *known, uint8_t long_size,
				  uint8_t *size);
/* Set how a conversion prints a number: 'd', 'i', 'u', 'x', 'X' or 'o'. */
void tap_conversion_base(char conv, struct print_out *o);

#endif
