/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Plots for a terminal: one strip per series, stacked over the same time axis, in block characters
 * or in ASCII. A column is solid up to its average, and shaded up to its maximum. It is empty if
 * the value is unknown, and has a line at the bottom if all values are 0. A second series may be
 * drawn over a strip, on the same axis: its averages, as a line.
 */
#ifndef TAP_OUT_PLOT_H
#define TAP_OUT_PLOT_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/wall.h"
#include "base/window.h"
#include "show/out/page.h"

#define TAP_PLOT_MARGIN 9u /* columns that the y axis takes */
#define TAP_PLOT_MIN_COLUMNS 20u

struct tap_plot_column {
	bool known;
	double avg, max;
	double min; /* least value, for signed strips */
	bool has_line; /* the second series has a value here */
	double line;
};

struct tap_plot {
	unsigned int columns, rows;
	bool ascii, color;
	struct tap_window window; /* from the first column's start to the last column's end */
	struct tap_wall *wall; /* for the time axis, borrowed; NULL: show the recording's clock */
};

/*
 * Draw a strip of values that are not negative. @top: the upper edge's value, above 0; greater
 * values are cut off.
 */
void tap_plot_strip(struct tap_buf *b, const struct tap_plot *p,
		    const struct tap_plot_column *columns, uint64_t top);
/*
 * Append the symbol that a strip, or with @is_line the line over it, is drawn with; for a legend.
 */
void tap_plot_mark(struct tap_buf *b, const struct tap_plot *p, bool is_line);
/*
 * Draw a strip from -@top to @top. A column is solid from 0 to its average, and shaded from there
 * to its minimum and maximum; if all values are 0 there is a line in the middle. Cells are not
 * subdivided; .rows must be even.
 */
void tap_plot_signed_strip(struct tap_buf *b, const struct tap_plot *p,
			   const struct tap_plot_column *columns, uint64_t top);

/*
 * Heat map, drawn row by row: cells with greater counts are darker. @from: least count of each
 * shade, derived from the greatest count of a cell.
 */
#define TAP_PLOT_SHADES 4u
void tap_plot_shades(uint64_t most, uint64_t from[TAP_PLOT_SHADES]);
void tap_plot_shades_text(struct tap_buf *b, const struct tap_plot *p,
			  const uint64_t from[TAP_PLOT_SHADES]);
/* Draw one row. @label: TAP_PLOT_MARGIN - 2 columns wide. @counts: one per column. */
void tap_plot_heat(struct tap_buf *b, const struct tap_plot *p, const char *label,
		   const uint64_t *counts, const uint64_t from[TAP_PLOT_SHADES]);
/* Draw a row that marks columns with unknown data: those whose count is not 0. */
void tap_plot_unknown(struct tap_buf *b, const struct tap_plot *p, const uint64_t *counts);

/*
 * Draw the time axis below the last strip: in seconds, or as time of day if .wall shows wall time.
 */
void tap_plot_axis(struct tap_buf *b, const struct tap_plot *p);

/*
 * Return the least 1, 2 or 5 times a power of ten that is not below @max, for the top of a scale.
 */
uint64_t tap_plot_top(uint64_t max);

#endif
