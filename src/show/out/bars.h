/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A distribution of durations: in text a row and a bar for each power of two, from the smallest
 * value to the greatest; in JSON and CSV every bucket that is not empty.
 */
#ifndef TAP_OUT_BARS_H
#define TAP_OUT_BARS_H

#include "base/hist.h"
#include "analysis/latency.h"
#include "show/out/plot.h"
#include "show/out/table.h"

/* @key: of the array in JSON. */
void tap_out_bars(struct tap_page *r, const char *key, const struct tap_hist *h);

/*
 * The same over time, for people: a row for each power of two, the more waits the darker; below it
 * where some are not known. @columns: as many as @p has.
 */
void tap_out_bars_over_time(struct tap_buf *b, const struct tap_plot *p,
			    const struct tap_latency_column *columns);

#endif
