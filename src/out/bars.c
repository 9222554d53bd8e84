// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "out/bars.h"

#define WIDTH 40u /* columns of the longest bar, where there is room */
#define BESIDE 50u /* columns that the rest of a row takes at most, as a rule */

static const struct tap_column columns[] = {
	{ "from_ns", "from", TAP_CELL_NS, .width = 13 },
	{ "to_ns", "to", TAP_CELL_NS, .width = 13, .same_unit = true },
	{ "count", "count", TAP_CELL_COUNT, .width = 10 },
	{ NULL, "%", TAP_CELL_REAL, .width = 5, .places = 1, .rank = 1 },
	{ NULL, "distribution", TAP_CELL_LABEL, .tint = TAP_TINT_CYAN },
	{ 0 }
};

struct bars {
	struct tap_table table;
	unsigned int width; /* of the longest bar */
	uint64_t rows[65], most; /* 0: the value 0; n: from 2^(n-1) to 2^n - 1 */
};

static unsigned int row_of(uint64_t v)
{
	return v ? 64 - (unsigned int)__builtin_clzll(v) : 0;
}

/* A bucket never lies on both sides of a power of two. */
static void add_to_row(void *ctx, uint64_t from, uint64_t to, uint64_t weight)
{
	struct bars *b = ctx;
	uint64_t *row = &b->rows[row_of(from)];

	(void)to;
	*row += weight;
	if (*row > b->most)
		b->most = *row;
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

/* U+2588 is a full block; the seven after it become narrower by an eighth each. */
static void put_bar(struct bars *b, uint64_t count, bool utf8)
{
	unsigned int eighths = (unsigned int)((double)count / (double)b->most * b->width * 8 + 0.5);
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
	tap_hist_for_each(h, add_to_row, b);
	for (unsigned int i = row_of(h->min); h->count && i <= row_of(h->max); i++) {
		tap_table_u64(&b->table, i ? (uint64_t)1 << (i - 1) : 0);
		tap_table_u64(&b->table, i ? ((uint64_t)2 << (i - 1)) - 1 : 0);
		tap_table_u64(&b->table, b->rows[i]);
		tap_table_real(&b->table, 100.0 * (double)b->rows[i] / (double)h->count);
		put_bar(b, b->rows[i], b->table.page->utf8);
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
