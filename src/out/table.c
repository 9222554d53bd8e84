// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "out/table.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>

#include "base/text.h"

#define BLOCK 65536u /* bytes that one write takes */
#define BETWEEN 2u   /* blanks between two columns */
#define MAX_NUMBER 32u /* bytes of one, but for TAP_CELL_REAL */

/* A number is made from its end, and copied with what lies behind it: see put_number(). */
struct number {
	char digits[MAX_NUMBER], end[MAX_NUMBER];
};

/* What is kept is written, or after an error dropped, so that it does not pile up. */
static void flush(struct tap_report *r)
{
	if (!r->err)
		r->err = r->buf.err ? r->buf.err : tap_write_all(r->fd, r->buf.data, r->buf.len);
	tap_buf_clear(&r->buf);
}

static void flush_if_full(struct tap_report *r)
{
	if (r->buf.len >= BLOCK || r->buf.err)
		flush(r);
}

void tap_report_open(struct tap_report *r, enum tap_style style, int fd)
{
	*r = (struct tap_report){ .style = style, .fd = fd };
	if (style == TAP_STYLE_JSON)
		tap_buf_char(&r->buf, '{');
}

int tap_report_close(struct tap_report *r)
{
	if (r->style == TAP_STYLE_JSON)
		tap_buf_puts(&r->buf, "}\n");
	flush(r);
	tap_buf_release(&r->buf);
	return r->err;
}

static void put_key(struct tap_report *r, const char *key)
{
	size_t len = strlen(key);
	char *p;

	if (!tap_buf_reserve(&r->buf, len + 4))
		return;
	p = r->buf.data + r->buf.len;
	if (r->comma)
		*p++ = ',';
	*p++ = '"';
	p = mempcpy(p, key, len);
	*p++ = '"';
	*p++ = ':';
	r->buf.len = (size_t)(p - r->buf.data);
	r->comma = true;
}

void tap_report_key(struct tap_report *r, const char *key)
{
	if (r->style == TAP_STYLE_JSON)
		put_key(r, key);
}

static void open_json(struct tap_report *r, const char *key, char bracket)
{
	if (r->style != TAP_STYLE_JSON)
		return;
	if (key)
		put_key(r, key);
	else if (r->comma)
		tap_buf_char(&r->buf, ',');
	tap_buf_char(&r->buf, bracket);
	r->comma = false;
}

static void close_json(struct tap_report *r, char bracket)
{
	if (r->style != TAP_STYLE_JSON)
		return;
	tap_buf_char(&r->buf, bracket);
	r->comma = true;
	flush_if_full(r);
}

void tap_report_object(struct tap_report *r, const char *key)
{
	open_json(r, key, '{');
}

void tap_report_object_end(struct tap_report *r)
{
	close_json(r, '}');
}

void tap_report_array(struct tap_report *r, const char *key)
{
	open_json(r, key, '[');
}

void tap_report_array_end(struct tap_report *r)
{
	close_json(r, ']');
}

void tap_report_u64(struct tap_report *r, const char *key, uint64_t v)
{
	if (r->style != TAP_STYLE_JSON)
		return;
	put_key(r, key);
	tap_buf_u64(&r->buf, v);
}

void tap_report_text(struct tap_report *r, const char *key, const char *s, size_t len)
{
	if (r->style != TAP_STYLE_JSON)
		return;
	put_key(r, key);
	tap_text_json(&r->buf, s, len);
}

static void put_json_real(struct tap_buf *b, double v)
{
	if (isfinite(v))
		tap_buf_printf(b, "%.15g", v);
	else
		tap_buf_puts(b, "null");
}

void tap_report_real(struct tap_report *r, const char *key, double v)
{
	if (r->style != TAP_STYLE_JSON)
		return;
	put_key(r, key);
	put_json_real(&r->buf, v);
}

static bool is_json(const struct tap_report *r)
{
	return r->style == TAP_STYLE_JSON || r->style == TAP_STYLE_JSONL;
}

/* Whether the style shows this column. */
static bool shown(const struct tap_report *r, const struct tap_column *c)
{
	return r->style == TAP_STYLE_TEXT ? c->title != NULL : c->key != NULL;
}

/* Adds @n blanks. */
static void put_blanks(struct tap_buf *b, size_t n)
{
	if (!n || !tap_buf_reserve(b, n))
		return;
	memset(b->data + b->len, ' ', n);
	b->len += n;
}

/* Columns that the text takes in a terminal, if each of its characters takes one. */
static size_t columns_of(const char *s, size_t len)
{
	size_t n = 0;

	for (size_t i = 0; i < len; i++)
		n += ((unsigned char)s[i] & 0xc0) != 0x80;
	return n;
}

