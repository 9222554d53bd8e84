// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Compile print formats: a string with printk()'s conversions, and an expression for each of them.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "event/expr/parse.h"
#include "event/print/prog.h"
#include "event/span.h"

static uint32_t parse_number(struct expr_parser *p, uint8_t size, bool is_signed)
{
	return tap_expr_cast(p, tap_expr_arg(p), (struct tap_ctype){ size, is_signed });
}

/* Parse a width or a precision: a number, or "*" for an additional argument. */
static const char *parse_amount(struct expr_parser *p, const char *s, int32_t *amount,
				uint32_t *arg)
{
	uint64_t v;

	*amount = 0;
	if (*s == '*') {
		*arg = parse_number(p, 4, true);
		return s + 1;
	}
	tap_text_take_digits(&s, NULL, 10, &v);
	if (v > PRINT_MAX_WIDTH)
		tap_expr_fail(p, -EINVAL);
	else
		*amount = (int32_t)v;
	return s;
}

const char *tap_conversion_flags(const char *s, struct print_out *o)
{
	for (;; s++) {
		if (*s == '-')
			o->left = true;
		else if (*s == '+')
			o->plus = true;
		else if (*s == ' ')
			o->space = true;
		else if (*s == '#')
			o->special = true;
		else if (*s == '0')
			o->zero = true;
		else
			return s;
	}
}

const char *tap_conversion_length(const char *s, const char *known, uint8_t long_size,
				  uint8_t *size)
{
	*size = 4;
	for (; *s && strchr(known, *s); s++) {
		if (*s == 'h')
			*size = *size == 2 ? 1 : 2;
		else if (strchr("Lqj", *s) || (*s == 'l' && s[-1] == 'l'))
			*size = 8;
		else
			*size = long_size;
	}
	return s;
}

void tap_conversion_base(char conv, struct print_out *o)
{
	o->is_signed = conv == 'd' || conv == 'i';
	o->upper = conv == 'X';
	o->base = conv == 'o' ? 8 : (conv | 32) == 'x' ? 16 : 10;
}

/*
 * Set where a number comes from: directly from a field if possible, otherwise from its expression.
 */
static void set_source(struct expr_parser *p, struct print_out *o, uint32_t n)
{
	o->node = n;
	if (p->err || node_at(p, n)->op != OP_LOAD || node_at(p, n)->num != UINT64_MAX)
		return;
	o->load = node_at(p, n)->load;
	o->at = node_at(p, n)->at;
}

static void set_number(struct expr_parser *p, struct print_out *o, char conv, uint8_t size)
{
	bool plain = !o->plus && !o->space && !o->special && !o->width && !o->width_node &&
		     o->precision < 0;

	tap_conversion_base(conv, o);
	set_source(p, o, parse_number(p, size, o->is_signed));
	o->kind = OUT_NUMBER;
	if (plain && o->base == 10)
		o->kind = o->is_signed ? OUT_SIGNED : OUT_UNSIGNED;
	else if (plain && o->base == 16 && !o->upper)
		o->kind = OUT_HEX;
}

static void set_real(struct expr_parser *p, struct print_out *o, char conv)
{
	uint32_t n = tap_expr_arg(p);

	if (!p->err && (node_at(p, n)->class == EXPR_REAL || node_at(p, n)->unknown))
		set_source(p, o, n);
	else
		tap_expr_fail(p, -EINVAL);
	o->kind = OUT_REAL;
	o->conv = conv;
}

static void set_text(struct expr_parser *p, struct print_out *o)
{
	const struct tap_field *f;

	o->kind = OUT_TEXT;
	o->node = tap_expr_arg(p);
	if (!p->err && node_at(p, o->node)->class == EXPR_REAL)
		tap_expr_fail(p, -EINVAL);
	if (p->err || o->width || o->width_node || o->precision >= 0 || o->precision_node)
		return;
	if (node_at(p, o->node)->max_len && node_at(p, o->node)->max_len <= PRINT_SHORT) {
		o->kind = OUT_SHORT;
		o->len = node_at(p, o->node)->max_len;
	}
	if (node_at(p, o->node)->op != OP_BYTES)
		return;
	f = node_at(p, o->node)->field;
	/* a field of size 0 extends to the end of the record */
	if ((f->kind != TAP_FIELD_CHARS && f->kind != TAP_FIELD_ARRAY) || !f->size ||
	    f->offset + f->size > p->fmt->min_size)
		return;
	o->kind = f->size == 16 ? OUT_CHARS16 : OUT_CHARS;
	o->at = f->offset;
	o->len = f->size;
}

