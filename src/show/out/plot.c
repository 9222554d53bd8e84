// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "show/out/plot.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#define EIGHTHS 8
#define TICK 20u /* columns between two times on the axis */

static const char *const blocks[EIGHTHS + 1] = {
	" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█",
};

/* Return the height of @v in eighths of a row, at most the strip's. */
static int height_of(const struct tap_plot *p, double v, uint64_t top)
{
	double all = (double)p->rows * EIGHTHS;
	double h = v * all / (double)top + 0.5;

	return h > all ? (int)all : (int)h;
}

/* @row: 0 is the bottom row. @avg and @max: heights in eighths of a row. */
static const char *block_cell(const struct tap_plot *p, int avg, int max, int row)
{
	int full = avg - row * EIGHTHS;

	if (row == 0 && full < 1) /* 0 is a known value: draw a line */
		full = 1;
	if (p->ascii) {
		if (full >= EIGHTHS / 2)
			return "#";
		if (max - row * EIGHTHS >= EIGHTHS / 2)
			return ":";
		return row ? " " : "_";
	}
	if (full > 0)
		return blocks[full < EIGHTHS ? full : EIGHTHS];
	return max - row * EIGHTHS >= EIGHTHS / 2 ? "░" : " ";
}

/* Append a value in 7 columns. */
static void add_edge(struct tap_buf *b, double v)
{
	tap_buf_printf(b, v < 1e7 && v > -1e6 ? "%7.0f" : "%7.1g", v);
}

static void add_axis(struct tap_buf *b, const struct tap_plot *p)
{
	tap_buf_puts(b, p->ascii ? " |" : " │");
}

/*
 * Draw the y axis next to a row. The strip's top, middle and bottom rows show the value of their
 * upper edge (0 at the bottom).
 */
static void add_margin(struct tap_buf *b, const struct tap_plot *p, unsigned int row, uint64_t top)
{
	if (row + 1 == p->rows)
		add_edge(b, (double)top);
	else if (row == 0)
		add_edge(b, 0);
	else if (p->rows % 2 == 0 && top % 2 == 0 && row + 1 == p->rows / 2)
		add_edge(b, (double)(top / 2));
	else
		tap_buf_printf(b, "%7s", "");
	add_axis(b, p);
}

#define AREA TAP_TINT_CYAN
#define LINE TAP_TINT_MAGENTA

/* Return the part of the line that lies in this row; NULL: it is in another row or unknown. */
static const char *line_cell(const struct tap_plot *p, const struct tap_plot_column *c,
			     unsigned int row, uint64_t top)
{
	static const char *const lines[EIGHTHS] = { "⎽", "⎽", "⎼", "─", "─", "⎻", "⎺", "⎺" };
	int h = c->has_line ? height_of(p, c->line, top) : 0;
	unsigned int at = h > 0 ? (unsigned int)h - 1 : 0;

	if (!c->has_line || at / EIGHTHS != row)
		return NULL;
	return p->ascii ? "o" : lines[at % EIGHTHS];
}

void tap_plot_mark(struct tap_buf *b, const struct tap_plot *p, bool is_line)
{
	static const char *const marks[][2] = { { "█", "#" }, { "─", "o" } };

	if (p->color)
		tap_tint_add(b, is_line ? LINE : AREA);
	tap_buf_puts(b, marks[is_line][p->ascii]);
	if (p->color)
		tap_tint_add(b, TAP_TINT_NONE);
}

/* Returns the character of one column in a row. */
typedef const char *cell_fn(const struct tap_plot *p, const struct tap_plot_column *c,
			    unsigned int row, uint64_t top);

struct row {
	unsigned int blanks; /* blanks not written yet, as they may be trailing */
	enum tap_tint tint;
};

static void add_cell(struct tap_buf *b, const struct tap_plot *p, struct row *r, const char *s,
		     enum tap_tint tint)
{
	if (*s == ' ') {
		r->blanks++;
		return;
	}
	tap_buf_blanks(b, r->blanks);
	if (p->color && tint != r->tint)
		tap_tint_add(b, tint);
	tap_buf_puts(b, s);
	*r = (struct row){ .tint = p->color ? tint : TAP_TINT_NONE };
}

static void end_row(struct tap_buf *b, const struct row *r)
{
	if (r->tint)
		tap_tint_add(b, TAP_TINT_NONE);
	tap_buf_char(b, '\n');
}

static void add_row(struct tap_buf *b, const struct tap_plot *p,
		    const struct tap_plot_column *columns, unsigned int row, uint64_t top,
		    cell_fn *fn)
{
	struct row r = { 0 };

	for (unsigned int i = 0; i < p->columns; i++) {
		const char *line = line_cell(p, &columns[i], row, top);

		if (line)
			add_cell(b, p, &r, line, LINE);
		else
			add_cell(b, p, &r, columns[i].known ? fn(p, &columns[i], row, top) : " ",
				 AREA);
	}
	end_row(b, &r);
}

static const char *plain_cell(const struct tap_plot *p, const struct tap_plot_column *c,
			      unsigned int row, uint64_t top)
{
	return block_cell(p, height_of(p, c->avg, top), height_of(p, c->max, top), (int)row);
}

void tap_plot_strip(struct tap_buf *b, const struct tap_plot *p,
		    const struct tap_plot_column *columns, uint64_t top)
{
	for (unsigned int row = p->rows; row-- > 0;) {
		add_margin(b, p, row, top);
		add_row(b, p, columns, row, top, plain_cell);
	}
}