/* The blanks behind a text wait for the next cell: none stand at a line's end. */
static void pad_left_aligned(struct tap_table *t, unsigned int width, size_t text_start)
{
	const struct tap_buf *b = &t->to->buf;
	size_t n = b->len > text_start ? columns_of(b->data + text_start, b->len - text_start) : 0;

	t->pad = BETWEEN + (n < width ? width - n : 0);
}

static bool is_left_aligned(const struct tap_column *c)
{
	return c->cell == TAP_CELL_TEXT || c->cell == TAP_CELL_LABEL;
}

static void put_title(struct tap_table *t, const struct tap_column *c)
{
	struct tap_buf *b = &t->to->buf;
	size_t len = columns_of(c->title, strlen(c->title)), start;

	put_blanks(b, t->pad + (!is_left_aligned(c) && len < c->width ? c->width - len : 0));
	start = b->len;
	tap_buf_puts(b, c->title);
	if (is_left_aligned(c))
		pad_left_aligned(t, c->width, start);
	else
		t->pad = BETWEEN;
}

static void put_header(struct tap_table *t)
{
	struct tap_buf *b = &t->to->buf;

	t->pad = 0;
	for (const struct tap_column *c = t->columns; c->key || c->title; c++) {
		if (!shown(t->to, c))
			continue;
		if (t->to->style == TAP_STYLE_TEXT) {
			put_title(t, c);
			continue;
		}
		if (t->pad++)
			tap_buf_char(b, ',');
		tap_buf_puts(b, c->key);
	}
	tap_buf_char(b, '\n');
}

void tap_table_begin(struct tap_table *t, struct tap_report *r, const struct tap_column *columns,
		     const char *key)
{
	*t = (struct tap_table){ .to = r, .columns = columns, .at = columns };
	if (!is_json(r))
		put_header(t);
	tap_report_array(r, key);
}

void tap_table_end(struct tap_table *t)
{
	tap_report_array_end(t->to);
}

void tap_table_object(struct tap_table *t, struct tap_report *r, const struct tap_column *columns,
		      const char *key)
{
	*t = (struct tap_table){ .to = r, .columns = columns, .at = columns };
	tap_report_key(r, key);
	r->comma = false;
}

/*
 * Begins a cell. Return: its column; NULL if the style does not show it. In text the caller puts
 * the blanks before it, for it knows how wide the cell is.
 */
static const struct tap_column *begin_cell(struct tap_table *t)
{
	const struct tap_column *c = t->at++;
	struct tap_report *r = t->to;

	assert(c->key || c->title);
	if (c == t->columns) {
		t->pad = 0;
		if (is_json(r)) {
			if (r->comma && r->style == TAP_STYLE_JSON)
				tap_buf_char(&r->buf, ',');
			tap_buf_char(&r->buf, '{');
			r->comma = false;
		}
	}
	if (!shown(r, c))
		return NULL;
	if (is_json(r))
		put_key(r, c->key);
	else if (r->style == TAP_STYLE_CSV && t->pad++)
		tap_buf_char(&r->buf, ',');
	return c;
}

/* A cell that needs no escaping; right-aligned, but for texts. */
static void put_plain(struct tap_table *t, const struct tap_column *c, const char *s, size_t len)
{
	struct tap_buf *b = &t->to->buf;

	if (t->to->style == TAP_STYLE_TEXT) {
		size_t blanks = len < c->width ? c->width - len : 0;
		bool left = is_left_aligned(c);

		put_blanks(b, t->pad + (left ? 0 : blanks));
		t->pad = BETWEEN + (left ? blanks : 0);
	}
	tap_buf_add(b, s, len);
}

void tap_table_text(struct tap_table *t, const char *s, size_t len)
{
	const struct tap_column *c = begin_cell(t);
	struct tap_buf *b = &t->to->buf;
	size_t start;

	if (!c)
		return;
	assert(c->cell == TAP_CELL_TEXT || (c->cell == TAP_CELL_LABEL && !c->key));
	switch (t->to->style) {
	case TAP_STYLE_TEXT:
		if (!len) { /* nothing to see, perhaps at the line's end */
			t->pad += BETWEEN + c->width;
			break;
		}
		put_blanks(b, t->pad);
		start = b->len;
		if (c->cell == TAP_CELL_LABEL)
			tap_buf_add(b, s, len);
		else
			tap_text_escape(b, s, len);
		pad_left_aligned(t, c->width, start);
		break;
	case TAP_STYLE_CSV:
		tap_text_csv(b, s, len);
		break;
	default:
		tap_text_json(b, s, len);
	}
}

