/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Who a task is, as reports show it. */
#ifndef TAP_REPORT_TASK_CELLS_H
#define TAP_REPORT_TASK_CELLS_H

#include "timeline/run/labels.h"
#include "show/out/table.h"

/*
 * Who a task is, in the four cells that every table has: a label for text, and three that are not.
 * @prefix: of the keys, for a second task in a row.
 */
/* clang-format off */
#define TAP_TASK_COLUMNS(prefix, title, w)                                                         \
	{ NULL, title, TAP_CELL_LABEL, .width = w }, { prefix "tid", NULL, TAP_CELL_INT },         \
		{ prefix "tgid", NULL, TAP_CELL_INT }, { prefix "comm", NULL, TAP_CELL_TEXT }
/* clang-format on */
void tap_task_cells(struct tap_run *run, struct tap_table *t, const struct tap_task *task);
/* The first of these, and the other three. */
void tap_label_cell(struct tap_run *run, struct tap_table *t, const struct tap_task *task);
void tap_id_cells(struct tap_table *t, const struct tap_task *task);
/*
 * The same of whoever woke a task. @waker: NULL: it is known only by its tid; @tid: 0: an interrupt
 * on an idle CPU; -1: not known.
 */
void tap_waker_cells(struct tap_run *run, struct tap_table *t, const struct tap_task *waker,
		     int tid);
/* The same as members of an object, for programs. */
void tap_task_members(struct tap_page *p, const struct tap_task *task);
/* Whether it may be throttled. @task: NULL: none. */
#define TAP_THROTTLING_COLUMN                                                                      \
	{                                                                                          \
		"throttling_possible", NULL, TAP_CELL_COUNT                                        \
	}
void tap_throttling_cell(struct tap_run *run, struct tap_table *t, const struct tap_task *task);
/* How long something was throttled, where that was recorded. */
void tap_throttled_cell(const struct tap_run *run, struct tap_table *t, uint64_t ns);

#endif
