/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Load-tracking signals as plots, tables, JSON and CSV. */
#ifndef TAP_OUT_PELT_H
#define TAP_OUT_PELT_H

#include "analysis/pelt.h"
#include "show/out/plot.h"
#include "show/out/table.h"

/* A series, and what the recording knows about its task, cgroup or CPU. */
struct tap_out_pelt {
	const struct tap_pelt_series *series; /* borrowed */
	/* a second series of the same subject, drawn as a line over the plot; borrowed; or NULL */
	const struct tap_pelt_series *line;
	const char *label; /* the task's escaped label, borrowed; NULL: show its name and tid */
	uint32_t label_len;
	int tgid; /* the process id of a task's series; -1: unknown */
	const char *path; /* the cgroup's path, borrowed; NULL: unknown */
};

/*
 * Plot each series as a strip. @p: .rows is a strip's maximum height. Strips of one signal have the
 * same scale, and so do two signals that share a strip.
 */
void tap_out_pelt_plot(struct tap_buf *b, const struct tap_plot *p,
		       const struct tap_out_pelt *series, unsigned int nr);
/* Print a table of the series' statistics. @points: for programs, include every update. */
void tap_out_pelt_figures(struct tap_page *r, const struct tap_out_pelt *series, unsigned int nr,
			  uint64_t window_ns, bool points);
/* For people: print how long the values stayed in each part of their range. */
void tap_out_pelt_bands(struct tap_page *r, const struct tap_out_pelt *series, unsigned int nr);

/*
 * CSV: one row per update, in the order of the events. @value TAP_PELT_GAP: unknown from @ts_ns on.
 */
extern const struct tap_column tap_out_pelt_columns[];
void tap_out_pelt_row(struct tap_table *t, const struct tap_out_pelt *series, uint64_t ts_ns,
		      int64_t value);

#endif
