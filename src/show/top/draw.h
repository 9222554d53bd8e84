/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the screens have in common: times, thresholds, strips, bars, and tables with a cursor. */
#ifndef TAP_SHOW_TOP_DRAW_H
#define TAP_SHOW_TOP_DRAW_H

#include "show/screen/frame.h"
#include "show/top/ui.h"

/* Text of one cell of a table, or of a line that grows. */
struct tap_text_cell {
	char text[256];
	unsigned int style; /* enum tap_cell_style */
};

void tap_cell_printf(struct tap_text_cell *c, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* "-" if it is unknown. */
void tap_cell_time(struct tap_text_cell *c, uint64_t ns);
/* A wait: as above, with "!" and a colour from the thresholds on. */
void tap_cell_wait(struct tap_text_cell *c, const struct tap_top_ui *ui, uint64_t ns);
/* A number per second: "912", "8.4k". @ns: of the refresh */
void tap_cell_rate(struct tap_text_cell *c, uint64_t v, double ns);
/* A part of 100 %: "11.2"; NAN: "-". */
void tap_cell_percent(struct tap_text_cell *c, double part);

/* A cgroup's path begins so; "kernel threads" and other culprits do not. */
static inline bool tap_top_is_cgroup(const struct tap_top_culprit *c)
{
	return *c->name == '/';
}

/* Put a label and a wait after it. Return: the column after them. */
unsigned int tap_draw_wait(struct tap_frame *f, unsigned int row, unsigned int column,
			   const struct tap_top_ui *ui, const char *label, uint64_t ns);
/*
 * A strip of the last refreshes, the newest at its right end. The height is by length, the same in
 * all strips: up to 4 us, 16 us, 64 us, 256 us, 1 ms, 4 ms, 16 ms, and longer; a space is unknown.
 */
void tap_draw_strip(struct tap_frame *f, unsigned int row, unsigned int column, unsigned int width,
		    const struct tap_top_ui *ui, const struct tap_top_past *past);
/* A bar of @width cells. @part: 0..1; NAN: nothing. */
void tap_draw_bar(struct tap_frame *f, unsigned int row, unsigned int column, unsigned int width,
		  unsigned int style, double part);
/* Put the first line of a screen. @title: of the screen, or "". */
void tap_draw_head(struct tap_frame *f, const struct tap_top_ui *ui,
		   const struct tap_top_shown *shown, const char *title);
/* Put the last line: the keys, or what is being typed. */
void tap_draw_keys(struct tap_frame *f, const struct tap_top_ui *ui, const char *keys);

/* The beginning of each row of a table. */
struct tap_top_row {
	uint64_t id; /* not 0; the same at each refresh */
	unsigned int level; /* 0, or 1: it belongs to the row of level 0 with the same .group */
	unsigned int group;
	double group_key; /* internal */
};

struct tap_top_column {
	const char *title;
	unsigned int width; /* 0: the rest of the line */
	unsigned int from; /* only on screens with so many columns */
	bool left;
	void (*put)(struct tap_text_cell *c, const struct tap_top_ui *ui, const void *row,
		    double ns);
	/* to sort by, the greatest first: a number, or else a text, the least first */
	double (*key)(const void *row);
	const char *(*name)(const void *row);
};

struct tap_top_table {
	const struct tap_top_column *columns;
	unsigned int nr_columns;
	void *rows; /* each begins with a struct tap_top_row */
	size_t size; /* of one */
	unsigned int nr_rows;
	const char *none; /* shown if there are no rows */
	double ns; /* the time that their numbers are of */
};

/* Sort the rows, and draw the head and as many rows as fit into lines @from to @to - 1. */
void tap_top_table_draw(struct tap_frame *f, unsigned int from, unsigned int to,
			struct tap_top_ui *ui, struct tap_top_table *t);
/* Sort the rows as they are drawn, and return the cursor's index; 0 if there are no rows. */
unsigned int tap_top_table_sort(const struct tap_top_ui *ui, struct tap_top_table *t);

/* Rows of tasks, which the home screen shows, too. */
struct tap_task_row {
	struct tap_top_row row;
	const struct tap_now_task *task; /* NULL: a process or cgroup */
	const char *name;
	char number[24];
	unsigned int tid, nr; /* .nr: of its tasks that ran or waited */
	uint64_t run_ns, waits, wait_ns, p99_ns, max_ns, migrations;
};

struct tap_cgroup_row {
	struct tap_top_row row;
	const struct tap_now_cgroup *c;
};

struct tap_program_row {
	struct tap_top_row row;
	const struct tap_bpf_program *p;
};

/* @rows: set; owned by the caller. Return: their number; -ENOMEM. */
int tap_task_rows(const struct tap_top_ui *ui, const struct tap_now *now,
		  struct tap_task_row **rows);
extern const struct tap_top_column tap_task_columns[];
#define TAP_TASK_COLUMNS 13u

extern const struct tap_top_column tap_cgroup_columns[], tap_program_columns[];
#define TAP_CGROUP_COLUMNS 7u
#define TAP_PROGRAM_COLUMNS 6u

/* Rows of the other tables; the caller frees them. Return: their number; -ENOMEM. */
int tap_cgroup_rows(const struct tap_top_ui *ui, const struct tap_now *now, void **rows);
int tap_program_rows(const struct tap_top_shown *shown, void **rows);

/* The table of the screen that the user looks at. @t: .rows is owned. Return: 0; -ENOMEM. */
int tap_top_table_of(struct tap_top_table *t, const struct tap_top_ui *ui,
		     const struct tap_top_shown *shown);

/* Draw into a frame that has its size. Return: 0; -ENOMEM. */
int tap_top_draw(struct tap_frame *f, struct tap_top_ui *ui, const struct tap_top_shown *shown);

/* The screens. Return: 0; -ENOMEM. */
int tap_draw_home(struct tap_frame *f, struct tap_top_ui *ui, const struct tap_top_shown *shown);
int tap_draw_tasks(struct tap_frame *f, struct tap_top_ui *ui, const struct tap_top_shown *shown);
int tap_draw_cgroups(struct tap_frame *f, struct tap_top_ui *ui, const struct tap_top_shown *shown);
int tap_draw_cpus(struct tap_frame *f, struct tap_top_ui *ui, const struct tap_top_shown *shown);
int tap_draw_programs(struct tap_frame *f, struct tap_top_ui *ui,
		      const struct tap_top_shown *shown);
int tap_draw_scx(struct tap_frame *f, struct tap_top_ui *ui, const struct tap_top_shown *shown);
int tap_draw_task(struct tap_frame *f, struct tap_top_ui *ui, const struct tap_top_shown *shown);
int tap_draw_help(struct tap_frame *f, struct tap_top_ui *ui, const struct tap_top_shown *shown);
/* For screens of less than 8 lines or 40 columns: the wait and its cause alone. */
int tap_draw_small(struct tap_frame *f, struct tap_top_ui *ui, const struct tap_top_shown *shown);

#endif
