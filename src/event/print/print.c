// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "event/print/print.h"

#include <arpa/inet.h>
#include <assert.h>
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "event/print/bin.h"
#include "event/print/callers.h"
#include "event/print/prog.h"
#include "event/print/put.h"

struct tap_printer {
	const struct tap_format *fmt;
	struct print_prog prog; /* if prog.outs is NULL, print name=value pairs */
	const struct tap_symbols *symbols; /* may be NULL */
	/* trace_printk() and similar events, whose text often ends with a newline */
	bool is_message;
	/*
	 * fields of a trace_printk() with binary arguments; NULL if missing, and for other events
	 */
	const struct tap_field *ip, *text, *args;
	struct tap_callers callers;
};

struct run {
	struct expr_run expr;
	const struct tap_symbols *symbols;
};

static inline uint64_t eval_node(const struct run *r, uint32_t n)
{
	return tap_expr_eval(&r->expr, n);
}

static inline const struct expr_node *get_node(const struct run *r, uint32_t n)
{
	return &r->expr.prog->nodes[n];
}

/* Return the node, or the operand that it selects if it is an "a ? b : c". */
static inline const struct expr_node *chosen_node(const struct run *r, uint32_t n)
{
	return get_node(r, expr_chosen(&r->expr, n));
}

static const unsigned char *bytes_of(const struct run *r, uint32_t n, uint32_t *len)
{
	return expr_region(&r->expr, chosen_node(r, n)->field, len);
}

/* ---- numbers ---- */

static inline uint64_t output_value(const struct run *r, const struct print_out *o)
{
	return o->load == LOAD_NODE ? eval_node(r, o->node)
				    : expr_load(o->load, r->expr.rec + o->at);
}

static int clamp_amount(int64_t v, int min)
{
	return v < min ? min : v > PRINT_MAX_WIDTH ? PRINT_MAX_WIDTH : (int)v;
}

/* The width and the precision of an output. */
struct amounts {
	int width, precision;
	bool left;
};

static struct amounts get_amounts(const struct run *r, const struct print_out *o)
{
	struct amounts a = { o->width, o->precision, o->left };

	if (o->width_node) {
		a.width = clamp_amount((int64_t)eval_node(r, o->width_node), -PRINT_MAX_WIDTH);
		a.left |= a.width < 0;
		a.width = abs(a.width);
	}
	if (o->precision_node)
		a.precision = clamp_amount((int64_t)eval_node(r, o->precision_node), 0);
	return a;
}

static char *put_number(const struct run *r, const struct print_out *o, char *w)
{
	struct amounts a = get_amounts(r, o);

	return print_number(o, output_value(r, o), a.left, a.width, a.precision, w);
}

/* ---- texts ---- */

/* Copy a literal. Writes up to EXPR_SLACK bytes too many, which is faster than calling memcpy(). */
static inline char *put_literal(char *w, const char *s, uint32_t len)
{
	memcpy(w, s, EXPR_SLACK);
	for (uint32_t i = EXPR_SLACK; i < len; i += EXPR_SLACK)
		memcpy(w + i, s + i, EXPR_SLACK);
	return w + len;
}

static char *put_0x(char *w, uint64_t v)
{
	w[0] = '0';
	w[1] = 'x';
	return put_hex(w + 2, v);
}

static void add_hex(struct tap_buf *out, uint64_t v)
{
	char tmp[18];

	tap_buf_add(out, tmp, (size_t)(put_0x(tmp, v) - tmp));
}

static void add_byte(struct tap_buf *out, unsigned char byte, bool upper)
{
	const char *set = upper ? "0123456789ABCDEF" : "0123456789abcdef";

	tap_buf_char(out, set[byte >> 4]);
	tap_buf_char(out, set[byte & 15]);
}

/* Print bytes in hex. */
static void put_row(const unsigned char *p, uint32_t nr, char between, bool backwards,
		    struct tap_buf *out)
{
	for (uint32_t i = 0; i < nr; i++) {
		if (i && between)
			tap_buf_char(out, between);
		add_byte(out, p[backwards ? nr - 1 - i : i], false);
	}
}

