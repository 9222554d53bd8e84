// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "event/print/bin.h"

#include <ctype.h>
#include <stdlib.h>

#include "base/text.h"
#include "event/print/put.h"

struct bin {
	const char *fmt;
	const unsigned char *args;
	uint32_t len, at;
	struct tap_abi abi;
	const struct tap_symbols *symbols;
	struct tap_buf *out;
	bool bad; /* an argument could not be read: the position of later ones is unknown */
};

static const unsigned char *take_bytes(struct bin *b, uint32_t size)
{
	const unsigned char *p = b->args + b->at;

	if (b->bad || size > b->len - b->at) {
		b->bad = true;
		return NULL;
	}
	b->at += size;
	return p;
}

/* Take a number of 4 or 8 bytes. Both are aligned to 4 bytes, as in the kernel's own reader. */
static uint64_t take_number(struct bin *b, uint32_t size)
{
	const unsigned char *p;
	uint64_t v = 0;

	take_bytes(b, -b->at & 3);
	p = take_bytes(b, size);
	for (uint32_t i = 0; p && i < size; i++)
		v = v << 8 | p[b->abi.big_endian ? i : size - 1 - i];
	return v;
}

static const char *take_text(struct bin *b, size_t *len)
{
	const unsigned char *p = take_bytes(b, 0);

	*len = p ? strnlen((const char *)p, b->len - b->at) : 0;
	return (const char *)take_bytes(b, (uint32_t)*len + 1);
}

static void put_unknown(struct bin *b)
{
	b->bad = true;
	tap_buf_char(b->out, '?');
}

/* @s: NULL if the argument is missing. */
static void put_padded(struct bin *b, const struct print_out *o, const void *s, size_t len)
{
	size_t blanks = (size_t)o->width > len ? (size_t)o->width - len : 0;

	if (!s) {
		put_unknown(b);
		return;
	}
	tap_buf_blanks(b->out, o->left ? 0 : blanks);
	tap_buf_add(b->out, s, len);
	tap_buf_blanks(b->out, o->left ? blanks : 0);
}

static void put_text(struct bin *b, const struct print_out *o)
{
	size_t len;
	const char *s = take_text(b, &len);

	if (o->precision >= 0 && len > (size_t)o->precision)
		len = (size_t)o->precision;
	put_padded(b, o, s, len);
}

static void put_value(struct bin *b, const struct print_out *o, uint64_t v)
{
	struct tap_buf *out = b->out;

	if (b->bad)
		put_unknown(b);
	else if (tap_buf_reserve(out, PRINT_MAX_NUMBER))
		out->len = (size_t)(print_number(o, v, o->left, o->width, o->precision,
						 out->data + out->len) -
				    out->data);
}

static void put_number(struct bin *b, struct print_out *o, char conv, uint8_t size)
{
	uint64_t v = take_number(b, size == 8 ? 8 : 4);

	tap_conversion_base(conv, o);
	put_value(b, o, expr_fit((struct tap_ctype){ size, o->is_signed }, v));
}

/*
 * Print a %p. The kernel stores what only it can resolve as text among the arguments. Before v5.5
 * it stored the pointer itself, whose first byte is rarely printable.
 */
static void put_pointer(struct bin *b, struct print_out *o)
{
	char word = *b->fmt;
	bool symbol = word && strchr("sSfFB", word) && b->fmt[1] != 'w';
	uint64_t v;

	while (isalnum((unsigned char)*b->fmt))
		b->fmt++;
	if (isalnum((unsigned char)word) && !symbol && !strchr("xK", word) && b->at < b->len &&
	    isprint(b->args[b->at])) {
		put_text(b, o);
		return;
	}
	o->base = 16;
	o->special = true;
	v = take_number(b, b->abi.long_size);
	if (b->bad || !symbol || !print_symbol(b->symbols, v, word, b->out))
		put_value(b, o, v);
}

static int take_amount(struct bin *b, int least)
{
	uint64_t digits;
	int64_t v;

	if (*b->fmt == '*') {
		b->fmt++;
		v = (int32_t)take_number(b, 4);
	} else {
		tap_text_take_digits(&b->fmt, NULL, 10, &digits);
		v = digits > PRINT_MAX_WIDTH ? PRINT_MAX_WIDTH : (int64_t)digits;
	}
	return v < least ? least : v > PRINT_MAX_WIDTH ? PRINT_MAX_WIDTH : (int)v;
}

/* Print a conversion, after its '%'. */
static void put_conversion(struct bin *b)
{
	struct print_out o = { .precision = -1 };
	uint8_t size;
	char conv;

	b->fmt = tap_conversion_flags(b->fmt, &o);
	o.width = take_amount(b, -PRINT_MAX_WIDTH);
	o.left |= o.width < 0;
	o.width = abs(o.width);
	if (*b->fmt == '.') {
		b->fmt++;
		o.precision = take_amount(b, 0);
	}
	b->fmt = tap_conversion_length(b->fmt, "hlLqzZtj", b->abi.long_size, &size);
	conv = *b->fmt;
	if (conv)
		b->fmt++;
	if (conv == 's')
		put_text(b, &o);
	else if (conv == 'c')
		put_padded(b, &o, take_bytes(b, 1), 1);
	else if (conv == 'p')
		put_pointer(b, &o);
	else if (conv && strchr("diuxXo", conv))
		put_number(b, &o, conv, size);
	else if (conv == '%')
		tap_buf_char(b->out, '%');
	else
		put_unknown(b);
}

void tap_print_bin(const char *fmt, const unsigned char *args, uint32_t len, struct tap_abi abi,
		   const struct tap_symbols *symbols, struct tap_buf *out)
{
	struct bin b = {
		.fmt = fmt, .args = args, .len = len, .abi = abi, .symbols = symbols, .out = out
	};

	while (*b.fmt) {
		size_t plain = strcspn(b.fmt, "%");

		tap_buf_add(out, b.fmt, plain);
		b.fmt += plain;
		if (*b.fmt) {
			b.fmt++;
			put_conversion(&b);
		}
	}
}
