// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Which screen is drawn, and which table it has. */
#include <stdlib.h>

#include "show/top/draw.h"

#define MIN_ROWS 8u
#define MIN_COLUMNS 40u

int tap_top_table_of(struct tap_top_table *t, const struct tap_top_ui *ui,
		     const struct tap_top_shown *shown)
{
	int nr;

	*t = (struct tap_top_table){ .none = "none", .ns = tap_now_length(shown->now) };
	switch (ui->screen) {
	case TAP_TOP_CGROUPS:
		t->columns = tap_cgroup_columns;
		t->nr_columns = TAP_CGROUP_COLUMNS;
		t->size = sizeof(struct tap_cgroup_row);
		nr = tap_cgroup_rows(ui, shown->now, &t->rows);
		break;
	case TAP_TOP_PROGRAMS:
		t->columns = tap_program_columns;
		t->nr_columns = TAP_PROGRAM_COLUMNS;
		t->size = sizeof(struct tap_program_row);
		nr = tap_program_rows(shown, &t->rows);
		break;
	default:
		t->columns = tap_task_columns;
		t->nr_columns = TAP_TASK_COLUMNS;
		t->size = sizeof(struct tap_task_row);
		nr = tap_task_rows(ui, shown->now, (struct tap_task_row **)&t->rows);
	}
	if (nr < 0) {
		free(t->rows);
		return nr;
	}
	t->nr_rows = (unsigned int)nr;
	return 0;
}

int tap_top_draw(struct tap_frame *f, struct tap_top_ui *ui, const struct tap_top_shown *shown)
{
	static int (*const draw[TAP_TOP_SCREENS])(struct tap_frame * f, struct tap_top_ui * ui,
						  const struct tap_top_shown *shown) = {
		[TAP_TOP_HOME] = tap_draw_home,		[TAP_TOP_TASKS] = tap_draw_tasks,
		[TAP_TOP_CGROUPS] = tap_draw_cgroups,	[TAP_TOP_CPUS] = tap_draw_cpus,
		[TAP_TOP_PROGRAMS] = tap_draw_programs, [TAP_TOP_SCX] = tap_draw_scx,
		[TAP_TOP_TASK] = tap_draw_task,		[TAP_TOP_HELP] = tap_draw_help,
	};

	if (f->rows < MIN_ROWS || f->columns < MIN_COLUMNS)
		return tap_draw_small(f, ui, shown);
	return draw[ui->screen](f, ui, shown);
}