/* @row: 0 is the bottom row, whose lower edge is -@top. */
static const char *signed_cell(const struct tap_plot *p, const struct tap_plot_column *c,
			       unsigned int row, uint64_t top)
{
	/* Height from the center line, in rows; and the value at this row's middle. */
	double half = p->rows / 2.0, middle = (row + 0.5 - half) / half * (double)top;
	bool is_up = middle > 0;

	if (is_up ? c->avg >= middle : c->avg <= middle)
		return p->ascii ? "#" : "█";
	if (is_up ? c->max >= middle : c->min <= middle)
		return p->ascii ? ":" : "░";
	if (row == p->rows / 2)
		return p->ascii ? "_" : "▁";
	return " ";
}

void tap_plot_signed_strip(struct tap_buf *b, const struct tap_plot *p,
			   const struct tap_plot_column *columns, uint64_t top)
{
	for (unsigned int row = p->rows; row-- > 0;) {
		if (row + 1 == p->rows)
			add_edge(b, (double)top);
		else if (row == p->rows / 2)
			add_edge(b, 0);
		else if (row == 0)
			add_edge(b, -(double)top);
		else
			tap_buf_printf(b, "%7s", "");
		add_axis(b, p);
		add_row(b, p, columns, row, top, signed_cell);
	}
}

static const char *const shades[TAP_PLOT_SHADES][2] = {
	{ "░", "." },
	{ "▒", ":" },
	{ "▓", "*" },
	{ "█", "#" },
};

/* Thresholds grow geometrically from 1: each is the same multiple of the one before. */
void tap_plot_shades(uint64_t most, uint64_t from[TAP_PLOT_SHADES])
{
	for (unsigned int i = 0; i < TAP_PLOT_SHADES; i++)
		from[i] = (uint64_t)(pow((double)(most ?: 1), (double)i / TAP_PLOT_SHADES) + 0.5);
}

void tap_plot_shades_text(struct tap_buf *b, const struct tap_plot *p,
			  const uint64_t from[TAP_PLOT_SHADES])
{
	for (unsigned int i = 0; i < TAP_PLOT_SHADES; i++)
		if (i + 1 == TAP_PLOT_SHADES || from[i] < from[i + 1])
			tap_buf_printf(b, "  %s %" PRIu64 "+", shades[i][p->ascii], from[i]);
}

void tap_plot_heat(struct tap_buf *b, const struct tap_plot *p, const char *label,
		   const uint64_t *counts, const uint64_t from[TAP_PLOT_SHADES])
{
	struct row r = { 0 };

	tap_buf_puts(b, label);
	add_axis(b, p);
	for (unsigned int i = 0; i < p->columns; i++) {
		unsigned int shade = TAP_PLOT_SHADES;

		while (shade && counts[i] < from[shade - 1])
			shade--;
		add_cell(b, p, &r, shade ? shades[shade - 1][p->ascii] : " ", AREA);
	}
	end_row(b, &r);
}

void tap_plot_unknown(struct tap_buf *b, const struct tap_plot *p, const uint64_t *counts)
{
	struct row r = { 0 };

	tap_buf_puts(b, "unknown");
	add_axis(b, p);
	for (unsigned int i = 0; i < p->columns; i++)
		add_cell(b, p, &r, counts[i] ? "?" : " ", TAP_TINT_YELLOW);
	end_row(b, &r);
}

/* Write a time with nine decimals. Return: its length. */
static size_t put_time(const struct tap_plot *p, uint64_t ns, struct tap_buf *to)
{
	struct tap_wall wall = p->wall ? *p->wall : (struct tap_wall){ 0 };

	if (wall.shown == TAP_SHOW_WALL) /* show only the time of day: a date would not fit */
		wall.shown = TAP_SHOW_TOD;
	tap_buf_clear(to);
	tap_wall_add(&wall, to, ns);
	return to->len;
}

void tap_plot_axis(struct tap_buf *b, const struct tap_plot *p)
{
	uint64_t ns = tap_window_ns(&p->window);
	struct tap_buf text = { 0 };
	int decimals = ns < UINT64_C(10000000) ? 9 : ns < UINT64_C(10000000000) ? 6 : 3;

	tap_buf_printf(b, "%*s%s", (int)TAP_PLOT_MARGIN - 1, "", p->ascii ? "+" : "└");
	for (unsigned int i = 0; i < p->columns; i++)
		tap_buf_puts(b, i % TICK ? (p->ascii ? "-" : "─") : (p->ascii ? "+" : "┬"));
	tap_buf_printf(b, "\n%*s", (int)TAP_PLOT_MARGIN, "");
	for (unsigned int i = 0; i < p->columns; i += TICK) {
		unsigned __int128 at = p->window.from_ns + (unsigned __int128)ns * i / p->columns;
		int len = (int)put_time(p, (uint64_t)at, &text) - (9 - decimals);

		if (i + (unsigned int)len + 2 <= p->columns)
			tap_buf_printf(b, "%-*.*s", (int)TICK, len, tap_buf_str(&text));
	}
	tap_buf_release(&text);
	while (b->len && b->data[b->len - 1] == ' ')
		b->len--;
	tap_buf_puts(b, p->wall && tap_wall_width(p->wall) ? "\n" : " s\n");
}

uint64_t tap_plot_top(uint64_t max)
{
	uint64_t top = 1;

	/* stop at 5e18: the next step does not fit in 64 bits */
	for (unsigned int i = 0; top < max && top < UINT64_C(5000000000000000000); i++)
		top = i % 3 == 1 ? top / 2 * 5 : top * 2;
	return top;
}
