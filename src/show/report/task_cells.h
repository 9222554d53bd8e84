/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tasks in report tables. */
#ifndef TAP_REPORT_TASK_CELLS_H
#define TAP_REPORT_TASK_CELLS_H

#include "timeline/run/labels.h"
#include "show/out/table.h"

/*
 * The four columns that identify a task: a label for text, and tid, tgid and comm for programs.
 * @prefix: of the keys, for a second task in a row.
 */
/* clang-format off */
#define TAP_TASK_COLUMNS(prefix, title, w)                                                         \
	{ NULL, title, TAP_CELL_LABEL, .width = w }, { prefix "tid", NULL, TAP_CELL_INT },         \
		{ prefix "tgid", NULL, TAP_CELL_INT }, { prefix "comm", NULL, TAP_CELL_TEXT }
/* clang-format on */
void tap_task_cells(struct tap_run *run, struct tap_table *t, const struct tap_task *task);
/* Add only the first of the four cells; add only the other three. */
void tap_label_cell(struct tap_run *run, struct tap_table *t, const struct tap_task *task);
void tap_id_cells(struct tap_table *t, const struct tap_task *task);
/*
 * Add the four cells of a task's waker. @waker: NULL: only @tid is known. @tid: 0: an interrupt on
 * an idle CPU; -1: unknown.
 */
void tap_waker_cells(struct tap_run *run, struct tap_table *t, const struct tap_task *waker,
		     int tid);
/* Write tid, tgid and comm as members of an object, for programs. */
void tap_task_members(struct tap_page *p, const struct tap_task *task);
/* Column that says whether the task may have been throttled. @task: NULL: no task. */
#define TAP_THROTTLING_COLUMN                                                                      \
	{                                                                                          \
		"throttling_possible", NULL, TAP_CELL_COUNT                                        \
	}
void tap_throttling_cell(struct tap_run *run, struct tap_table *t, const struct tap_task *task);
/* Add a cell with the time that something was throttled; unknown if that was not recorded. */
void tap_throttled_cell(const struct tap_run *run, struct tap_table *t, uint64_t ns);

#endif