static char *put_symbolic(const struct run *r, const struct expr_node *n, char *w)
{
	const struct expr_entry *e = r->expr.prog->entries + n->at;
	uint64_t v = eval_node(r, n->a);
	uint32_t from = 0, to = n->len;

	while (from < to) {
		uint32_t mid = from + (to - from) / 2;

		if (e[mid].value < v)
			from = mid + 1;
		else
			to = mid;
	}
	if (from < n->len && e[from].value == v)
		return put_literal(w, r->expr.prog->texts + e[from].at, e[from].len);
	return put_0x(w, v);
}

static char *put_flags(const struct run *r, const struct expr_node *n, char *w)
{
	const struct expr_entry *e = r->expr.prog->entries + n->at, *end = e + n->len;
	const struct expr_node *delim = get_node(r, n->b);
	uint64_t v = eval_node(r, n->a);
	bool more = false;

	for (; e < end && v; e++) {
		if ((v & e->value) != e->value)
			continue;
		if (more)
			w = put_literal(w, r->expr.prog->texts + delim->at, delim->len);
		w = put_literal(w, r->expr.prog->texts + e->at, e->len);
		v &= ~e->value;
		more = true;
	}
	if (!v)
		return w;
	if (more)
		w = put_literal(w, r->expr.prog->texts + delim->at, delim->len);
	return put_0x(w, v);
}

/* Print a text of limited length. The caller has reserved its max_len. */
static char *put_short(const struct run *r, uint32_t i, char *w)
{
	const struct expr_node *n = chosen_node(r, i);

	if (n->op == OP_LITERAL)
		return put_literal(w, r->expr.prog->texts + n->at, n->len);
	return n->op == OP_SYMBOLIC ? put_symbolic(r, n, w) : put_flags(r, n, w);
}

/* Bitmasks are arrays of longs, each in the recorded kernel's byte order. */
static unsigned char mask_byte(const struct run *r, const unsigned char *p, uint32_t len,
			       uint32_t i)
{
	uint32_t word = r->expr.prog->fmt->long_size;

	if (!r->expr.prog->fmt->big_endian || len % word)
		return p[i];
	return p[i / word * word + (word - 1 - i % word)];
}

static void put_mask(const struct run *r, uint32_t n, struct tap_buf *out)
{
	uint32_t len;
	const unsigned char *p = bytes_of(r, n, &len);

	for (uint32_t i = len; i-- > 0;) {
		add_byte(out, mask_byte(r, p, len, i), false);
		if (i && i % 4 == 0)
			tap_buf_char(out, ',');
	}
}

static bool mask_bit(const struct run *r, const unsigned char *p, uint32_t len, uint64_t bit)
{
	return bit / 8 < len && mask_byte(r, p, len, (uint32_t)(bit / 8)) >> (bit % 8) & 1;
}

/* Print a bitmask as a list, "0-3,8". */
static void put_list(const struct run *r, uint32_t n, int64_t bits, struct tap_buf *out)
{
	uint32_t len;
	const unsigned char *p = bytes_of(r, n, &len);
	bool more = false;

	for (int64_t from = 0, to; from < bits && from / 8 < len; from = to + 1) {
		to = from;
		if (!mask_bit(r, p, len, (uint64_t)from))
			continue;
		while (to + 1 < bits && mask_bit(r, p, len, (uint64_t)to + 1))
			to++;
		if (more)
			tap_buf_char(out, ',');
		tap_buf_u64(out, (uint64_t)from);
		if (to > from) {
			tap_buf_char(out, '-');
			tap_buf_u64(out, (uint64_t)to);
		}
		more = true;
	}
}

/* Return the node's count, limited to 0..@most. */
static uint32_t count_of(const struct run *r, const struct expr_node *n, uint32_t most)
{
	int64_t count = (int64_t)eval_node(r, n->b);

	return count < 0 ? 0 : count < most ? (uint32_t)count : most;
}

