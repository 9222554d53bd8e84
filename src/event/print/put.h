/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Write numbers and symbol names. Functions with @w write to it without a bounds check and return
 * the end of their output.
 */
#ifndef TAP_PRINT_PUT_H
#define TAP_PRINT_PUT_H

#include "base/buf.h"
#include "base/digits.h"
#include "event/print/prog.h"
#include "event/print/symbols.h"

/* Maximum bytes of a number with its prefix, width and precision. */
#define PRINT_MAX_NUMBER (32u + PRINT_MAX_WIDTH)

static inline char *put_unsigned(char *w, uint64_t v)
{
	char *end = w + tap_nr_digits(v);

	tap_digits_before(end, v);
	return end;
}

static inline char *put_signed(char *w, int64_t v)
{
	if (v < 0)
		*w++ = '-';
	return put_unsigned(w, v < 0 ? -(uint64_t)v : (uint64_t)v);
}

static inline char *put_hex(char *w, uint64_t v)
{
	unsigned int digits = v ? (67u - (unsigned int)__builtin_clzll(v)) / 4 : 1;

	for (unsigned int i = digits; i-- > 0; v >>= 4)
		w[i] = "0123456789abcdef"[v & 15];
	return w + digits;
}

static inline char *put_fill(char *w, char c, int n)
{
	if (n <= 0)
		return w;
	memset(w, c, (size_t)n);
	return w + n;
}

/* Write the digits of @v, the last one first. */
static inline int digits_of(char *tmp, uint64_t v, unsigned int base, bool upper)
{
	const char *set = upper ? "0123456789ABCDEF" : "0123456789abcdef";
	int n = 0;

	do {
		tmp[n++] = set[v % base];
		v /= base;
	} while (v);
	return n;
}

/*
 * Write a number as printk() does. Unlike C's printf(), "0x" also precedes a zero, and a precision
 * does not disable the flag 0. Writes at most PRINT_MAX_NUMBER bytes.
 */
static inline char *print_number(const struct print_out *o, uint64_t v, bool left, int width,
				 int precision, char *w)
{
	char tmp[24], sign = 0;
	int n;

	if (o->is_signed && (int64_t)v < 0) {
		sign = '-';
		v = -v;
	} else if (o->is_signed && (o->plus || o->space)) {
		sign = o->plus ? '+' : ' ';
	}
	n = digits_of(tmp, v, o->base, o->upper);
	precision = precision > n ? precision : n;
	width -= precision + (sign != 0);
	if (o->special && o->base != 10)
		width -= o->base == 16 ? 2 : v != 0;
	if (!left && !o->zero)
		w = put_fill(w, ' ', width);
	if (sign)
		*w++ = sign;
	if (o->special && (o->base == 16 || (o->base == 8 && v)))
		*w++ = '0';
	if (o->special && o->base == 16)
		*w++ = o->upper ? 'X' : 'x';
	if (!left && o->zero)
		w = put_fill(w, '0', width);
	w = put_fill(w, '0', precision - n);
	while (n)
		*w++ = tmp[--n];
	return left ? put_fill(w, ' ', width) : w;
}

/*
 * Print the symbol of an address. @letter: the letter after %p; a capital prints the offset as
 * well. B is a return address: the call precedes it and may be the last instruction of its
 * function. Return: false if @addr has no symbol.
 */
static inline bool print_symbol(const struct tap_symbols *symbols, uint64_t addr, char letter,
				struct tap_buf *out)
{
	uint64_t off, back = letter == 'B';
	const char *name = symbols ? tap_symbols_name(symbols, addr - back, &off) : NULL;
	char tmp[18];

	if (!name)
		return false;
	tap_buf_puts(out, name);
	if (letter == 'S' || letter == 'F' || letter == 'B') {
		tap_buf_puts(out, "+0x");
		tap_buf_add(out, tmp, (size_t)(put_hex(tmp, off + back) - tmp));
	}
	return true;
}

#endif
