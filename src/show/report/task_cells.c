// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "show/report/task_cells.h"

#include <stdio.h>

void tap_throttling_cell(struct tap_run *run, struct tap_table *t, const struct tap_task *task)
{
	int yes = task ? tap_run_throttles(run, task) : -1;

	tap_table_u64_if(t, yes >= 0, (uint64_t)yes);
}

void tap_throttled_cell(const struct tap_run *run, struct tap_table *t, uint64_t ns)
{
	tap_table_u64_if(t, run->nr_throttling, ns);
}

void tap_label_cell(struct tap_run *run, struct tap_table *t, const struct tap_task *task)
{
	uint32_t len;
	const char *label = tap_run_label(run, task, &len);

	tap_table_text(t, label, len);
}

void tap_id_cells(struct tap_table *t, const struct tap_task *task)
{
	tap_table_s64(t, task->tid);
	tap_table_id(t, tap_task_tgid(task));
	tap_table_text(t, task->comm, strnlen(task->comm, TAP_TASK_COMM));
}

void tap_task_cells(struct tap_run *run, struct tap_table *t, const struct tap_task *task)
{
	tap_label_cell(run, t, task);
	tap_id_cells(t, task);
}

void tap_task_members(struct tap_page *p, const struct tap_task *task)
{
	tap_page_id(p, "tid", task->tid);
	tap_page_id(p, "tgid", tap_task_tgid(task));
	tap_page_text(p, "comm", task->comm, strnlen(task->comm, sizeof(task->comm)));
}

void tap_waker_cells(struct tap_run *run, struct tap_table *t, const struct tap_task *waker,
		     int tid)
{
	char name[16] = "<idle>";

	if (waker) {
		tap_task_cells(run, t, waker);
	} else if (tid < 0) {
		tap_table_nones(t, 4);
	} else {
		if (tid)
			snprintf(name, sizeof(name), "[%d]", tid);
		tap_table_puts(t, name);
		tap_table_s64(t, tid);
		tap_table_none(t);
		tap_table_puts(t, tid ? NULL : name);
	}
}