static void put_plain(uint64_t v, struct tap_ctype type, struct tap_buf *out)
{
	if (type.is_real)
		tap_buf_real(out, tap_real_of(v, sizeof(v)), type.size == 4);
	else if (type.is_signed)
		tap_buf_s64(out, (int64_t)v);
	else
		tap_buf_u64(out, v);
}

static void put_elems(const unsigned char *p, uint32_t nr, struct tap_ctype type, bool swap,
		      bool hex, struct tap_buf *out)
{
	tap_buf_char(out, '{');
	for (uint32_t i = 0; i < nr; i++) {
		uint64_t v = expr_load_elem(p + i * type.size, type, swap);

		if (i)
			tap_buf_char(out, ',');
		if (hex)
			add_hex(out, v);
		else
			put_plain(v, type, out);
	}
	tap_buf_char(out, '}');
}

static void put_array(const struct run *r, const struct expr_node *n, struct tap_buf *out)
{
	const struct tap_field *f = chosen_node(r, n->a)->field;
	uint64_t size = eval_node(r, n->c);
	bool known = size == 1 || size == 2 || size == 4 || size == 8;
	struct tap_ctype type = { (uint8_t)size, false };
	uint32_t len;
	const unsigned char *p = expr_region(&r->expr, f, &len);

	put_elems(p, known ? count_of(r, n, len / type.size) : 0, type, f->swap, true, out);
}

/*
 * Print a row as hex_dump_to_buffer() does: the ASCII column starts where it would for a full row.
 */
static void put_dump_row(const struct expr_dump *d, const unsigned char *p, uint32_t len, bool swap,
			 struct tap_buf *out)
{
	const struct tap_ctype group = { len % d->group ? 1 : d->group, false };
	size_t start = out->len, column = d->row * 2u + d->row / group.size + 1u;

	for (uint32_t i = 0; i < len; i += group.size)
		tap_buf_printf(out, "%s%0*llx", i ? " " : "", 2 * group.size,
			       (unsigned long long)expr_load_elem(p + i, group, swap));
	if (!d->ascii)
		return;
	tap_buf_printf(out, "%*s", (int)(column - (out->len - start)), "");
	for (uint32_t i = 0; i < len; i++)
		tap_buf_char(out, p[i] >= ' ' && p[i] <= '~' ? (char)p[i] : '.');
}

static void put_dump(const struct run *r, const struct expr_node *n, struct tap_buf *out)
{
	const struct tap_field *f = chosen_node(r, n->a)->field;
	uint32_t len, row = n->dump.row;
	const unsigned char *p = expr_region(&r->expr, f, &len);
	const struct expr_node *prefix = get_node(r, n->c);

	tap_buf_char(out, '\n');
	len = count_of(r, n, len);
	for (uint32_t i = 0; i < len && !out->err; i += row) {
		tap_buf_add(out, r->expr.prog->texts + prefix->at, prefix->len);
		/* the address at which the kernel would have printed the bytes is unknown */
		if (n->dump.prefix == DUMP_PREFIX_ADDRESS)
			tap_buf_puts(out, "?: ");
		else if (n->dump.prefix == DUMP_PREFIX_OFFSET)
			tap_buf_printf(out, "%.8x: ", i);
		put_dump_row(&n->dump, p + i, len - i < row ? len - i : row, f->swap, out);
		tap_buf_char(out, '\n');
	}
}

