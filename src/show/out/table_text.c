// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Text tables: laid out when they end, or with fixed widths and printed row by row. */
#include <assert.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>

#include "base/digits.h"
#include "base/text.h"
#include "show/out/table.h"

#define BETWEEN 2u /* blanks between two columns */
#define SOME_BLANKS 32u /* enough padding before nearly all numbers */

/*
 * Return the width in columns, without attribute sequences (tap_tint_add()). Names cannot contain
 * such sequences: they are escaped.
 */
static size_t shown_width(const char *s, size_t len)
{
	const char *end = s + len, *m;
	size_t width = tap_text_width(s, len);

	for (;
	     (s = memchr(s, '\033', (size_t)(end - s))) && (m = memchr(s, 'm', (size_t)(end - s)));
	     s = m + 1)
		width -= (size_t)(m + 1 - s);
	return width;
}

/*
 * Owe the padding after a left-aligned text to the next cell, so that lines have no trailing
 * blanks.
 */
static void pad_left_aligned(struct tap_table *t, unsigned int width, size_t text_start)
{
	const struct tap_buf *b = &t->page->buf;
	size_t n = b->len > text_start ? shown_width(b->data + text_start, b->len - text_start) : 0;

	t->pad = BETWEEN + (n < width ? width - n : 0);
}

static bool is_left_aligned(const struct tap_column *c)
{
	return c->cell == TAP_CELL_TEXT || c->cell == TAP_CELL_LABEL;
}

/* least width of a long last column next to the others; if narrower, it goes below */
#define LEAST_ROOM 40u
#define INDENT 4u /* indentation of a last column that is shown below its row */

/*
 * Cut the text from @from on to @limit columns. Paths lose their beginning: their end is more
 * specific.
 */
static void cut_text(struct tap_buf *b, size_t from, size_t limit)
{
	char *s = b->data + from;
	size_t len = b->len - from, skip = 1;

	if (*s != '/') {
		b->len = from + tap_text_fit(s, len, limit - 1);
		tap_buf_char(b, '>');
		return;
	}
	while (tap_text_width(s + skip, len - skip) >= limit)
		skip += tap_text_fit(s + skip, len - skip, 1)
				?: tap_text_fit(s + skip, len - skip, 2);
	*s = '<';
	memmove(s + 1, s + skip, len - skip);
	b->len = from + 1 + len - skip;
}

/* Cut a text that is too long for its column; wrap it in the last column. */
static void shorten_text(struct tap_table *t, const struct tap_column *c, size_t from)
{
	struct tap_buf *b = &t->page->buf;

	if (shown_width(b->data + from, b->len - from) <= c->limit)
		return;
	if (!tap_column_is_end(c + 1)) {
		cut_text(b, from, c->limit);
	} else if (c->limit >= LEAST_ROOM) {
		tap_page_wrap(b, from, c->limit, t->page->columns - c->limit, false);
	} else {
		tap_page_wrap(b, from, t->page->columns - INDENT, INDENT, true);
	}
}

static const char *const units[] = {
	[TAP_UNIT_MS] = " ms",
	[TAP_UNIT_US] = " us",
	[TAP_UNIT_S] = " s",
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
	struct tap_buf *b = &t->page->buf;
	size_t len = title_width(c), start;

	if (!*c->title) { /* do not write blanks: the title may be the line's last */
		t->pad += c->width + BETWEEN;
		return;
	}
	tap_buf_blanks(b, t->pad + (!is_left_aligned(c) && len < c->width ? c->width - len : 0));
	start = b->len;
	tap_buf_puts(b, c->title);
	tap_buf_puts(b, unit_of(c));
	if (c->limit)
		shorten_text(t, c, start);
	if (is_left_aligned(c))
		pad_left_aligned(t, c->width, start);
	else
		t->pad = BETWEEN;
}

static void put_header(struct tap_table *t)
{
	struct tap_buf *b = &t->page->buf;

	t->pad = 0;
	tap_page_tint(t->page, TAP_TINT_BOLD);
	for (const struct tap_column *c = t->columns; !tap_column_is_end(c); c++) {
		if (c->title)
			put_title(t, c);
	}
	tap_page_tint(t->page, TAP_TINT_NONE);
	tap_buf_char(b, '\n');
}

/* Write a cell that needs no escaping: texts left-aligned, numbers right-aligned. */
static void put_plain(struct tap_table *t, const struct tap_column *c, const char *s, size_t len)
{
	struct tap_buf *b = &t->page->buf;
	size_t blanks = len < c->width ? c->width - len : 0;
	bool left = is_left_aligned(c);

	tap_buf_blanks(b, t->pad + (left ? 0 : blanks));
	t->pad = BETWEEN + (left ? blanks : 0);
	tap_buf_add(b, s, len);
}