/* Compile a %p. As in printk(), the word after it selects the kind of object and is not printed. */
static const char *set_pointer(struct expr_parser *p, struct print_out *o, const char *s)
{
	static const struct {
		const char *word;
		uint8_t kind;
		char between;
		/*
		 * IP6, SOCKADDR: abbreviate; UUID: little-endian first fields; IP4, MAC: reverse
		 * the bytes
		 */
		bool special;
		/* UUID: capitals; IP4, IP6: i instead of I: with leading zeros, without colons */
		bool upper;
		bool plus;
		bool host; /* reverse the bytes if the recording is little-endian */
	} words[] = {
		{ "bl", OUT_LIST },
		{ "b", OUT_MASK },
		{ "h", OUT_BYTES, ' ' },
		{ "hC", OUT_BYTES, ':' },
		{ "hD", OUT_BYTES, '-' },
		{ "hN", OUT_BYTES },
		{ "M", OUT_MAC, ':' },
		{ "MF", OUT_MAC, '-' },
		{ "MR", OUT_MAC, ':', .special = true },
		{ "m", OUT_MAC },
		{ "mR", OUT_MAC, .special = true },
		{ "I4", OUT_IP4 },
		{ "I4n", OUT_IP4 },
		{ "I4b", OUT_IP4 },
		{ "I4l", OUT_IP4, .special = true },
		{ "I4h", OUT_IP4, .host = true },
		{ "i4", OUT_IP4, .upper = true },
		{ "I6c", OUT_IP6, .special = true },
		{ "I6", OUT_IP6 },
		{ "i6", OUT_IP6, .upper = true },
		{ "IS", OUT_SOCKADDR },
		{ "ISc", OUT_SOCKADDR, .special = true },
		{ "ISp", OUT_SOCKADDR, .plus = true },
		{ "ISpc", OUT_SOCKADDR, .special = true, .plus = true },
		{ "U", OUT_UUID },
		{ "Ub", OUT_UUID },
		{ "UB", OUT_UUID, .upper = true },
		{ "Ul", OUT_UUID, .special = true },
		{ "UL", OUT_UUID, .special = true, .upper = true },
	};
	const size_t nr = sizeof(words) / sizeof(words[0]);
	struct span word = { s, 0 };
	size_t i = 0;

	while (isalnum((unsigned char)s[word.len]))
		word.len++;
	while (i < nr && !span_is(word, words[i].word))
		i++;
	if (i < nr) {
		o->kind = words[i].kind;
		o->between = words[i].between;
		o->special = words[i].special || (words[i].host && !p->fmt->big_endian);
		o->upper = words[i].upper;
		o->plus = words[i].plus;
		o->node = tap_expr_arg(p);
		if (p->err || node_at(p, o->node)->class != EXPR_BYTES)
			tap_expr_fail(p, -EINVAL);
	} else if (span_is(word, "e")) {
		o->kind = OUT_ERROR;
		set_source(p, o, parse_number(p, p->fmt->long_size, true));
	} else if (!word.len || strchr("SsFfBxK", *s)) {
		/* %pfw prints a firmware node */
		o->kind = word.len && strchr("SsFfB", *s) && s[1] != 'w' ? OUT_SYMBOL : OUT_NUMBER;
		o->conv = word.len ? *s : '\0';
		o->base = 16;
		o->special = true;
		set_source(p, o, parse_number(p, p->fmt->long_size, false));
	} else {
		tap_expr_fail(p, -EINVAL);
	}
	return s + word.len;
}