/* Writes @v before @end, two digits at a time. Return: its first digit. */
static char *put_u64(char *end, uint64_t v)
{
	static const char pairs[] = "00010203040506070809101112131415161718192021222324"
				    "25262728293031323334353637383940414243444546474849"
				    "50515253545556575859606162636465666768697071727374"
				    "75767778798081828384858687888990919293949596979899";

	for (; v >= 100; v /= 100)
		end = memcpy(end - 2, pairs + v % 100 * 2, 2);
	if (v >= 10)
		return memcpy(end - 2, pairs + v * 2, 2);
	*--end = (char)('0' + v);
	return end;
}

/* Writes @v as a number with @digits decimals before @end. Return: its first digit. */
static char *put_fixed(char *end, uint64_t v, unsigned int digits)
{
	for (; digits; digits--, v /= 10)
		*--end = (char)('0' + v % 10);
	*--end = '.';
	return put_u64(end, v);
}

static char *put_duration(char *end, uint64_t ns, enum tap_unit unit)
{
	static const uint64_t last_digit[] = {
		[TAP_UNIT_MS] = 1000, [TAP_UNIT_US] = 1, [TAP_UNIT_S] = 1000000,
	};
	uint64_t div = last_digit[unit];

	return put_fixed(end, ns / div + (div > 1 && ns % div >= div / 2), 3);
}

/* Tables are mostly numbers: copies of a size that is known are a few instructions each. */
static void put_number(struct tap_table *t, const struct tap_column *c, const struct number *n,
		       const char *first)
{
	struct tap_buf *b = &t->to->buf;
	size_t len = (size_t)(n->end - first), blanks = 0;
	char *p;

	if (t->to->style == TAP_STYLE_TEXT) {
		blanks = t->pad + (len < c->width ? c->width - len : 0);
		t->pad = BETWEEN;
	}
	if (!tap_buf_reserve(b, blanks + 2 * MAX_NUMBER))
		return;
	p = b->data + b->len;
	memset(p, ' ', MAX_NUMBER);
	if (blanks > MAX_NUMBER)
		memset(p, ' ', blanks);
	memcpy(p + blanks, first, MAX_NUMBER);
	b->len += blanks + len;
}

void tap_table_u64(struct tap_table *t, uint64_t v)
{
	const struct tap_column *c = begin_cell(t);
	struct number n;
	char *p;

	if (!c)
		return;
	assert(c->cell == TAP_CELL_COUNT || c->cell == TAP_CELL_NS || c->cell == TAP_CELL_AT);
	if (c->cell == TAP_CELL_COUNT || t->to->style != TAP_STYLE_TEXT)
		p = put_u64(n.end, v);
	else if (c->cell == TAP_CELL_NS)
		p = put_duration(n.end, v, c->unit);
	else
		p = put_fixed(n.end, v, 9);
	put_number(t, c, &n, p);
}

void tap_table_s64(struct tap_table *t, int64_t v)
{
	const struct tap_column *c = begin_cell(t);
	struct number n;
	char *p;

	if (!c)
		return;
	assert(c->cell == TAP_CELL_INT);
	p = put_u64(n.end, v < 0 ? -(uint64_t)v : (uint64_t)v);
	if (v < 0)
		*--p = '-';
	put_number(t, c, &n, p);
}

/* What is not known: "-", null or nothing. */
static void put_none(struct tap_table *t, const struct tap_column *c)
{
	static const char *const none[] = {
		[TAP_STYLE_TEXT] = "-", [TAP_STYLE_JSON] = "null", [TAP_STYLE_JSONL] = "null",
		[TAP_STYLE_CSV] = "",
	};
	const char *s = none[t->to->style];

	put_plain(t, c, s, strlen(s));
}

void tap_table_real(struct tap_table *t, double v)
{
	const struct tap_column *c = begin_cell(t);
	char number[400]; /* 1e308 has 309 digits */
	int len;

	if (!c)
		return;
	assert(c->cell == TAP_CELL_REAL);
	if (is_json(t->to)) {
		put_json_real(&t->to->buf, v);
		return;
	}
	if (!isfinite(v)) {
		put_none(t, c);
		return;
	}
	len = snprintf(number, sizeof(number), "%.*f", (int)c->places, v);
	put_plain(t, c, number, (size_t)len);
}

void tap_table_none(struct tap_table *t)
{
	const struct tap_column *c = begin_cell(t);

	if (c)
		put_none(t, c);
}

void tap_table_row(struct tap_table *t)
{
	struct tap_report *r = t->to;

	assert(!t->at->key && !t->at->title);
	t->at = t->columns;
	if (is_json(r)) {
		tap_buf_char(&r->buf, '}');
		r->comma = true;
	}
	if (r->style != TAP_STYLE_JSON)
		tap_buf_char(&r->buf, '\n');
	flush_if_full(r);
}