static void put_text(const struct run *r, uint32_t i, struct tap_buf *out)
{
	const struct expr_node *n;
	const unsigned char *p;
	const char *text;
	uint64_t v;
	uint32_t len;

	i = expr_chosen(&r->expr, i);
	n = get_node(r, i);
	if (n->max_len) {
		if (tap_buf_reserve(out, n->max_len))
			out->len = (size_t)(put_short(r, i, out->data + out->len) - out->data);
		return;
	}
	switch (n->op) {
	case OP_BYTES:
		p = expr_region(&r->expr, n->field, &len);
		tap_buf_add(out, p, strnlen((const char *)p, len));
		break;
	case OP_MASK:
		put_mask(r, n->a, out);
		break;
	case OP_CPUS:
		put_list(r, n->a, INT64_MAX, out);
		break;
	case OP_HEX:
	case OP_HEX_STR:
		p = bytes_of(r, n->a, &len);
		put_row(p, count_of(r, n, len), n->op == OP_HEX ? ' ' : '\0', false, out);
		break;
	case OP_ARRAY:
		put_array(r, n, out);
		break;
	case OP_DUMP:
		put_dump(r, n, out);
		break;
	default:
		/* an address in the recorded kernel, whose memory is not in the record */
		v = eval_node(r, i);
		text = r->symbols ? tap_symbols_text(r->symbols, v) : NULL;
		if (text)
			tap_buf_puts(out, text);
		else if (v)
			add_hex(out, v);
		else
			tap_buf_puts(out, "(null)");
	}
}

/* Print a %s with a width or a precision. */
static void put_padded(const struct run *r, const struct print_out *o, struct tap_buf *out)
{
	struct amounts a = get_amounts(r, o);
	size_t start = out->len, len, blanks;

	put_text(r, o->node, out);
	len = out->len - start;
	if (a.precision >= 0 && len > (size_t)a.precision)
		len = (size_t)a.precision;
	out->len = start + len;
	if (len >= (size_t)a.width)
		return;
	blanks = (size_t)a.width - len;
	tap_buf_blanks(out, blanks);
	if (a.left || out->err)
		return;
	memmove(out->data + start + blanks, out->data + start, len);
	memset(out->data + start, ' ', blanks);
}

static void put_ip6(const struct print_out *o, const unsigned char *p, struct tap_buf *out)
{
	char tmp[INET6_ADDRSTRLEN];

	if (o->special && inet_ntop(AF_INET6, p, tmp, sizeof(tmp))) {
		tap_buf_puts(out, tmp);
		return;
	}
	for (int i = 0; i < 16; i++) {
		add_byte(out, p[i], false);
		if (i % 2 && i < 15 && !o->upper)
			tap_buf_char(out, ':');
	}
}

static void put_uuid(const struct print_out *o, const unsigned char *p, struct tap_buf *out)
{
	static const uint8_t little[] = { 3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15 };

	for (int i = 0; i < 16; i++) {
		add_byte(out, p[o->special ? little[i] : i], o->upper);
		if (i == 3 || i == 5 || i == 7 || i == 9)
			tap_buf_char(out, '-');
	}
}

static void put_ip4(const unsigned char *p, bool backwards, bool zeros, struct tap_buf *out)
{
	for (int i = 0; i < 4; i++)
		tap_buf_printf(out, zeros ? "%s%03u" : "%s%u", i ? "." : "",
			       p[backwards ? 3 - i : i]);
}

/* Print a %*ph. The width is the number of bytes, at most 64 as in printk(), by default 1. */
static void put_bytes(const struct run *r, const struct print_out *o, struct tap_buf *out)
{
	int64_t nr = o->width_node ? (int32_t)eval_node(r, o->width_node) : o->width ? o->width : 1;
	uint32_t len;
	const unsigned char *p = bytes_of(r, o->node, &len);

	nr = nr < 0 ? -nr : nr; /* a negative width means the flag "-" and a positive width */
	nr = nr > 64 ? 64 : nr;
	put_row(p, len < nr ? len : (uint32_t)nr, o->between, false, out);
}

/*
 * Print a struct sockaddr: its family is in the recorded kernel's byte order, the rest in network
 * order.
 */
