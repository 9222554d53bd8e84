/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Plots for a terminal: one strip per series, one above the other over the same time, in block
 * characters or in ASCII. A column is solid up to its average, and shaded up to its maximum; where
 * nothing is known it is empty, and where all is 0 it has a line at the bottom. A second series may
 * be drawn over a strip, on the same axis: its averages, as a line.
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
	double min; /* of a signed strip */
	bool has_line; /* of the second series: it is known */
	double line;
};

struct tap_plot {
	unsigned int columns, rows;
	bool ascii, color;
	struct tap_window window; /* of the first and the last column */
	struct tap_wall *wall; /* for the time axis, borrowed; NULL: the recording's clock */
};

/* @top: the value of the upper edge, above 0. Values are >= 0; what is above the top is cut. */
void tap_plot_strip(struct tap_buf *b, const struct tap_plot *p,
		    const struct tap_plot_column *columns, uint64_t top);
/* What a strip is drawn with, and the line over it: for where it says which is which. */
void tap_plot_mark(struct tap_buf *b, const struct tap_plot *p, bool is_line);
/*
 * From -@top to @top: a column is solid from 0 to its average, and shaded from there to its least
 * and its greatest value; where all is 0 there is a line in the middle. Rows are whole; they are an
 * even number.
 */
void tap_plot_signed_strip(struct tap_buf *b, const struct tap_plot *p,
			   const struct tap_plot_column *columns, uint64_t top);

/*
 * A heat map, row by row: the more a cell has the darker it is. @from: how many each shade takes,
 * at least, which follows from how many the fullest cell has.
 */
#define TAP_PLOT_SHADES 4u
void tap_plot_shades(uint64_t most, uint64_t from[TAP_PLOT_SHADES]);
void tap_plot_shades_text(struct tap_buf *b, const struct tap_plot *p,
			  const uint64_t from[TAP_PLOT_SHADES]);
/* @label: of TAP_PLOT_MARGIN - 2 columns. @counts: of each column. */
void tap_plot_heat(struct tap_buf *b, const struct tap_plot *p, const char *label,
		   const uint64_t *counts, const uint64_t from[TAP_PLOT_SHADES]);
/* A row that says where something is not known: where the counts are not 0. */
void tap_plot_unknown(struct tap_buf *b, const struct tap_plot *p, const uint64_t *counts);

/* The time axis, below the last strip: seconds, or where .wall shows the wall time, time of day. */
void tap_plot_axis(struct tap_buf *b, const struct tap_plot *p);

/* The next 1, 2 or 5 times a power of ten: a scale that holds @max. */
uint64_t tap_plot_top(uint64_t max);

#endif
