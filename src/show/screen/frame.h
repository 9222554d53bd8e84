/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A frame: what a screen shows, as rows of cells. A program draws a whole frame each time, without
 * knowing what the terminal shows; tap_frame_update() makes the shortest output that turns the
 * frame before into the new one. A test prints frames as text.
 */
#ifndef TAP_SHOW_SCREEN_FRAME_H
#define TAP_SHOW_SCREEN_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

/* How a cell looks: bits, and one colour. */
enum tap_cell_style {
	TAP_STYLE_PLAIN = 0,
	TAP_STYLE_BOLD = 1,
	TAP_STYLE_DIM = 2,
	TAP_STYLE_REVERSE = 4,
	TAP_STYLE_RED = 1 << 4,
	TAP_STYLE_GREEN = 2 << 4,
	TAP_STYLE_YELLOW = 3 << 4,
	TAP_STYLE_BLUE = 4 << 4,
	TAP_STYLE_MAGENTA = 5 << 4,
	TAP_STYLE_CYAN = 6 << 4,
	TAP_STYLE_COLOUR = 7 << 4, /* mask */
};

#define TAP_FRAME_MAX 1000u /* limit for rows and columns; larger terminals show the upper left */
#define TAP_CELL_BYTES 12u /* a character with its combining characters; more of them are cut */

struct tap_cell {
	char text[TAP_CELL_BYTES]; /* UTF-8, no NUL if full; "": right half of a wide character */
	uint8_t style;
};

struct tap_frame { /* zeroed: no rows */
	unsigned int rows, columns; /* 0..TAP_FRAME_MAX */
	struct tap_cell *cells; /* owned; row by row */
};

/* Give a frame a size, and clear it: all cells are plain spaces. Return: 0; -ENOMEM. */
int tap_frame_reset(struct tap_frame *f, unsigned int rows, unsigned int columns);
void tap_frame_release(struct tap_frame *f);

/*
 * Put text into a row from a column on. What does not fit is cut, and text outside the frame is
 * ignored. Control characters, bytes that are not UTF-8, and so on are escaped as by
 * tap_text_escape(). Return: the column after the text, as if the frame had no limit.
 */
unsigned int tap_frame_put(struct tap_frame *f, unsigned int row, unsigned int column,
			   unsigned int style, const char *text);
unsigned int tap_frame_printf(struct tap_frame *f, unsigned int row, unsigned int column,
			      unsigned int style, const char *fmt, ...)
	__attribute__((format(printf, 5, 6)));
/* Put text so that it ends before @end; text wider than @width is cut at its right end. */
void tap_frame_right(struct tap_frame *f, unsigned int row, unsigned int end, unsigned int width,
		     unsigned int style, const char *text);
/* Put text into @width columns; text that is wider is cut, with "~" as its last character. */
void tap_frame_left(struct tap_frame *f, unsigned int row, unsigned int column, unsigned int width,
		    unsigned int style, const char *text);
/* Change the style of cells; their text remains. */
void tap_frame_paint(struct tap_frame *f, unsigned int row, unsigned int column, unsigned int width,
		     unsigned int style);

/*
 * Append what turns a terminal that shows @before into one that shows @now (ECMA-48). @before:
 * NULL, or of another size: the terminal is cleared first. @colours: false: no colours, only bold
 * and reverse (NO_COLOR). @utf8: false: characters that are not ASCII are shown as their nearest
 * ASCII ones (bars as '#', others as '?').
 */
void tap_frame_update(struct tap_buf *out, const struct tap_frame *before,
		      const struct tap_frame *now, bool colours, bool utf8);
/*
 * Append the frame as text: each row without the spaces at its end, and a newline. @styles: after
 * each row that has styled cells, add a row with a letter below each such cell: b bold, d dim, v
 * reverse, r g y l m c a colour (upper case: with bold or reverse).
 */
void tap_frame_text(struct tap_buf *out, const struct tap_frame *f, bool styles);

#endif
