// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "show/top/ui.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void tap_top_ui_init(struct tap_top_ui *ui)
{
	*ui = (struct tap_top_ui){ .warn_ns = 1000000, .bad_ns = 10000000 };
}

void tap_top_ui_release(struct tap_top_ui *ui)
{
	tap_top_filter_free(ui->filter);
	tap_top_pasts_release(&ui->pasts);
	tap_buf_release(&ui->explained);
}

void tap_top_ui_note_task(struct tap_top_ui *ui, const struct tap_now *now)
{
	uint64_t nr = ui->nr;
	struct tap_top_task_past *p = &ui->task[nr % TAP_TOP_PAST];

	*p = (struct tap_top_task_past){ .nr = nr + 1, .ns = now->to_ns - now->from_ns };
	for (unsigned int i = 0; i < now->nr_tasks; i++) {
		const struct tap_now_task *t = &now->tasks[i];

		if (t->t->tid != ui->tid)
			continue;
		p->run_ns = t->t->run_ns;
		p->waits = t->t->waits;
		p->migrations = t->migrations;
		p->lacks_waits = !t->w;
		if (t->w) {
			p->max_ns = t->w->max_wait_ns;
			memcpy(p->buckets, t->w->buckets, sizeof(p->buckets));
		}
	}
}

int tap_top_ui_note(struct tap_top_ui *ui, const struct tap_now *now, uint64_t nr)
{
	ui->nr = nr;
	if (ui->tid)
		tap_top_ui_note_task(ui, now);
	return tap_top_pasts_note(&ui->pasts, now, nr);
}
