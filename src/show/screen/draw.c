// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What changes a terminal from one frame to the next, in ECMA-48. Terminals disagree about the
 * width of some characters, so after all but ASCII, lines and blocks the cursor is placed anew:
 * a disagreement then shifts one character, not the rest of the row.
 */
#include "show/screen/frame.h"

#define UNKNOWN UINT32_MAX /* a column */
#define ERASE_MIN 4u /* as many cells at a row's end take longer to overwrite than CSI K */

struct pen {
	struct tap_buf *out;
	unsigned int row, column; /* where the terminal's cursor is */
	unsigned int style; /* of what the terminal writes next */
	unsigned int mask; /* the style bits that are shown */
	bool utf8;
};

static void move_to(struct pen *pen, unsigned int row, unsigned int column)
{
	if (pen->row == row && pen->column == column)
		return;
	if (pen->row == row && pen->column < column && column - pen->column == 1)
		tap_buf_puts(pen->out, "\033[C");
	else if (pen->row == row && pen->column < column)
		tap_buf_printf(pen->out, "\033[%uC", column - pen->column);
	else
		tap_buf_printf(pen->out, "\033[%u;%uH", row + 1, column + 1);
	pen->row = row;
	pen->column = column;
}

static void set_style(struct pen *pen, unsigned int style)
{
	style &= pen->mask;
	if (style == pen->style)
		return;
	pen->style = style;
	tap_buf_puts(pen->out, "\033[");
	if (style)
		tap_buf_char(pen->out, '0');
	if (style & TAP_STYLE_BOLD)
		tap_buf_puts(pen->out, ";1");
	if (style & TAP_STYLE_DIM)
		tap_buf_puts(pen->out, ";2");
	if (style & TAP_STYLE_REVERSE)
		tap_buf_puts(pen->out, ";7");
	if (style & TAP_STYLE_COLOUR)
		tap_buf_printf(pen->out, ";3%u", (style & TAP_STYLE_COLOUR) / TAP_STYLE_RED);
	tap_buf_char(pen->out, 'm');
}

/* U+2580..U+259F: bars and other blocks. */
static bool is_block(const char *text)
{
	return !memcmp(text, "\xe2\x96", 2) && (unsigned char)text[2] < 0xa0;
}

/* Return true if every terminal shows the cell's text in one column. */
static bool is_narrow(const struct tap_cell *cell)
{
	const char *text = cell->text;

	return !text[1] ||
	       ((is_block(text) || !memcmp(text, "\xe2\x94", 2) || !memcmp(text, "\xe2\x95", 2)) &&
		!text[3]);
}

/* Return 2 for a wide character, which the cell to the right of it belongs to. */
static unsigned int cell_width(const struct tap_cell *cells, unsigned int column, unsigned int end)
{
	return column + 1 < end && !*cells[column + 1].text ? 2 : 1;
}

/* Write a cell's text in ASCII. */
static void add_ascii(struct tap_buf *out, const struct tap_cell *cell, unsigned int width)
{
	if (!(cell->text[0] & 0x80))
		tap_buf_char(out, cell->text[0]); /* without combining characters */
	else
		tap_buf_add(out, is_block(cell->text) ? "##" : "??", width);
}

static void write_cell(struct pen *pen, const struct tap_cell *cell, unsigned int width)
{
	set_style(pen, cell->style);
	if (pen->utf8)
		tap_buf_add(pen->out, cell->text, strnlen(cell->text, sizeof(cell->text)));
	else
		add_ascii(pen->out, cell, width);
	pen->column = !pen->utf8 || is_narrow(cell) ? pen->column + width : UNKNOWN;
}

static bool is_same(const struct pen *pen, const struct tap_cell *a, const struct tap_cell *b)
{
	return !memcmp(a->text, b->text, sizeof(a->text)) && !((a->style ^ b->style) & pen->mask);
}

static const struct tap_cell space = { .text = " " };

/* Return the column from which on a row has only plain spaces. */
static unsigned int text_end(const struct pen *pen, const struct tap_cell *cells, unsigned int end)
{
	while (end && is_same(pen, &cells[end - 1], &space))
		end--;
	return end;
}

static void update_row(struct pen *pen, unsigned int row, const struct tap_cell *before,
		       const struct tap_cell *now, unsigned int columns)
{
	unsigned int blank = text_end(pen, now, columns), width;
	unsigned int old_end = before ? text_end(pen, before, columns) : 0;

	for (unsigned int i = 0; i < columns; i += width) {
		width = cell_width(now, i, columns);
		if (is_same(pen, before ? &before[i] : &space, &now[i]))
			continue;
		move_to(pen, row, i);
		if (i >= blank && i + ERASE_MIN <= old_end) {
			set_style(pen, TAP_STYLE_PLAIN);
			tap_buf_puts(pen->out, "\033[K");
			return;
		}
		write_cell(pen, &now[i], width);
	}
	/* After the last column terminals differ: some are at it, others past it or in the next
	 * row. */
	if (pen->column >= columns)
		pen->column = UNKNOWN;
}

void tap_frame_update(struct tap_buf *out, const struct tap_frame *before,
		      const struct tap_frame *now, bool colours, bool utf8)
{
	struct pen pen = { .out = out, .column = UNKNOWN, .utf8 = utf8 };
	size_t at = 0;

	pen.mask = colours ? UINT8_MAX : TAP_STYLE_BOLD | TAP_STYLE_REVERSE;
	if (before && (before->rows != now->rows || before->columns != now->columns))
		before = NULL;
	if (!before)
		tap_buf_puts(out, "\033[m\033[2J");
	for (unsigned int row = 0; row < now->rows; row++, at += now->columns)
		update_row(&pen, row, before ? before->cells + at : NULL, now->cells + at,
			   now->columns);
	set_style(&pen, TAP_STYLE_PLAIN);
}
