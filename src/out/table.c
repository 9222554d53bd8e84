// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "out/table.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>

#include "base/text.h"

#define BLOCK 65536u /* bytes that one write takes */
#define BETWEEN 2u   /* blanks between two columns */
#define SOME_BLANKS 32u /* in front of nearly all numbers there are less */

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

void tap_report_tint(struct tap_report *r, enum tap_tint tint)
{
	static const char *const codes[] = {
		[TAP_TINT_NONE] = "\033[m", [TAP_TINT_BOLD] = "\033[1m",
		[TAP_TINT_RED] = "\033[31m", [TAP_TINT_YELLOW] = "\033[33m",
		[TAP_TINT_CYAN] = "\033[36m",
	};

	if (r->color)
		tap_buf_puts(&r->buf, codes[tint]);
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

void tap_report_id(struct tap_report *r, const char *key, int id)
{
	if (id >= 0)
		tap_report_u64(r, key, (uint64_t)id);
	else
		tap_report_real(r, key, NAN);
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

void tap_report_null(struct tap_report *r, const char *key)
{
	if (r->style != TAP_STYLE_JSON)
		return;
	put_key(r, key);
	tap_buf_puts(&r->buf, "null");
}

void tap_report_bool(struct tap_report *r, const char *key, bool v)
{
	if (r->style != TAP_STYLE_JSON)
		return;
	put_key(r, key);
	tap_buf_puts(&r->buf, v ? "true" : "false");
}

/* ,"x_wall": for the key "x_ns" that stands before it. */
static void put_wall_key(struct tap_report *r, const char *key)
{
	tap_buf_puts(&r->buf, ",\"");
	tap_buf_add(&r->buf, key, strlen(key) - strlen("_ns"));
	tap_buf_puts(&r->buf, "_wall\":");
}

static void put_wall_json(struct tap_report *r, const char *key, uint64_t ns)
{
	put_wall_key(r, key);
	tap_buf_char(&r->buf, '"');
	tap_wall_add_iso(r->wall, &r->buf, ns);
	tap_buf_char(&r->buf, '"');
}

void tap_report_at(struct tap_report *r, const char *key, uint64_t ns)
{
	if (r->style != TAP_STYLE_JSON)
		return;
	tap_report_u64(r, key, ns);
	if (r->wall && r->wall->is_known)
		put_wall_json(r, key, ns);
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

static bool is_end(const struct tap_column *c)
{
	return !c->key && !c->title;
}

/* Whether the style shows this column. */
static bool shown(const struct tap_report *r, const struct tap_column *c)
{
	return r->style == TAP_STYLE_TEXT ? c->title != NULL : c->key != NULL;
}

/* Whether JSON and CSV have this time twice. */
static bool has_wall(const struct tap_report *r, const struct tap_column *c)
{
	return c->cell == TAP_CELL_AT && c->key && r->wall && r->wall->is_known &&
	       (is_json(r) || (r->style == TAP_STYLE_CSV && tap_wall_width(r->wall)));
}

/* Adds @n blanks. */
static void put_blanks(struct tap_buf *b, size_t n)
{
	if (!n || !tap_buf_reserve(b, n))
		return;
	memset(b->data + b->len, ' ', n);
	b->len += n;
}

/* The blanks behind a text wait for the next cell: none stand at a line's end. */
static void pad_left_aligned(struct tap_table *t, unsigned int width, size_t text_start)
{
	const struct tap_buf *b = &t->to->buf;
	size_t n = b->len > text_start ? tap_text_width(b->data + text_start, b->len - text_start) : 0;

	t->pad = BETWEEN + (n < width ? width - n : 0);
}

/*
 * Breaks what stands behind @from into lines of @limit columns, at blanks where there are some.
 * With @below the first one begins on a new line, too.
 */
static void wrap(struct tap_buf *b, size_t from, size_t limit, size_t indent, bool below)
{
	struct tap_buf text = { 0 };
	const char *s, *blank;
	size_t n;

	tap_buf_add(&text, b->data + from, b->len - from);
	while (below && from && b->data[from - 1] == ' ') /* none stand at a line's end */
		from--;
	b->len = from;
	for (s = text.data; s < text.data + text.len; s += n) {
		size_t len = (size_t)(text.data + text.len - s);

		if (s > text.data || below) {
			tap_buf_char(b, '\n');
			put_blanks(b, indent);
		}
		n = tap_text_fit(s, len, limit) ?: len;
		blank = n < len ? memrchr(s, ' ', n + 1) : NULL;
		if (blank && blank > s)
			n = (size_t)(blank - s);
		tap_buf_add(b, s, n);
		n += n < len && s[n] == ' ';
	}
	if (text.err)
		b->err = text.err;
	tap_buf_release(&text);
}

void tap_report_sentence(struct tap_report *r, const char *s, size_t len)
{
	size_t from = r->buf.len;

	tap_buf_add(&r->buf, s, len);
	if (r->columns)
		wrap(&r->buf, from, r->columns, 0, false);
	tap_buf_char(&r->buf, '\n');
}

static bool is_left_aligned(const struct tap_column *c)
{
	return c->cell == TAP_CELL_TEXT || c->cell == TAP_CELL_LABEL;
}

#define LEAST_ROOM 40u /* that the last column needs beside the others, if it is long */
#define INDENT 4u      /* of what goes below them */

/* Cuts what stands behind @from. The end of a path says more than its beginning. */
static void cut(struct tap_buf *b, size_t from, size_t limit)
{
	char *s = b->data + from;
	size_t len = b->len - from, skip = 1;

	if (*s != '/') {
		b->len = from + tap_text_fit(s, len, limit - 1);
		tap_buf_char(b, '>');
		return;
	}
	while (tap_text_width(s + skip, len - skip) >= limit)
		skip += tap_text_fit(s + skip, len - skip, 1) ?: tap_text_fit(s + skip, len - skip, 2);
	*s = '<';
	memmove(s + 1, s + skip, len - skip);
	b->len = from + 1 + len - skip;
}

/* What is too long for its column is cut; in the last one it goes on below. */
static void shorten(struct tap_table *t, const struct tap_column *c, size_t from)
{
	struct tap_buf *b = &t->to->buf;

	if (tap_text_width(b->data + from, b->len - from) <= c->limit)
		return;
	if (!is_end(c + 1)) {
		cut(b, from, c->limit);
	} else if (c->limit >= LEAST_ROOM) {
		wrap(b, from, c->limit, t->to->columns - c->limit, false);
	} else {
		wrap(b, from, t->to->columns - INDENT, INDENT, true);
	}
}

static const char *const units[] = {
	[TAP_UNIT_MS] = " ms", [TAP_UNIT_US] = " us", [TAP_UNIT_S] = " s",
};

static const char *unit_of(const struct tap_column *c)
{
	return c->cell == TAP_CELL_NS ? units[c->unit] : "";
}

static size_t title_width(const struct tap_column *c)
{
	return tap_text_width(c->title, strlen(c->title)) + strlen(unit_of(c));
}

static void put_title(struct tap_table *t, const struct tap_column *c)
{
	struct tap_buf *b = &t->to->buf;
	size_t len = title_width(c), start;

	if (!*c->title) { /* perhaps at the line's end */
		t->pad += c->width + BETWEEN;
		return;
	}
	put_blanks(b, t->pad + (!is_left_aligned(c) && len < c->width ? c->width - len : 0));
	start = b->len;
	tap_buf_puts(b, c->title);
	tap_buf_puts(b, unit_of(c));
	if (c->limit)
		shorten(t, c, start);
	if (is_left_aligned(c))
		pad_left_aligned(t, c->width, start);
	else
		t->pad = BETWEEN;
}

static void put_header(struct tap_table *t)
{
	struct tap_buf *b = &t->to->buf;

	t->pad = 0;
	tap_report_tint(t->to, TAP_TINT_BOLD);
	for (const struct tap_column *c = t->columns; !is_end(c); c++) {
		if (!shown(t->to, c))
			continue;
		if (t->to->style == TAP_STYLE_TEXT) {
			put_title(t, c);
			continue;
		}
		if (t->pad++)
			tap_buf_char(b, ',');
		tap_buf_puts(b, c->key);
		if (has_wall(t->to, c))
			tap_buf_printf(b, ",%.*s_wall", (int)(strlen(c->key) - strlen("_ns")),
				       c->key);
	}
	tap_report_tint(t->to, TAP_TINT_NONE);
	tap_buf_char(b, '\n');
}

static __attribute__((noinline)) const struct tap_column *
begin_data_cell(struct tap_table *t, const struct tap_column *c)
{
	struct tap_report *r = t->to;

	if (c == t->columns && is_json(r)) {
		if (r->comma && r->style == TAP_STYLE_JSON)
			tap_buf_char(&r->buf, ',');
		tap_buf_char(&r->buf, '{');
		r->comma = false;
	}
	if (!c->key)
		return NULL;
	if (is_json(r))
		put_key(r, c->key);
	else if (t->pad++)
		tap_buf_char(&r->buf, ',');
	return c;
}

/*
 * Begins a cell. Return: its column; NULL if the style does not show it. In text the caller puts
 * the blanks before it, for it knows how wide the cell is.
 */
static inline const struct tap_column *begin_cell(struct tap_table *t)
{
	const struct tap_column *c = t->at++;
	struct tap_report *r = t->to;

	assert(!is_end(c));
	if (c == t->columns)
		t->pad = 0;
	if (__builtin_expect(r->style == TAP_STYLE_TEXT, 1)) /* row by row: the others cost more anyway */
		return c->title ? c : NULL;
	return begin_data_cell(t, c);
}

bool tap_table_skip(struct tap_table *t, unsigned int nr)
{
	for (unsigned int i = 0; i < nr; i++)
		if (shown(t->to, &t->at[i]))
			return false;
	t->at += nr;
	return true;
}

enum held { HELD_NONE, HELD_TEXT, HELD_U64, HELD_S64, HELD_REAL };

/* A cell of a table that is laid out when it ends. */
struct held_cell {
	enum held what;
	enum tap_tint tint;
	union {
		uint64_t u;
		int64_t s;
		double real;
		struct { size_t at, len; } text; /* in .texts */
	};
};

static void hold(struct tap_table *t, struct held_cell cell)
{
	if (t->at++->title)
		tap_buf_add(&t->cells, &cell, sizeof(cell));
}

static void hold_text(struct tap_table *t, const char *s, size_t len)
{
	hold(t, (struct held_cell){ HELD_TEXT, t->tint, .text = { t->texts.len, len } });
	tap_buf_add(&t->texts, s, len);
	t->tint = TAP_TINT_NONE;
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

static void put_text(struct tap_table *t, const struct tap_column *c, const char *s, size_t len)
{
	enum tap_tint tint = t->tint ? t->tint : c->tint;
	struct tap_buf *b = &t->to->buf;
	size_t start;

	if (!len) { /* nothing to see, perhaps at the line's end */
		t->pad += BETWEEN + c->width;
		return;
	}
	put_blanks(b, t->pad);
	if (tint)
		tap_report_tint(t->to, tint);
	start = b->len;
	if (c->cell == TAP_CELL_LABEL)
		tap_buf_add(b, s, len);
	else
		tap_text_escape(b, s, len);
	if (c->limit)
		shorten(t, c, start);
	pad_left_aligned(t, c->width, start);
	if (tint)
		tap_report_tint(t->to, TAP_TINT_NONE);
}

void tap_table_text(struct tap_table *t, const char *s, size_t len)
{
	const struct tap_column *c;

	if (t->held) {
		hold_text(t, s, len);
		return;
	}
	c = begin_cell(t);
	if (c) {
		assert(c->cell == TAP_CELL_TEXT || (c->cell == TAP_CELL_LABEL && !c->key));
		if (t->to->style == TAP_STYLE_TEXT)
			put_text(t, c, s, len);
		else if (t->to->style == TAP_STYLE_CSV)
			tap_text_csv(&t->to->buf, s, len);
		else
			tap_text_json(&t->to->buf, s, len);
	}
	t->tint = TAP_TINT_NONE;
}

void tap_table_tint(struct tap_table *t, enum tap_tint tint)
{
	t->tint = tint;
}

static const char digit_pairs[] = "00010203040506070809101112131415161718192021222324"
				  "25262728293031323334353637383940414243444546474849"
				  "50515253545556575859606162636465666768697071727374"
				  "75767778798081828384858687888990919293949596979899";

static inline void put_pair(char *end, uint64_t v)
{
	memcpy(end - 2, digit_pairs + v % 100 * 2, 2);
}

/* Writes @v before @end. */
static inline void put_u64(char *end, uint64_t v)
{
	for (; v >= 100; v /= 100, end -= 2)
		put_pair(end, v);
	if (v >= 10)
		put_pair(end, v);
	else
		end[-1] = (char)('0' + v);
}

static inline unsigned int nr_digits(uint64_t v)
{
	static const uint64_t least[] = {
		0, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000, 1000000000,
		10000000000, 100000000000, 1000000000000, 10000000000000, 100000000000000, 1000000000000000,
		10000000000000000, 100000000000000000, 1000000000000000000, 10000000000000000000U,
	};
	unsigned int bits = 64 - (unsigned int)__builtin_clzll(v | 1);
	unsigned int n = bits * 1233 >> 12; /* log10(2) */

	return n + (v >= least[n]);
}

/*
 * The places of a cell with a number of @len bytes, right-aligned. Return: behind the last; NULL: no
 * memory.
 */
static inline char *number_end(struct tap_table *t, const struct tap_column *c, size_t len)
{
	struct tap_buf *b = &t->to->buf;
	size_t blanks = 0;
	char *p;

	if (t->to->style == TAP_STYLE_TEXT) {
		blanks = t->pad + (len < c->width ? c->width - len : 0);
		t->pad = BETWEEN;
	}
	if (!tap_buf_reserve(b, blanks + len + SOME_BLANKS))
		return NULL;
	p = b->data + b->len;
	memset(p, ' ', SOME_BLANKS); /* a size that is known is a few instructions */
	if (blanks > SOME_BLANKS)
		memset(p, ' ', blanks);
	b->len += blanks + len;
	return p + blanks + len;
}

static inline void put_integer(struct tap_table *t, const struct tap_column *c, uint64_t v,
			       bool negative)
{
	size_t len = nr_digits(v) + negative;
	char *end = number_end(t, c, len);

	if (!end)
		return;
	put_u64(end, v);
	if (negative)
		end[-(ptrdiff_t)len] = '-';
}

/* With @decimals, an odd number. */
static inline void put_fixed(struct tap_table *t, const struct tap_column *c, uint64_t v,
			     unsigned int decimals)
{
	unsigned int len = nr_digits(v);
	char *end = number_end(t, c, (len > decimals ? len : decimals + 1) + 1);

	if (!end)
		return;
	for (; decimals > 1; decimals -= 2, v /= 100, end -= 2)
		put_pair(end, v);
	*--end = (char)('0' + v % 10);
	*--end = '.';
	put_u64(end, v / 10);
}

static inline void put_duration(struct tap_table *t, const struct tap_column *c, uint64_t ns)
{
	uint64_t v = ns;

	if (c->unit == TAP_UNIT_MS)
		v = ns / 1000 + (ns % 1000 >= 500);
	else if (c->unit == TAP_UNIT_S)
		v = ns / 1000000 + (ns % 1000000 >= 500000);
	put_fixed(t, c, v, 3);
}

/* The time in the other clock, as text or beside its number. */
static void put_wall(struct tap_table *t, const struct tap_column *c, uint64_t ns)
{
	struct tap_report *r = t->to;

	if (is_json(r)) {
		put_wall_json(r, c->key, ns);
	} else if (r->style == TAP_STYLE_CSV) {
		tap_buf_char(&r->buf, ',');
		tap_wall_add_iso(r->wall, &r->buf, ns);
	} else {
		size_t width = tap_wall_width(r->wall);

		put_blanks(&r->buf, t->pad + (width < c->width ? c->width - width : 0));
		tap_wall_add(r->wall, &r->buf, ns);
		t->pad = BETWEEN;
	}
}

static void put_number(struct tap_table *t, const struct tap_column *c, uint64_t v)
{
	if (c->cell == TAP_CELL_NS)
		put_duration(t, c, v);
	else if (c->cell == TAP_CELL_COUNT)
		put_integer(t, c, v, false);
	else
		put_fixed(t, c, v, 9);
}

void tap_table_u64(struct tap_table *t, uint64_t v)
{
	const struct tap_column *c;

	if (t->held) {
		hold(t, (struct held_cell){ HELD_U64, .u = v });
		return;
	}
	c = begin_cell(t);
	if (!c)
		return;
	assert(c->cell == TAP_CELL_COUNT || c->cell == TAP_CELL_NS || c->cell == TAP_CELL_AT);
	if (t->to->style != TAP_STYLE_TEXT) {
		put_integer(t, c, v, false);
		if (has_wall(t->to, c))
			put_wall(t, c, v);
	} else if (c->cell == TAP_CELL_AT && t->to->wall && tap_wall_width(t->to->wall)) {
		put_wall(t, c, v);
	} else if (c->tint && v) {
		tap_report_tint(t->to, c->tint);
		put_number(t, c, v);
		tap_report_tint(t->to, TAP_TINT_NONE);
	} else {
		put_number(t, c, v);
	}
}

void tap_table_s64(struct tap_table *t, int64_t v)
{
	const struct tap_column *c;

	if (t->held) {
		hold(t, (struct held_cell){ HELD_S64, .s = v });
		return;
	}
	c = begin_cell(t);
	if (!c)
		return;
	assert(c->cell == TAP_CELL_INT);
	put_integer(t, c, v < 0 ? -(uint64_t)v : (uint64_t)v, v < 0);
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
	if (!has_wall(t->to, c))
		return;
	if (is_json(t->to)) {
		put_wall_key(t->to, c->key);
		tap_buf_puts(&t->to->buf, "null");
	} else {
		tap_buf_char(&t->to->buf, ',');
	}
}

void tap_table_real(struct tap_table *t, double v)
{
	const struct tap_column *c;
	char number[400]; /* 1e308 has 309 digits */
	int len;

	if (t->held) {
		hold(t, (struct held_cell){ HELD_REAL, .real = v });
		return;
	}
	c = begin_cell(t);
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
	if (c->tint && v != 0)
		tap_report_tint(t->to, c->tint);
	put_plain(t, c, number, (size_t)len);
	if (c->tint && v != 0)
		tap_report_tint(t->to, TAP_TINT_NONE);
}

void tap_table_none(struct tap_table *t)
{
	const struct tap_column *c;

	if (t->held) {
		hold(t, (struct held_cell){ HELD_NONE });
		return;
	}
	c = begin_cell(t);
	if (c)
		put_none(t, c);
}

void tap_table_row(struct tap_table *t)
{
	struct tap_report *r = t->to;

	assert(is_end(t->at));
	t->at = t->columns;
	if (t->held)
		return;
	if (is_json(r)) {
		tap_buf_char(&r->buf, '}');
		r->comma = true;
	}
	if (r->style != TAP_STYLE_JSON)
		tap_buf_char(&r->buf, '\n');
	flush_if_full(r);
}

/* ---- layout of text ------------------------------------------------------------------------- */

#define HIDDEN UINT_MAX /* .rank of a column that is left out: .key is its title then */
#define LEAST_TEXT 8u	/* columns that a text keeps where nothing else can go */
#define LONGEST_LABEL 36u /* "comm [tid/tgid]*", if nothing in it is escaped */

/* What is shown, and what stands between. */
static size_t line_width(const struct tap_table *t)
{
	size_t n = 0;

	for (const struct tap_column *c = t->own; !is_end(c); c++)
		n += c->title ? c->width + (n ? BETWEEN : 0) : 0;
	return n;
}

/* The column that matters least; of several the last one. Return: NULL: all others are to stay. */
static struct tap_column *least_column(struct tap_table *t)
{
	struct tap_column *least = NULL;

	for (struct tap_column *c = t->own; !is_end(c); c++)
		if (c->title && c->rank && (!least || c->rank >= least->rank))
			least = c;
	return least;
}

static struct tap_column *widest_text(struct tap_table *t)
{
	struct tap_column *widest = NULL;

	for (struct tap_column *c = t->own; !is_end(c); c++)
		if (c->title && is_left_aligned(c) && (!widest || c->width > widest->width))
			widest = c;
	return widest;
}

/* Gives the first task's label what it may need of what is left. */
static void widen_label(struct tap_table *t)
{
	size_t width = line_width(t), spare = t->to->columns > width ? t->to->columns - width : 0;
	struct tap_column *c = t->own;

	while (!is_end(c) && (!c->title || c->cell != TAP_CELL_LABEL || c->width < LEAST_TEXT))
		c++;
	if (is_end(c) || c->width >= LONGEST_LABEL)
		return;
	c->width += spare < LONGEST_LABEL - c->width ? (unsigned int)spare :
						       LONGEST_LABEL - c->width;
}

static void set_limits(struct tap_table *t)
{
	size_t most = t->to->columns, width = line_width(t);
	struct tap_column *last = NULL;

	for (struct tap_column *c = t->own; most && !is_end(c); c++) {
		if (!c->title)
			continue;
		last = c;
		if (is_left_aligned(c))
			c->limit = c->width ? c->width : 1;
	}
	if (last && last->limit && width < most)
		last->limit += (unsigned int)(most - width);
}

/* Makes lines fit. */
static void fold(struct tap_table *t)
{
	size_t most = t->to->columns, width;
	struct tap_column *c;

	while (most && line_width(t) > most && (c = least_column(t)) != NULL) {
		c->rank = HIDDEN;
		c->key = c->title;
		c->title = NULL;
	}
	while (most && (width = line_width(t)) > most && (c = widest_text(t)) != NULL &&
	       c->width > LEAST_TEXT)
		c->width -= width - most < c->width - LEAST_TEXT ? (unsigned int)(width - most) :
								   c->width - LEAST_TEXT;
}

static bool is_named_before(const struct tap_table *t, const struct tap_column *c)
{
	for (const struct tap_column *o = t->own; o < c; o++)
		if (o->rank == HIDDEN && o->unit == c->unit && !strcmp(o->key, c->key))
			return true;
	return false;
}

static void put_hidden(struct tap_table *t)
{
	struct tap_buf *b = &t->to->buf;
	const char *before = "hidden: ";
	size_t start = b->len;

	for (const struct tap_column *c = t->own; !is_end(c); c++) {
		if (c->rank != HIDDEN || !*c->key || is_named_before(t, c))
			continue;
		tap_buf_puts(b, before);
		tap_buf_puts(b, c->key);
		tap_buf_puts(b, unit_of(c));
		before = ", ";
	}
	if (b->len == start)
		return;
	tap_buf_puts(b, "; --wide");
	wrap(b, start, t->to->columns - INDENT, INDENT, false);
	tap_buf_char(b, '\n');
}

static enum tap_unit unit_for(uint64_t max_ns)
{
	return max_ns < 100000000 ? TAP_UNIT_US : max_ns < 100000000000 ? TAP_UNIT_MS : TAP_UNIT_S;
}

/* Return: how many there are. */
static unsigned int copy_columns(struct tap_table *t, bool text_only)
{
	unsigned int nr = 0, wall = t->to->wall ? tap_wall_width(t->to->wall) : 0;

	for (const struct tap_column *c = t->columns; !is_end(c); c++) {
		if (text_only && !c->title)
			continue;
		assert(nr < TAP_TABLE_COLUMNS);
		t->own[nr] = *c;
		if (c->cell == TAP_CELL_AT && t->own[nr].width < wall)
			t->own[nr].width = wall;
		if (!t->to->color)
			t->own[nr].tint = TAP_TINT_NONE;
		nr++;
	}
	t->own[nr] = (struct tap_column){ 0 };
	t->columns = t->at = t->own;
	return nr;
}

static void choose_units(struct tap_table *t, unsigned int nr)
{
	const struct held_cell *cells = (const void *)t->cells.data;
	size_t nr_cells = t->cells.len / sizeof(*cells);
	uint64_t max[TAP_TABLE_COLUMNS] = { 0 }, of_all = 0;
	enum tap_unit before = TAP_UNIT_MS;

	for (size_t i = 0; i < nr_cells; i++)
		if (cells[i].what == HELD_U64 && cells[i].u > max[i % nr])
			max[i % nr] = cells[i].u;
	for (unsigned int i = nr; i-- > 0;) { /* the first of those that share it decides for all */
		if (t->own[i].cell != TAP_CELL_NS)
			continue;
		of_all = max[i] > of_all ? max[i] : of_all;
		t->own[i].unit = unit_for(of_all);
		if (!t->own[i].same_unit)
			of_all = 0;
	}
	for (unsigned int i = 0; i < nr; i++) {
		if (t->own[i].cell != TAP_CELL_NS)
			continue;
		if (t->own[i].same_unit)
			t->own[i].unit = before;
		before = t->own[i].unit;
	}
}

static void put_held(struct tap_table *t, const struct held_cell *cell)
{
	switch (cell->what) {
	case HELD_NONE:
		tap_table_none(t);
		break;
	case HELD_TEXT:
		t->tint = cell->tint;
		tap_table_text(t, t->texts.data + cell->text.at, cell->text.len);
		break;
	case HELD_U64:
		tap_table_u64(t, cell->u);
		break;
	case HELD_S64:
		tap_table_s64(t, cell->s);
		break;
	case HELD_REAL:
		tap_table_real(t, cell->real);
		break;
	}
}

/* Makes columns as wide as what is in them; but the last, if it is text, can go on below. */
static void measure(struct tap_table *t, unsigned int nr)
{
	const struct held_cell *cells = (const void *)t->cells.data;
	size_t nr_cells = t->cells.len / sizeof(*cells);
	unsigned int natural[TAP_TABLE_COLUMNS], least[TAP_TABLE_COLUMNS];
	struct tap_report *to = t->to, scratch = { .style = TAP_STYLE_TEXT,
							   .wall = t->to->wall };

	for (unsigned int i = 0; i < nr; i++) {
		least[i] = t->own[i].width;
		natural[i] = (unsigned int)title_width(&t->own[i]);
		t->own[i].width = 0;
	}
	t->to = &scratch;
	for (size_t i = 0; i < nr_cells; i++) {
		size_t width;

		scratch.buf.len = t->pad = 0;
		t->at = &t->own[i % nr];
		put_held(t, &cells[i]);
		width = tap_text_width(scratch.buf.data, scratch.buf.len);
		if (width > natural[i % nr])
			natural[i % nr] = (unsigned int)width;
	}
	t->to = to;
	t->at = t->own;
	if (scratch.buf.err)
		to->buf.err = scratch.buf.err;
	tap_buf_release(&scratch.buf);
	if (nr && is_left_aligned(&t->own[nr - 1]))
		natural[nr - 1] = least[nr - 1] ? least[nr - 1] : 1;
	for (unsigned int i = 0; i < nr; i++)
		t->own[i].width = natural[i] > least[i] ? natural[i] : least[i];
	if (to->columns && line_width(t) > to->columns)
		for (unsigned int i = 0; i < nr; i++)
			t->own[i].width = natural[i];
}

static void put_table(struct tap_table *t)
{
	const struct held_cell *cells = (const void *)t->cells.data;
	size_t nr_cells = t->cells.len / sizeof(*cells);
	unsigned int nr = copy_columns(t, true);

	choose_units(t, nr);
	t->held = false;
	measure(t, nr);
	fold(t);
	set_limits(t);
	put_header(t);
	for (size_t i = 0; i < nr_cells; i++) {
		put_held(t, &cells[i]);
		if (is_end(t->at))
			tap_table_row(t);
	}
	put_hidden(t);
}

static void begin(struct tap_table *t, struct tap_report *r, const struct tap_column *columns,
		  const char *key)
{
	*t = (struct tap_table){ .to = r, .columns = columns, .at = columns };
	if (r->style == TAP_STYLE_CSV)
		put_header(t);
	tap_report_array(r, key);
}

void tap_table_begin(struct tap_table *t, struct tap_report *r, const struct tap_column *columns,
		     const char *key)
{
	begin(t, r, columns, key);
	t->held = r->style == TAP_STYLE_TEXT;
}

void tap_table_stream(struct tap_table *t, struct tap_report *r, const struct tap_column *columns,
		      const char *key)
{
	begin(t, r, columns, key);
	if (r->style != TAP_STYLE_TEXT)
		return;
	copy_columns(t, false);
	fold(t);
	widen_label(t);
	set_limits(t);
	put_hidden(t);
	put_header(t);
}

void tap_table_end(struct tap_table *t)
{
	if (t->held)
		put_table(t);
	if (t->cells.err || t->texts.err)
		t->to->buf.err = t->cells.err ? t->cells.err : t->texts.err;
	tap_buf_release(&t->cells);
	tap_buf_release(&t->texts);
	tap_report_array_end(t->to);
}

void tap_table_object(struct tap_table *t, struct tap_report *r, const struct tap_column *columns,
		      const char *key)
{
	*t = (struct tap_table){ .to = r, .columns = columns, .at = columns };
	tap_report_key(r, key);
	r->comma = false;
}