static void put_sockaddr(const struct run *r, const struct print_out *o, const unsigned char *p,
			 uint32_t len, struct tap_buf *out)
{
	unsigned int family = r->expr.prog->fmt->big_endian ? p[0] << 8 | p[1] : p[1] << 8 | p[0];

	/* 2 and 10 are AF_INET and AF_INET6 on Linux, on whatever system this runs */
	if (family == 2) {
		put_ip4(p + 4, false, false, out);
	} else if (family == 10 && len >= 24) {
		tap_buf_puts(out, o->plus ? "[" : "");
		put_ip6(o, p + 8, out);
		tap_buf_puts(out, o->plus ? "]" : "");
	} else {
		tap_buf_puts(out, "(einval)");
		return;
	}
	if (o->plus)
		tap_buf_printf(out, ":%u", p[2] << 8 | p[3]);
}

static void put_address(const struct run *r, const struct print_out *o, struct tap_buf *out)
{
	static const uint8_t needs[] = {
		[OUT_IP4] = 4, [OUT_IP6] = 16, [OUT_SOCKADDR] = 8, [OUT_MAC] = 6, [OUT_UUID] = 16
	};
	uint32_t len;
	const unsigned char *p = bytes_of(r, o->node, &len);

	if (len < needs[o->kind])
		tap_buf_char(out, '?');
	else if (o->kind == OUT_IP4)
		put_ip4(p, o->special, o->upper, out);
	else if (o->kind == OUT_IP6)
		put_ip6(o, p, out);
	else if (o->kind == OUT_SOCKADDR)
		put_sockaddr(r, o, p, len, out);
	else if (o->kind == OUT_UUID)
		put_uuid(o, p, out);
	else
		put_row(p, 6, o->between, o->special, out);
}

/* Print a %pe as a kernel with CONFIG_SYMBOLIC_ERRNAME does. */
static void put_error(const struct run *r, const struct print_out *o, struct tap_buf *out)
{
	int64_t v = (int64_t)output_value(r, o);
	const char *name = v < 0 && v >= -4095 ? strerrorname_np((int)-v) : NULL;

	if (name)
		tap_buf_printf(out, "-%s", name);
	else if (v < 0 && v >= -4095)
		tap_buf_printf(out, "%d", (int)v);
	else
		add_hex(out, r->expr.prog->fmt->long_size == 8 ? (uint64_t)v : (uint32_t)v);
}

static void put_real(const struct run *r, const struct print_out *o, struct tap_buf *out)
{
	struct amounts a = get_amounts(r, o);
	char fmt[16], *w = fmt;

	*w++ = '%';
	if (a.left)
		*w++ = '-';
	if (o->plus)
		*w++ = '+';
	if (o->space)
		*w++ = ' ';
	if (o->special)
		*w++ = '#';
	if (o->zero)
		*w++ = '0';
	memcpy(w, "*.*", 3);
	w[3] = o->conv;
	w[4] = '\0';
	tap_buf_printf(out, fmt, a.width, a.precision,
		       tap_real_of(output_value(r, o), sizeof(double)));
}

static void put_symbol(const struct run *r, const struct print_out *o, struct tap_buf *out)
{
	if (print_symbol(r->symbols, output_value(r, o), o->conv, out))
		return;
	if (tap_buf_reserve(out, PRINT_MAX_NUMBER))
		out->len = (size_t)(put_number(r, o, out->data + out->len) - out->data);
}

/* Print an output whose length is not known in advance. */
static void put_unbounded(const struct run *r, const struct print_out *o, struct tap_buf *out)
{
	uint64_t v;

	switch (o->kind) {
	case OUT_TEXT:
		if (o->width || o->width_node || o->precision >= 0 || o->precision_node)
			put_padded(r, o, out);
		else
			put_text(r, o->node, out);
		break;
	case OUT_CHAR:
		v = output_value(r, o);
		if (v)
			tap_buf_char(out, (char)v);
		break;
	case OUT_REAL:
		put_real(r, o, out);
		break;
	case OUT_SYMBOL:
		put_symbol(r, o, out);
		break;
	case OUT_MASK:
		put_mask(r, o->node, out);
		break;
	case OUT_LIST: /* %*pbl: the width is the number of bits */
		put_list(r, o->node,
			 o->width_node ? (int64_t)eval_node(r, o->width_node) : o->width, out);
		break;
	case OUT_BYTES:
		put_bytes(r, o, out);
		break;
	case OUT_ERROR:
		put_error(r, o, out);
		break;
	case OUT_UNKNOWN:
		tap_buf_char(out, '?');
		break;
	default:
		put_address(r, o, out);
	}
}

