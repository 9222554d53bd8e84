// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "show/screen/frame.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/text.h"

int tap_frame_reset(struct tap_frame *f, unsigned int rows, unsigned int columns)
{
	size_t nr;

	rows = rows < TAP_FRAME_MAX ? rows : TAP_FRAME_MAX;
	columns = columns < TAP_FRAME_MAX ? columns : TAP_FRAME_MAX;
	nr = (size_t)rows * columns;
	if (rows != f->rows || columns != f->columns) {
		tap_frame_release(f);
		f->cells = malloc(nr * sizeof(*f->cells) ?: 1);
		if (!f->cells)
			return -ENOMEM;
		f->rows = rows;
		f->columns = columns;
	}
	for (size_t i = 0; i < nr; i++)
		f->cells[i] = (struct tap_cell){ .text = " " };
	return 0;
}

void tap_frame_release(struct tap_frame *f)
{
	free(f->cells);
	*f = (struct tap_frame){ 0 };
}

/* Return the length in bytes of the character at @s, which is valid UTF-8. */
static size_t char_len(const char *s)
{
	unsigned char first = (unsigned char)*s;

	return first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
}

/* Make one half of a wide character a space, because something else gets the other half. */
static void blank(struct tap_cell *half)
{
	memset(half->text, 0, sizeof(half->text));
	half->text[0] = ' ';
}

/* Put a character into a row. The caller knows that it fits. */
static void put_char(const struct tap_frame *f, struct tap_cell *row, unsigned int column,
		     size_t width, unsigned int style, const char *s, size_t len)
{
	unsigned int end = column + (unsigned int)width;

	if (!*row[column].text && column)
		blank(&row[column - 1]);
	if (end < f->columns && !*row[end].text)
		blank(&row[end]);
	for (unsigned int i = column; i < end; i++)
		row[i] = (struct tap_cell){ .style = (uint8_t)style };
	memcpy(row[column].text, s, len);
}

/* Add a combining character to the cell of the character before it, if there is space. */
static void combine(struct tap_cell *cell, const char *s, size_t len)
{
	size_t used = strnlen(cell->text, sizeof(cell->text));

	if (used + len <= sizeof(cell->text))
		memcpy(cell->text + used, s, len);
}

/* Put escaped text, which is valid UTF-8. Return: the column after it. */
static uint64_t put_escaped(struct tap_frame *f, unsigned int row, uint64_t column,
			    unsigned int style, const char *s, size_t len)
{
	struct tap_cell *cells = row < f->rows ? f->cells + (size_t)row * f->columns : NULL;
	struct tap_cell *last = NULL; /* of this text: it takes the combining characters */
	size_t n, width;

	for (; len; s += n, len -= n, column += width) {
		n = char_len(s);
		width = tap_text_width(s, n);
		if (!width && last)
			combine(last, s, n);
		if (!width)
			continue;
		last = NULL;
		if (cells && column + width <= f->columns) {
			put_char(f, cells, (unsigned int)column, width, style, s, n);
			last = &cells[column];
		}
	}
	return column;
}

unsigned int tap_frame_put(struct tap_frame *f, unsigned int row, unsigned int column,
			   unsigned int style, const char *text)
{
	struct tap_buf escaped = { 0 };
	uint64_t end;

	tap_text_escape(&escaped, text, strlen(text));
	end = put_escaped(f, row, column, style, escaped.data, escaped.len);
	tap_buf_release(&escaped);
	return (unsigned int)end;
}

unsigned int tap_frame_printf(struct tap_frame *f, unsigned int row, unsigned int column,
			      unsigned int style, const char *fmt, ...)
{
	char text[4096]; /* more than the widest row of ASCII */
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	return tap_frame_put(f, row, column, style, text);
}

void tap_frame_right(struct tap_frame *f, unsigned int row, unsigned int end, unsigned int width,
		     unsigned int style, const char *text)
{
	struct tap_buf escaped = { 0 };
	size_t len;

	tap_text_escape(&escaped, text, strlen(text));
	len = tap_text_fit(escaped.data, escaped.len, width < end ? width : end);
	put_escaped(f, row, end - tap_text_width(escaped.data, len), style, escaped.data, len);
	tap_buf_release(&escaped);
}

void tap_frame_left(struct tap_frame *f, unsigned int row, unsigned int column, unsigned int width,
		    unsigned int style, const char *text)
{
	struct tap_buf escaped = { 0 };

	tap_text_escape(&escaped, text, strlen(text));
	if (tap_text_width(escaped.data, escaped.len) > width) {
		escaped.len = width ? tap_text_fit(escaped.data, escaped.len, width - 1) : 0;
		if (width)
			tap_buf_char(&escaped, '~');
	}
	put_escaped(f, row, column, style, escaped.data, escaped.len);
	tap_buf_release(&escaped);
}

void tap_frame_paint(struct tap_frame *f, unsigned int row, unsigned int column, unsigned int width,
		     unsigned int style)
{
	if (row >= f->rows)
		return;
	for (; width && column < f->columns; width--, column++)
		f->cells[(size_t)row * f->columns + column].style = (uint8_t)style;
}

/* ---- as text ---- */

static void add_cell_text(struct tap_buf *out, const struct tap_cell *cell)
{
	tap_buf_add(out, cell->text, strnlen(cell->text, sizeof(cell->text)));
}

/* Return the letter that stands for a style; ' ': plain. */
static char style_letter(unsigned int style)
{
	bool strong = style & (TAP_STYLE_BOLD | TAP_STYLE_REVERSE);
	unsigned int colour = style & TAP_STYLE_COLOUR;

	if (colour)
		return (strong ? " RGYLMCW" : " rgylmcw")[colour / TAP_STYLE_RED];
	if (style & TAP_STYLE_REVERSE)
		return 'v';
	return style & TAP_STYLE_BOLD ? 'b' : style & TAP_STYLE_DIM ? 'd' : ' ';
}

static void end_row(struct tap_buf *out, size_t start)
{
	while (out->len > start && out->data[out->len - 1] == ' ')
		out->len--;
	tap_buf_char(out, '\n');
}

void tap_frame_text(struct tap_buf *out, const struct tap_frame *f, bool styles)
{
	for (unsigned int row = 0; row < f->rows; row++) {
		const struct tap_cell *cells = f->cells + (size_t)row * f->columns;
		bool styled = false;
		size_t start = out->len;

		for (unsigned int i = 0; i < f->columns; i++) {
			add_cell_text(out, &cells[i]);
			styled |= style_letter(cells[i].style) != ' ';
		}
		end_row(out, start);
		if (!styles || !styled)
			continue;
		start = out->len;
		for (unsigned int i = 0; i < f->columns; i++)
			tap_buf_char(out, style_letter(cells[i].style));
		end_row(out, start);
	}
}
