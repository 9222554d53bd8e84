// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tables that are sorted by a column, and whose cursor stays at its row. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "show/top/draw.h"

static void *row_at(const struct tap_top_table *t, unsigned int i)
{
	return (char *)t->rows + i * t->size;
}

static const struct tap_top_row *head_at(const struct tap_top_table *t, unsigned int i)
{
	return row_at(t, i);
}

/* An unknown number comes last, whatever the order. */
static int by_number(double a, double b, bool reverse)
{
	if (isnan(a) || isnan(b))
		return isnan(a) - isnan(b);
	return (a < b ? 1 : a > b ? -1 : 0) * (reverse ? -1 : 1);
}

struct order {
	const struct tap_top_column *column;
	bool reverse;
};

static int by_column(const struct order *o, const void *a, const void *b)
{
	if (o->column->key)
		return by_number(o->column->key(a), o->column->key(b), o->reverse);
	return strcmp(o->column->name(a) ?: "", o->column->name(b) ?: "") * (o->reverse ? -1 : 1);
}

/* Groups in the order of their rows of level 0; in each, that row first. */
static int compare(const void *a, const void *b, void *ctx)
{
	const struct tap_top_row *x = a, *y = b;
	const struct order *o = ctx;
	int ret = 0;

	if (x->group != y->group) {
		ret = by_number(x->group_key, y->group_key, o->reverse);
		return ret ?: x->group < y->group ? -1 : 1;
	}
	if (x->level == y->level)
		ret = by_column(o, a, b);
	else
		return x->level < y->level ? -1 : 1;
	return ret ?: x->id < y->id ? -1 : x->id > y->id;
}

/* Rows without groups all have group 0. Otherwise a row of level 0 comes before those of its group.
 */
static void set_group_keys(struct tap_top_table *t, const struct order *o)
{
	double key = 0;

	for (unsigned int i = 0; i < t->nr_rows; i++) {
		struct tap_top_row *row = row_at(t, i);

		if (row->group && !row->level)
			key = o->column->key ? o->column->key(row) : 0;
		row->group_key = row->group ? key : 0;
	}
}

unsigned int tap_top_table_sort(const struct tap_top_ui *ui, struct tap_top_table *t)
{
	const struct tap_top_sort *s = &ui->sort[ui->screen];
	struct order o = { &t->columns[s->column % t->nr_columns], s->reverse };

	set_group_keys(t, &o);
	if (t->nr_rows)
		qsort_r(t->rows, t->nr_rows, t->size, compare, &o);
	for (unsigned int i = 0; s->cursor && i < t->nr_rows; i++)
		if (head_at(t, i)->id == s->cursor)
			return i;
	return 0;
}

static bool is_shown(const struct tap_frame *f, const struct tap_top_column *c)
{
	return f->columns >= c->from;
}

static void draw_titles(struct tap_frame *f, unsigned int line, const struct tap_top_sort *s,
			const struct tap_top_table *t)
{
	unsigned int at = 0;

	tap_frame_paint(f, line, 0, f->columns, TAP_STYLE_BOLD);
	for (unsigned int i = 0; i < t->nr_columns; i++) {
		const struct tap_top_column *c = &t->columns[i];
		unsigned int style = i == s->column % t->nr_columns
					     ? (unsigned int)TAP_STYLE_BOLD | TAP_STYLE_CYAN
					     : (unsigned int)TAP_STYLE_BOLD;

		if (!is_shown(f, c))
			continue;
		if (c->left || !c->width)
			tap_frame_left(f, line, at, c->width ?: f->columns - at, style, c->title);
		else
			tap_frame_right(f, line, at + c->width, c->width, style, c->title);
		at += c->width + 1;
	}
}

static void draw_row(struct tap_frame *f, unsigned int line, const struct tap_top_ui *ui,
		     const struct tap_top_table *t, const void *row)
{
	unsigned int at = 0;

	for (unsigned int i = 0; i < t->nr_columns && at < f->columns; i++) {
		const struct tap_top_column *c = &t->columns[i];
		struct tap_text_cell cell = { 0 };

		if (!is_shown(f, c))
			continue;
		c->put(&cell, ui, row, t->ns);
		if (c->left || !c->width)
			tap_frame_left(f, line, at, c->width ?: f->columns - at, cell.style,
				       cell.text);
		else
			tap_frame_right(f, line, at + c->width, c->width, cell.style, cell.text);
		at += c->width + 1;
	}
}

void tap_top_table_draw(struct tap_frame *f, unsigned int from, unsigned int to,
			struct tap_top_ui *ui, struct tap_top_table *t)
{
	struct tap_top_sort *s = &ui->sort[ui->screen];
	unsigned int cursor = tap_top_table_sort(ui, t), lines = to > from + 1 ? to - from - 1 : 0;

	if (!lines)
		return;
	draw_titles(f, from, s, t);
	if (!t->nr_rows)
		tap_frame_put(f, from + 1, 0, TAP_STYLE_DIM, t->none);
	if (cursor < s->first)
		s->first = cursor;
	if (cursor >= s->first + lines)
		s->first = cursor - lines + 1;
	if (s->first + lines > t->nr_rows)
		s->first = t->nr_rows > lines ? t->nr_rows - lines : 0;
	for (unsigned int i = 0; i < lines && s->first + i < t->nr_rows; i++) {
		draw_row(f, from + 1 + i, ui, t, row_at(t, s->first + i));
		if (s->first + i == cursor)
			tap_frame_paint(f, from + 1 + i, 0, f->columns, TAP_STYLE_REVERSE);
	}
}
