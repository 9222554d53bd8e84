/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The load-tracking signals as plots, figures, JSON and CSV. */
#ifndef TAP_OUT_PELT_H
#define TAP_OUT_PELT_H

#include "analysis/pelt.h"
#include "show/out/plot.h"
#include "show/out/table.h"

/* A series, and what the recording says about whom it is of. */
struct tap_out_pelt {
	const struct tap_pelt_series *series; /* borrowed */
	/* for a plot, over it, of the same subject; borrowed; NULL: none */
	const struct tap_pelt_series *line;
	const char *label; /* of a task, escaped; borrowed; NULL: its name and tid will do */
	uint32_t label_len;
	int tgid; /* of a task; -1: not known */
	const char *path; /* of a cgroup; borrowed, NULL: not known */
};

/* @p: .rows is the most that a strip may have. Strips of one signal have the same scale, as two in
 * one strip have. */
void tap_out_pelt_plot(struct tap_buf *b, const struct tap_plot *p,
		       const struct tap_out_pelt *series, unsigned int nr);
/* @points: for programs, every update as well. */
void tap_out_pelt_figures(struct tap_page *r, const struct tap_out_pelt *series, unsigned int nr,
			  uint64_t window_ns, bool points);
/* For people: how long the values were in which part of their range. */
void tap_out_pelt_bands(struct tap_page *r, const struct tap_out_pelt *series, unsigned int nr);

/* Of CSV: one row per update, as they come; @value TAP_PELT_GAP: not known from then on. */
extern const struct tap_column tap_out_pelt_columns[];
void tap_out_pelt_row(struct tap_table *t, const struct tap_out_pelt *series, uint64_t ts_ns,
		      int64_t value);

#endif
