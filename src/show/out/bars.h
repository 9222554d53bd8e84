/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Distribution of durations. Text has a row with a bar for each power of two from the smallest to
 * the greatest value; JSON and CSV list every bucket that is not empty.
 */
#ifndef TAP_OUT_BARS_H
#define TAP_OUT_BARS_H

#include "base/hist.h"
#include "analysis/latency.h"
#include "show/out/plot.h"
#include "show/out/table.h"

/* Print @h. @key: the array's name in JSON. */
void tap_out_bars(struct tap_page *r, const char *key, const struct tap_hist *h);

/*
 * Print the distribution of waits over time as a heat map, for people: a row for each power of two,
 * darker where more waits ended, and a last row that marks columns with unknown waits. @columns:
 * one for each of @p's columns.
 */
void tap_out_bars_over_time(struct tap_buf *b, const struct tap_plot *p,
			    const struct tap_latency_column *columns);

#endif