static void put_text(struct tap_table *t, const struct tap_column *c, const char *s, size_t len)
{
	enum tap_tint tint = t->tint ? t->tint : c->tint;
	struct tap_buf *b = &t->page->buf;
	size_t start;

	if (!len) { /* do not write blanks: the cell may be the line's last */
		t->pad += BETWEEN + c->width;
		return;
	}
	tap_buf_blanks(b, t->pad);
	if (tint)
		tap_page_tint(t->page, tint);
	start = b->len;
	if (c->cell == TAP_CELL_LABEL)
		tap_buf_add(b, s, len);
	else
		tap_text_escape(b, s, len);
	if (c->limit)
		shorten_text(t, c, start);
	pad_left_aligned(t, c->width, start);
	if (tint)
		tap_page_tint(t->page, TAP_TINT_NONE);
}

/*
 * Reserve a right-aligned cell for a number of @len bytes, with its padding written. Return: the
 * address after its last byte; NULL if out of memory.
 */
static inline char *number_end(struct tap_table *t, const struct tap_column *c, size_t len)
{
	struct tap_buf *b = &t->page->buf;
	size_t blanks = t->pad + (len < c->width ? c->width - len : 0);
	char *p;

	t->pad = BETWEEN;
	if (!tap_buf_reserve(b, blanks + len + SOME_BLANKS))
		return NULL;
	p = b->data + b->len;
	memset(p, ' ', SOME_BLANKS); /* a memset of constant size compiles to a few instructions */
	if (blanks > SOME_BLANKS)
		memset(p, ' ', blanks);
	b->len += blanks + len;
	return p + blanks + len;
}

static inline void put_integer(struct tap_table *t, const struct tap_column *c, uint64_t v,
			       bool negative)
{
	size_t len = tap_nr_digits(v) + negative;
	char *end = number_end(t, c, len);

	if (!end)
		return;
	tap_digits_before(end, v);
	if (negative)
		end[-(ptrdiff_t)len] = '-';
}

