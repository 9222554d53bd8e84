// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* BPF programs, and how much of a CPU they take. */
#include <errno.h>
#include <stdlib.h>

#include "show/top/draw.h"

int tap_program_rows(const struct tap_top_shown *shown, void **rows)
{
	struct tap_program_row *r = calloc(shown->nr_programs + 1, sizeof(*r));

	*rows = r;
	if (!r)
		return -ENOMEM;
	for (unsigned int i = 0; i < shown->nr_programs; i++)
		r[i] = (struct tap_program_row){ { .id = shown->programs[i].id },
						 &shown->programs[i] };
	return (int)shown->nr_programs;
}

/* The screen may have been opened in the middle of a refresh. */
static double program_length(const struct tap_top_shown *shown)
{
	return shown->programs_ns ? (double)shown->programs_ns : 1;
}

#define PUT(what)                                                                                  \
	static void put_##what(struct tap_text_cell *c, const struct tap_top_ui *ui,               \
			       const void *of, double ns)
#define ROW                                                                                        \
	const struct tap_bpf_program *p = ((const struct tap_program_row *)of)->p;                 \
	(void)ui;                                                                                  \
	(void)ns
#define KEY(what, value)                                                                           \
	static double key_##what(const void *of)                                                   \
	{                                                                                          \
		const struct tap_bpf_program *p = ((const struct tap_program_row *)of)->p;         \
                                                                                                   \
		return value;                                                                      \
	}

PUT(run)
{
	ROW;
	tap_cell_printf(c, "%.2f", 100 * (double)p->run_ns / ns);
}

PUT(id)
{
	ROW;
	tap_cell_printf(c, "%u", p->id);
}

PUT(type)
{
	ROW;
	tap_cell_printf(c, "%s", p->type);
}

PUT(calls)
{
	ROW;
	tap_cell_rate(c, p->calls, ns);
}

PUT(each)
{
	ROW;
	if (p->calls)
		tap_cell_time(c, p->run_ns / p->calls);
	else
		tap_cell_printf(c, "-");
}

PUT(name)
{
	ROW;
	tap_cell_printf(c, "%s%s", p->name, p->is_ours ? "  (this schedtap)" : "");
}

KEY(run, (double)p->run_ns)
KEY(id, -(double)p->id)
KEY(calls, (double)p->calls)
KEY(each, p->calls ? (double)p->run_ns / (double)p->calls : 0)

static const char *type_of(const void *of)
{
	return ((const struct tap_program_row *)of)->p->type;
}

static const char *name_of(const void *of)
{
	return ((const struct tap_program_row *)of)->p->name;
}

const struct tap_top_column tap_program_columns[TAP_PROGRAM_COLUMNS] = {
	{ "cpu%", 7, 0, false, put_run, key_run, NULL },
	{ "id", 7, 60, false, put_id, key_id, NULL },
	{ "calls/s", 8, 0, false, put_calls, key_calls, NULL },
	{ "per call", 8, 0, false, put_each, key_each, NULL },
	{ "type", 16, 70, true, put_type, NULL, type_of },
	{ "name", 0, 0, true, put_name, NULL, name_of },
};

int tap_draw_programs(struct tap_frame *f, struct tap_top_ui *ui, const struct tap_top_shown *shown)
{
	struct tap_top_table t;
	double ns = 0;
	int ret = tap_top_table_of(&t, ui, shown);

	if (ret)
		return ret;
	for (unsigned int i = 0; i < shown->nr_programs; i++)
		ns += (double)shown->programs[i].run_ns;
	if (shown->programs_why)
		t.none = shown->programs_why;
	tap_draw_head(f, ui, shown, "BPF programs");
	if (!shown->programs_why)
		tap_frame_printf(
			f, 1, 0, TAP_STYLE_PLAIN,
			"%u programs took %.2f %% of a CPU; measuring makes each call slower",
			shown->nr_programs, 100 * ns / program_length(shown));
	t.ns = program_length(shown);
	tap_top_table_draw(f, 2, f->rows - 1, ui, &t);
	tap_draw_keys(f, ui, "< > sort  I reverse  z freeze  Esc back  ? help");
	free(t.rows);
	return 0;
}