static const char *parse_conversion(struct expr_parser *p, const char *s, struct print_out *o)
{
	uint8_t size;

	o->precision = -1;
	s = tap_conversion_flags(s, o);
	s = parse_amount(p, s, &o->width, &o->width_node);
	if (*s == '.')
		s = parse_amount(p, s + 1, &o->precision, &o->precision_node);
	s = tap_conversion_length(s, "hlLzt", p->fmt->long_size, &size);
	if (*s == 'p')
		return set_pointer(p, o, s + 1);
	if (*s == 's') {
		set_text(p, o);
	} else if (*s == 'c') {
		o->kind = OUT_CHAR;
		set_source(p, o, parse_number(p, 1, false));
	} else if (*s && strchr("diuxXo", *s)) {
		set_number(p, o, *s, size);
	} else if (*s && strchr("aAeEfFgG", *s)) {
		set_real(p, o, *s);
	} else {
		tap_expr_fail(p, -EINVAL);
	}
	return s + 1;
}

static void add_out(struct expr_parser *p, struct print_prog *prog, struct print_out o)
{
	if (!tap_expr_grow(p, &prog->outs, prog->nr_outs, 1, &prog->cap_outs, sizeof(o)))
		return;
	if (o.node && !p->err && node_at(p, o.node)->unknown)
		o.kind = OUT_UNKNOWN;
	prog->outs[prog->nr_outs++] = o;
}

/*
 * Compile the format string. Literals are copied, with "%%" resolved, so that each of them is
 * contiguous.
 */
static void parse_format(struct expr_parser *p, struct print_prog *prog, const char *s)
{
	struct print_out o = { .lit = prog->expr.texts_len };

	while (!p->err && *s) {
		if (*s != '%' || s[1] == '%') {
			tap_expr_add_text(p, s, 1);
			o.lit_len++;
			s += *s == '%' ? 2 : 1;
			continue;
		}
		s = parse_conversion(p, s + 1, &o);
		add_out(p, prog, o);
		o = (struct print_out){ .lit = prog->expr.texts_len };
	}
	o.kind = OUT_END;
	add_out(p, prog, o);
}

static size_t most_bytes(const struct print_out *o)
{
	size_t width = o->width > o->precision ? (size_t)o->width : (size_t)o->precision;

	switch (o->kind) {
	case OUT_SIGNED:
	case OUT_UNSIGNED:
	case OUT_HEX:
		return 24;
	case OUT_NUMBER:
		if (o->width_node || o->precision_node)
			width = PRINT_MAX_WIDTH;
		return 32 + width;
	case OUT_CHARS16:
	case OUT_CHARS:
	case OUT_SHORT:
		return o->len;
	default:
		return 0;
	}
}

static void set_room(struct print_prog *prog)
{
	size_t room = 2 * EXPR_SLACK;

	for (uint32_t i = prog->nr_outs; i-- > 0;) {
		struct print_out *o = &prog->outs[i];

		if (o->kind >= OUT_TEXT)
			room = 2 * EXPR_SLACK;
		room += o->lit_len + most_bytes(o);
		o->room = room;
	}
}

int tap_print_compile(const struct tap_format *fmt, struct print_prog *prog)
{
	struct expr_parser p;
	uint32_t at = 0, len = 0;
	char *format = NULL;
	int ret;

	*prog = (struct print_prog){ 0 };
	tap_expr_begin(&p, fmt, fmt->print_fmt, &prog->expr);
	tap_expr_string(&p, &at, &len);
	if (!p.err) {
		/* a copy, as texts is reallocated when it grows */
		format = strndup(prog->expr.texts + at, len);
		if (format)
			parse_format(&p, prog, format);
		else
			tap_expr_fail(&p, -ENOMEM);
	}
	free(format);
	if (prog->nr_outs == 1)
		tap_expr_accept(&p, ","); /* the kernel writes a comma even without arguments */
	ret = tap_expr_end(&p);
	if (ret)
		tap_print_prog_release(prog);
	else
		set_room(prog);
	return ret;
}

void tap_print_prog_release(struct print_prog *prog)
{
	tap_expr_release(&prog->expr);
	free(prog->outs);
	*prog = (struct print_prog){ 0 };
}