/* ---- the program ---- */

static inline char *put_chars(char *w, const unsigned char *p, uint32_t len)
{
	size_t n = strnlen((const char *)p, len);

	memcpy(w, p, n);
	return w + n;
}

/* strnlen() for 8 bytes: the lowest bit set after the subtraction marks the first NUL. */
static inline unsigned int len8(const unsigned char *p)
{
	const uint64_t ones = 0x0101010101010101;
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	v = le64toh(v);
	v = (v - ones) & ~v & ones << 7;
	return v ? (unsigned int)__builtin_ctzll(v) / 8 : 8;
}

static inline char *put_chars16(char *w, const unsigned char *p)
{
	unsigned int len = len8(p);

	memcpy(w, p, 16);
	return w + (len < 8 ? len : 8 + len8(p + 8));
}

static void run_prog(const struct print_out *o, const struct run *r, struct tap_buf *out)
{
	char *w;

	if (!tap_buf_reserve(out, o->room))
		return;
	for (w = out->data + out->len;; o++) {
		w = put_literal(w, r->expr.prog->texts + o->lit, o->lit_len);
		switch (o->kind) {
		case OUT_SIGNED:
			w = put_signed(w, (int64_t)output_value(r, o));
			break;
		case OUT_UNSIGNED:
			w = put_unsigned(w, output_value(r, o));
			break;
		case OUT_HEX:
			w = put_hex(w, output_value(r, o));
			break;
		case OUT_NUMBER:
			w = put_number(r, o, w);
			break;
		case OUT_CHARS16:
			w = put_chars16(w, r->expr.rec + o->at);
			break;
		case OUT_CHARS:
			w = put_chars(w, r->expr.rec + o->at, o->len);
			break;
		case OUT_SHORT:
			w = put_short(r, o->node, w);
			break;
		case OUT_END:
			out->len = (size_t)(w - out->data);
			return;
		default:
			out->len = (size_t)(w - out->data);
			put_unbounded(r, o, out);
			if (!tap_buf_reserve(out, o[1].room))
				return;
			w = out->data + out->len;
		}
	}
}

/* ---- name=value pairs ---- */

static void put_pair(const struct tap_field *f, const struct run *r, struct tap_buf *out)
{
	struct tap_ctype type = expr_elem_type(f);
	uint32_t len;
	const char *s = tap_field_bytes(f, r->expr.rec, r->expr.size, &len);
	const unsigned char *p = (const unsigned char *)s;

	tap_buf_puts(out, f->name);
	tap_buf_char(out, '=');
	if (f->kind == TAP_FIELD_CHARS || f->kind == TAP_FIELD_STRING)
		tap_buf_add(out, s, len);
	else if (f->kind != TAP_FIELD_NUMBER && f->kind != TAP_FIELD_REAL)
		put_elems(p, len / type.size, type, f->swap, type.size != f->elem_size, out);
	else if (strchr(f->type, '*'))
		add_hex(out, expr_load_elem(p, type, f->swap));
	else
		put_plain(expr_load_elem(p, type, f->swap), type, out);
}

static void run_pairs(const struct tap_format *fmt, const struct run *r, struct tap_buf *out)
{
	for (unsigned int i = fmt->nr_common; i < fmt->nr_fields; i++) {
		if (i > fmt->nr_common)
			tap_buf_char(out, ' ');
		put_pair(&fmt->fields[i], r, out);
	}
}

/* ---- trace_printk() ---- */

static const struct tap_field *field_of(const struct tap_format *fmt, const char *name,
					enum tap_field_kind kind)
{
	const struct tap_field *f = tap_format_field(fmt, name);

