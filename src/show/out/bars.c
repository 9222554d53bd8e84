// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "show/out/bars.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define WIDTH 40u /* width of the longest bar, unless the terminal is narrow */
#define BESIDE 50u /* typical width of the rest of a row */

static const struct tap_column columns[] = {
	{ "from_ns", "from", TAP_CELL_NS, .width = 13 },
	{ "to_ns", "to", TAP_CELL_NS, .width = 13, .same_unit = true },
	{ "count", "count", TAP_CELL_COUNT, .width = 10 },
	{ NULL, "%", TAP_CELL_REAL, .width = 5, .places = 1, .rank = 1 },
	{ NULL, "distribution", TAP_CELL_LABEL, .tint = TAP_TINT_CYAN },
	{ 0 }
};

#define ROWS 65u

struct counts {
	/* row 0 counts the value 0, row n the values 2^(n-1) to 2^n - 1 */
	uint64_t rows[ROWS], most;
};

struct bars {
	struct tap_table table;
	unsigned int width; /* width of the longest bar, in columns */
	struct counts counts;
};

static unsigned int row_of(uint64_t v)
{
	return v ? 64 - (unsigned int)__builtin_clzll(v) : 0;
}

static uint64_t row_from(unsigned int row)
{
	return row ? (uint64_t)1 << (row - 1) : 0;
}

/*
 * Callback for tap_hist_for_each(). A histogram bucket never crosses a power of two, so one row
 * takes all of it.
 */
static void add_to_row(void *ctx, uint64_t from, uint64_t to, uint64_t weight)
{
	struct counts *c = ctx;
	uint64_t *row = &c->rows[row_of(from)];

	(void)to;
	*row += weight;
	if (*row > c->most)
		c->most = *row;
}

static void put_bucket(void *ctx, uint64_t from, uint64_t to, uint64_t weight)
{
	struct bars *b = ctx;

	tap_table_u64(&b->table, from);
	tap_table_u64(&b->table, to);
	tap_table_u64(&b->table, weight);
	tap_table_none(&b->table);
	tap_table_none(&b->table);
	tap_table_row(&b->table);
}

/* U+2588 is a full block; the seven characters after it are narrower by an eighth each. */
static void put_bar(struct bars *b, uint64_t count, bool utf8)
{
	unsigned int eighths =
		(unsigned int)((double)count / (double)b->counts.most * b->width * 8 + 0.5);
	struct tap_buf bar = { 0 };

	if (count && !eighths)
		eighths = 1;
	for (; eighths >= 8; eighths -= 8)
		tap_buf_puts(&bar, utf8 ? "\xe2\x96\x88" : "@");
	if (eighths && utf8)
		tap_buf_printf(&bar, "\xe2\x96%c", 0x90 - (int)eighths);
	else if (eighths >= 4 || (eighths && !bar.len))
		tap_buf_char(&bar, '@');
	tap_table_text(&b->table, bar.data, bar.len);
	tap_buf_release(&bar);
}

static void put_rows(struct bars *b, const struct tap_hist *h)
{
	tap_hist_for_each(h, add_to_row, &b->counts);
	for (unsigned int i = row_of(h->min); h->count && i <= row_of(h->max); i++) {
		tap_table_u64(&b->table, row_from(i));
		tap_table_u64(&b->table, i ? ((uint64_t)2 << (i - 1)) - 1 : 0);
		tap_table_u64(&b->table, b->counts.rows[i]);
		tap_table_real(&b->table, 100.0 * (double)b->counts.rows[i] / (double)h->count);
		put_bar(b, b->counts.rows[i], b->table.page->utf8);
		tap_table_row(&b->table);
	}
}

void tap_out_bars(struct tap_page *p, const char *key, const struct tap_hist *h)
{
	struct bars b = { .width = WIDTH };

	if (p->columns && p->columns < BESIDE + WIDTH)
		b.width = p->columns > BESIDE + WIDTH / 4 ? p->columns - BESIDE : WIDTH / 4;

	tap_table_begin(&b.table, p, columns, key);
	if (tap_page_is_for(p, TAP_FOR_PEOPLE))
		put_rows(&b, h);
	else
		tap_hist_for_each(h, put_bucket, &b);
	tap_table_end(&b.table);
}

/* ---- over time ---- */

#define LABEL_BYTES 24u

/* Write the row's lower bound in 7 columns. */
static void put_label(char text[LABEL_BYTES], unsigned int row)
{
	static const char *const units[] = { "ns", "us", "ms", " s" };
	double v = (double)row_from(row);
	unsigned int unit = 0;

	for (; v >= 1000 && unit < 3; v /= 1000)
		unit++;
	if (v < 1000)
		snprintf(text, LABEL_BYTES, "%4.3g %s", v, units[unit]);
	else
		snprintf(text, LABEL_BYTES, "%.0e s", v);
}

struct heat {
	const struct tap_plot *plot; /* borrowed */
	struct counts *columns; /* owned */
	uint64_t *row; /* owned; counts of the row being drawn */
	/*
	 * Range of rows to draw, from the least to the greatest wait; empty if .highest + 1 is not
	 * above .lowest.
	 */
	unsigned int lowest, highest;
	uint64_t most;
};

static void count_columns(struct heat *h, const struct tap_latency_column *columns)
{
	h->lowest = ROWS;
	for (unsigned int i = 0; i < h->plot->columns; i++) {
		const struct tap_hist *waits = &columns[i].waits;

		if (!waits->count)
			continue;
		tap_hist_for_each(waits, add_to_row, &h->columns[i]);
		h->most = h->columns[i].most > h->most ? h->columns[i].most : h->most;
		h->lowest = row_of(waits->min) < h->lowest ? row_of(waits->min) : h->lowest;
		h->highest = row_of(waits->max) > h->highest ? row_of(waits->max) : h->highest;
	}
}

static void draw_rows(const struct heat *h, struct tap_buf *b)
{
	uint64_t from[TAP_PLOT_SHADES];
	char label[LABEL_BYTES];

	tap_plot_shades(h->most, from);
	tap_buf_puts(b, "waits, by when they ended:");
	if (h->most)
		tap_plot_shades_text(b, h->plot, from);
	else
		tap_buf_puts(b, " none");
	tap_buf_char(b, '\n');
	for (unsigned int row = h->highest + 1; row-- > h->lowest;) {
		for (unsigned int i = 0; i < h->plot->columns; i++)
			h->row[i] = h->columns[i].rows[row];
		put_label(label, row);
		tap_plot_heat(b, h->plot, label, h->row, from);
	}
}

void tap_out_bars_over_time(struct tap_buf *b, const struct tap_plot *p,
			    const struct tap_latency_column *columns)
{
	struct heat h = {
		.plot = p,
		.columns = calloc(p->columns, sizeof(*h.columns)),
		.row = calloc(p->columns, sizeof(*h.row)),
	};

	if (h.columns && h.row) {
		count_columns(&h, columns);
		draw_rows(&h, b);
		for (unsigned int i = 0; i < p->columns; i++)
			h.row[i] = columns[i].censored + columns[i].unknown_ns;
		tap_plot_unknown(b, p, h.row);
		tap_plot_axis(b, p);
	} else {
		b->err = -ENOMEM;
	}
	free(h.columns);
	free(h.row);
}