/* Write @v with @decimals decimals, an odd number. */
static inline void put_fixed(struct tap_table *t, const struct tap_column *c, uint64_t v,
			     unsigned int decimals)
{
	unsigned int len = tap_nr_digits(v);
	char *end = number_end(t, c, (len > decimals ? len : decimals + 1) + 1);

	if (!end)
		return;
	for (; decimals > 1; decimals -= 2, v /= 100, end -= 2)
		tap_digit_pair(end, v);
	*--end = (char)('0' + v % 10);
	*--end = '.';
	tap_digits_before(end, v / 10);
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

static void put_wall(struct tap_table *t, const struct tap_column *c, uint64_t ns)
{
	struct tap_page *p = t->page;
	size_t width = tap_wall_width(p->wall);

	tap_buf_blanks(&p->buf, t->pad + (width < c->width ? c->width - width : 0));
	tap_wall_add(p->wall, &p->buf, ns);
	t->pad = BETWEEN;
}

static void put_number(struct tap_table *t, const struct tap_column *c, uint64_t v)
{
	bool tinted = c->tint && v;

	if (tinted)
		tap_page_tint(t->page, c->tint);
	if (c->cell == TAP_CELL_NS)
		put_duration(t, c, v);
	else if (c->cell == TAP_CELL_COUNT)
		put_integer(t, c, v, false);
	else if (t->page->wall && tap_wall_width(t->page->wall))
		put_wall(t, c, v);
	else
		put_fixed(t, c, v, 9);
	if (tinted)
		tap_page_tint(t->page, TAP_TINT_NONE);
}

static void put_real(struct tap_table *t, const struct tap_column *c, double v)
{
	bool tinted = c->tint && isfinite(v) && v != 0;
	char number[400] = "-"; /* DBL_MAX, about 1.8e308, has 309 digits */
	int len = 1;

	if (isfinite(v))
		len = snprintf(number, sizeof(number), "%.*f", (int)c->places, v);
	if (tinted)
		tap_page_tint(t->page, c->tint);
	put_plain(t, c, number, (size_t)len);
	if (tinted)
		tap_page_tint(t->page, TAP_TINT_NONE);
}

static void text_cell(struct tap_table *t, const struct tap_column *c, struct tap_value v)
{
	if (c == t->columns)
		t->pad = 0;
	if (!c->title)
		return;
	if (v.kind == TAP_VALUE_TEXT) {
		put_text(t, c, v.text, v.len);
	} else if (v.kind == TAP_VALUE_U64) {
		assert(c->cell == TAP_CELL_COUNT || c->cell == TAP_CELL_NS ||
		       c->cell == TAP_CELL_AT);
		put_number(t, c, v.u);
	} else if (v.kind == TAP_VALUE_S64) {
		assert(c->cell == TAP_CELL_INT);
		put_integer(t, c, v.s < 0 ? -(uint64_t)v.s : (uint64_t)v.s, v.s < 0);
	} else if (v.kind == TAP_VALUE_REAL) {
		assert(c->cell == TAP_CELL_REAL);
		put_real(t, c, v.real);
	} else { /* unknown value */
		put_plain(t, c, "-", 1);
	}
}

static void text_row(struct tap_table *t)
{
	tap_buf_char(&t->page->buf, '\n');
	tap_page_flush(t->page);
}

/* ---- choosing columns and widths ---- */

#define HIDDEN UINT_MAX /* .rank of a hidden column, whose .key then holds its title */
#define LEAST_TEXT 8u /* least width of a text that is narrowed */
#define LONGEST_LABEL 36u /* "comm [tid/tgid]*", if nothing in it is escaped */

/* Return the width of a row: all shown columns and the blanks between them. */
static size_t line_width(const struct tap_table *t)
{
	size_t n = 0;

	for (const struct tap_column *c = t->own; !tap_column_is_end(c); c++)
		n += c->title ? c->width + (n ? BETWEEN : 0) : 0;
	return n;
}

/*
 * Return the least important column, the last one among equals; NULL if no further column may be
 * hidden.
 */
static struct tap_column *least_column(struct tap_table *t)
{
	struct tap_column *least = NULL;

	for (struct tap_column *c = t->own; !tap_column_is_end(c); c++)
		if (c->title && c->rank && (!least || c->rank >= least->rank))
			least = c;
	return least;
}

static struct tap_column *widest_text(struct tap_table *t)
{
	struct tap_column *widest = NULL;

	for (struct tap_column *c = t->own; !tap_column_is_end(c); c++)
		if (c->title && is_left_aligned(c) && (!widest || c->width > widest->width))
			widest = c;
	return widest;
}

/* Widen the first task label up to LONGEST_LABEL, as far as the terminal has room. */
static void widen_label(struct tap_table *t)
{
	size_t width = line_width(t),
	       spare = t->page->columns > width ? t->page->columns - width : 0;
	struct tap_column *c = t->own;

	while (!tap_column_is_end(c) &&
	       (!c->title || c->cell != TAP_CELL_LABEL || c->width < LEAST_TEXT))
		c++;
	if (tap_column_is_end(c) || c->width >= LONGEST_LABEL)
		return;
	c->width +=
		spare < LONGEST_LABEL - c->width ? (unsigned int)spare : LONGEST_LABEL - c->width;
}

static void set_limits(struct tap_table *t)
{
	size_t most = t->page->columns, width = line_width(t);
	struct tap_column *last = NULL;

	for (struct tap_column *c = t->own; most && !tap_column_is_end(c); c++) {
		if (!c->title)
			continue;
		last = c;
		if (is_left_aligned(c))
			c->limit = c->width ? c->width : 1;
	}
	if (last && last->limit && width < most)
		last->limit += (unsigned int)(most - width);
}

/* Hide columns, then narrow texts, until rows fit the terminal. */
static void fit_columns(struct tap_table *t)
{
	size_t most = t->page->columns, width;
	struct tap_column *c;

	while (most && line_width(t) > most && (c = least_column(t)) != NULL) {
		c->rank = HIDDEN;
		c->key = c->title;
		c->title = NULL;
	}
	while (most && (width = line_width(t)) > most && (c = widest_text(t)) != NULL &&
	       c->width > LEAST_TEXT)
		c->width -= width - most < c->width - LEAST_TEXT ? (unsigned int)(width - most)
								 : c->width - LEAST_TEXT;
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
	struct tap_buf *b = &t->page->buf;
	const char *before = "hidden: ";
	size_t start = b->len;

	for (const struct tap_column *c = t->own; !tap_column_is_end(c); c++) {
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
	tap_page_wrap(b, start, t->page->columns - INDENT, INDENT, false);
	tap_buf_char(b, '\n');
}

/* Copy the columns to .own, which the layout changes. Return: their number. */
static unsigned int copy_columns(struct tap_table *t, bool text_only)
{
	unsigned int nr = 0, wall = t->page->wall ? tap_wall_width(t->page->wall) : 0;

	for (const struct tap_column *c = t->columns; !tap_column_is_end(c); c++) {
		if (text_only && !c->title)
			continue;
		assert(nr < TAP_TABLE_COLUMNS);
		t->own[nr] = *c;
		if (c->cell == TAP_CELL_AT && t->own[nr].width < wall)
			t->own[nr].width = wall;
		if (!t->page->color)
			t->own[nr].tint = TAP_TINT_NONE;
		nr++;
	}
	t->own[nr] = (struct tap_column){ 0 };
	t->columns = t->at = t->own;
	return nr;
}

/* ---- tables printed row by row ---- */

static void stream_begin(struct tap_table *t)
{
	copy_columns(t, false);
	fit_columns(t);
	widen_label(t);
	set_limits(t);
	put_hidden(t);
	put_header(t);
}

const struct tap_table_ops tap_table_text_stream = {
	.begin = stream_begin,
	.cell = text_cell,
	.row = text_row,
};

/* ---- tables laid out when they end ---- */

/* A buffered cell. */
struct held_cell {
	/* .text is set when the table ends: until then .texts may be moved as it grows */
	struct tap_value v;
	enum tap_tint tint;
};

static void hold_cell(struct tap_table *t, const struct tap_column *c, struct tap_value v)
{
	const struct held_cell cell = { v, t->tint };

	if (!c->title)
		return;
	tap_buf_add(&t->cells, &cell, sizeof(cell));
	if (v.kind == TAP_VALUE_TEXT)
		tap_buf_add(&t->texts, v.text, v.len);
}

static void find_texts(struct tap_table *t)
{
	struct held_cell *cells = (void *)t->cells.data;
	const char *text = t->texts.data;

	for (size_t i = 0; i < t->cells.len / sizeof(*cells); i++) {
		if (cells[i].v.kind != TAP_VALUE_TEXT)
			continue;
		cells[i].v.text = text;
		text += cells[i].v.len;
	}
}

static enum tap_unit unit_for(uint64_t max_ns)
{
	return max_ns < 100000000 ? TAP_UNIT_US : max_ns < 100000000000 ? TAP_UNIT_MS : TAP_UNIT_S;
}

static void choose_units(struct tap_table *t, unsigned int nr)
{
	const struct held_cell *cells = (const void *)t->cells.data;
	size_t nr_cells = t->cells.len / sizeof(*cells);
	uint64_t max[TAP_TABLE_COLUMNS] = { 0 }, of_all = 0;
	enum tap_unit before = TAP_UNIT_MS;

	for (size_t i = 0; i < nr_cells; i++)
		if (cells[i].v.kind == TAP_VALUE_U64 && cells[i].v.u > max[i % nr])
			max[i % nr] = cells[i].v.u;
	/* columns that share a unit use the one for their greatest value */
	for (unsigned int i = nr; i-- > 0;) {
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
	t->tint = cell->tint;
	tap_table_cell(t, cell->v);
}

/*
 * Make columns as wide as their content. A last column of text may be narrower: it can continue
 * below.
 */
static void measure_columns(struct tap_table *t, unsigned int nr)
{
	const struct held_cell *cells = (const void *)t->cells.data;
	size_t nr_cells = t->cells.len / sizeof(*cells);
	unsigned int natural[TAP_TABLE_COLUMNS], least[TAP_TABLE_COLUMNS];
	struct tap_page *to = t->page, scratch = { .wall = t->page->wall };

	for (unsigned int i = 0; i < nr; i++) {
		least[i] = t->own[i].width;
		natural[i] = (unsigned int)title_width(&t->own[i]);
		t->own[i].width = 0;
	}
	t->page = &scratch;
	for (size_t i = 0; i < nr_cells; i++) {
		size_t width;

		scratch.buf.len = t->pad = 0;
		t->at = &t->own[i % nr];
		put_held(t, &cells[i]);
		width = tap_text_width(scratch.buf.data, scratch.buf.len);
		if (width > natural[i % nr])
			natural[i % nr] = (unsigned int)width;
	}
	t->page = to;
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

static void hold_end(struct tap_table *t)
{
	const struct held_cell *cells = (const void *)t->cells.data;
	size_t nr_cells = t->cells.len / sizeof(*cells);
	unsigned int nr = copy_columns(t, true);

	if (t->cells.err || t->texts.err) {
		t->page->buf.err = t->cells.err ?: t->texts.err;
		goto out;
	}
	find_texts(t);
	choose_units(t, nr);
	t->ops = &tap_table_text_stream;
	measure_columns(t, nr);
	fit_columns(t);
	set_limits(t);
	put_header(t);
	for (size_t i = 0; i < nr_cells; i++) {
		put_held(t, &cells[i]);
		if (tap_column_is_end(t->at))
			tap_table_row(t);
	}
	put_hidden(t);
out:
	tap_buf_release(&t->cells);
	tap_buf_release(&t->texts);
}

const struct tap_table_ops tap_table_text_held = {
	.end = hold_end,
	.cell = hold_cell,
};