	return f && f->kind == kind ? f : NULL;
}

static void find_message(struct tap_printer *p)
{
	const struct tap_format *fmt = p->fmt;
	bool bin = !strcmp(fmt->name, "bprint");

	if (strcmp(fmt->system, "ftrace"))
		return;
	p->is_message = bin || !strcmp(fmt->name, "print") || !strcmp(fmt->name, "bputs");
	if (!bin)
		return;
	p->ip = field_of(fmt, "ip", TAP_FIELD_NUMBER);
	p->text = field_of(fmt, "fmt", TAP_FIELD_NUMBER);
	p->args = field_of(fmt, "buf", TAP_FIELD_ARRAY);
}

/* Print a trace_printk(). Return: false if the recording lacks its format string. */
static bool run_bin(const struct tap_printer *p, const struct run *r, struct tap_buf *out)
{
	struct tap_abi abi = { p->fmt->big_endian, p->fmt->long_size };
	const unsigned char *bytes;
	const char *text;
	uint64_t ip;
	uint32_t len;

	if (!p->ip || !p->text || !p->args || !p->symbols)
		return false;
	text = tap_symbols_text(p->symbols, tap_field_u64(p->text, r->expr.rec, r->expr.size));
	if (!text)
		return false;
	ip = tap_field_u64(p->ip, r->expr.rec, r->expr.size);
	if (!print_symbol(p->symbols, ip, 's', out))
		add_hex(out, ip);
	tap_buf_puts(out, ": ");
	bytes = expr_region(&r->expr, p->args, &len);
	tap_print_bin(text, bytes, len, abi, p->symbols, out);
	return true;
}

/* ---- */

int tap_print_check(const struct tap_format *fmt)
{
	struct print_prog prog;
	int ret = tap_print_compile(fmt, &prog);

	for (uint32_t i = 1; !ret && i < prog.expr.nr_nodes; i++) {
		const struct expr_node *n = &prog.expr.nodes[i], *by = &prog.expr.nodes[n->b];

		if ((n->op == OP_DIV || n->op == OP_MOD) && (by->op != OP_NUM || !by->num))
			ret = -EINVAL;
	}
	tap_print_prog_release(&prog);
	return ret;
}

int tap_printer_new(const struct tap_format *fmt, struct tap_printer **out, struct tap_err *err)
{
	struct tap_printer *p = calloc(1, sizeof(*p));

	*out = NULL;
	if (!p)
		return tap_err_nomem(err);
	p->fmt = fmt;
	find_message(p);
	p->callers = tap_callers_find(fmt);
	/* after -EINVAL it prints name=value pairs */
	if (tap_print_compile(fmt, &p->prog) == -ENOMEM) {
		free(p);
		return tap_err_nomem(err);
	}
	*out = p;
	return 0;
}

void tap_printer_free(struct tap_printer *p)
{
	if (!p)
		return;
	tap_print_prog_release(&p->prog);
	free(p);
}

void tap_printer_set_symbols(struct tap_printer *p, const struct tap_symbols *symbols)
{
	p->symbols = symbols;
}

void tap_printer_run(const struct tap_printer *p, const void *rec, uint32_t size,
		     struct tap_buf *out)
{
	struct run r = { { &p->prog.expr, rec, size }, p->symbols };
	size_t before = out->len;

	assert(size >= p->fmt->min_size);
	if (p->callers.address) {
		tap_callers_put(&p->callers, rec, size, p->symbols, out);
		return;
	}
	if (p->callers.ip) {
		tap_callers_put_call(&p->callers, rec, size, p->symbols, out);
		return;
	}
	if (!p->is_message || !run_bin(p, &r, out)) {
		if (p->prog.outs)
			run_prog(p->prog.outs, &r, out);
		else
			run_pairs(p->fmt, &r, out);
	}
	if (p->is_message && out->len > before && out->data[out->len - 1] == '\n')
		out->len--;
}
