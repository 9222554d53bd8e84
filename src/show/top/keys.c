// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "show/top/keys.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "show/top/draw.h"

#define PAGE 10 /* rows of Page Up and Page Down */
#define SORT_BY_CPU 5u /* columns of tap_task_columns */
#define SORT_BY_WAITING 0u

static bool has_table(const struct tap_top_ui *ui)
{
	return ui->screen <= TAP_TOP_CGROUPS || ui->screen == TAP_TOP_PROGRAMS;
}

/* Return: the row under the cursor, of a table that the caller frees; NULL. */
static const void *row_at(const struct tap_top_ui *ui, const struct tap_top_shown *shown,
			  struct tap_top_table *t, int64_t distance)
{
	int64_t at;

	if (!has_table(ui) || tap_top_table_of(t, ui, shown))
		return NULL;
	if (!t->nr_rows) {
		free(t->rows);
		return NULL;
	}
	at = (int64_t)tap_top_table_sort(ui, t) + distance;
	at = at < 0 ? 0 : at >= (int64_t)t->nr_rows ? (int64_t)t->nr_rows - 1 : at;
	return (char *)t->rows + (size_t)at * t->size;
}

static void move_cursor(struct tap_top_ui *ui, const struct tap_top_shown *shown, int64_t distance)
{
	struct tap_top_table t;
	const struct tap_top_row *row = row_at(ui, shown, &t, distance);

	if (!row)
		return;
	ui->sort[ui->screen].cursor = row->id;
	free(t.rows);
}

static void sort_by_next(struct tap_top_ui *ui, const struct tap_top_shown *shown, int step)
{
	struct tap_top_table t;
	struct tap_top_sort *s = &ui->sort[ui->screen];

	if (!has_table(ui) || tap_top_table_of(&t, ui, shown))
		return;
	free(t.rows);
	s->column = (s->column + t.nr_columns + (unsigned int)step) % t.nr_columns;
	snprintf(ui->message, sizeof(ui->message), "sorted by %s", t.columns[s->column].title);
}

/* ---- screens ---- */

static void go_to(struct tap_top_ui *ui, enum tap_top_screen screen)
{
	if (screen == ui->screen)
		return;
	ui->before = ui->screen < TAP_TOP_TASK ? ui->screen : ui->before;
	ui->screen = screen;
}

static void go_to_task(struct tap_top_ui *ui, const struct tap_now *now,
		       const struct tap_task_row *row)
{
	if (!row->task)
		return;
	if (ui->tid != row->tid) {
		memset(ui->task, 0, sizeof(ui->task));
		tap_buf_clear(&ui->explained);
		ui->explained_since[0] = 0;
		ui->explained_first = 0;
	}
	ui->tid = row->tid;
	tap_top_ui_note_task(ui, now);
	snprintf(ui->comm, sizeof(ui->comm), "%.15s", row->task->t->comm);
	go_to(ui, TAP_TOP_TASK);
}

static int set_filter(struct tap_top_ui *ui, const char *text)
{
	struct tap_top_filter *filter = NULL;
	struct tap_err err = { 0 };
	int ret = *text ? tap_top_filter_new(&filter, text, &err) : 0;

	if (ret) {
		const char *why = strstr(err.text, "': ");

		err.text[strcspn(err.text, "\n")] = 0;
		snprintf(ui->message, sizeof(ui->message), "%.100s; fields: %s",
			 why ? why + 3 : err.text, tap_top_filter_fields);
		return ret;
	}
	tap_top_filter_free(ui->filter);
	ui->filter = filter;
	snprintf(ui->filter_text, sizeof(ui->filter_text), "%s", text);
	return 0;
}

/* A cgroup's tasks: the filter matches its path. */
static void go_to_tasks_of(struct tap_top_ui *ui, const struct tap_now_cgroup *c)
{
	char text[256];

	if (strpbrk(c->name, "\"\\*?[") || strlen(c->name) > 200) {
		snprintf(ui->message, sizeof(ui->message), "its path cannot be a filter");
		return;
	}
	snprintf(text, sizeof(text), "cgroup == \"%s\"", c->name);
	if (!set_filter(ui, text))
		go_to(ui, TAP_TOP_TASKS);
}

static enum tap_top_action enter(struct tap_top_ui *ui, const struct tap_top_shown *shown)
{
	struct tap_top_table t;
	const void *row = row_at(ui, shown, &t, 0);
	enum tap_top_screen from = ui->screen;

	if (!row)
		return TAP_TOP_NOTHING;
	if (from == TAP_TOP_CGROUPS)
		go_to_tasks_of(ui, ((const struct tap_cgroup_row *)row)->c);
	else if (from <= TAP_TOP_TASKS)
		go_to_task(ui, shown->now, row);
	free(t.rows);
	return ui->screen == TAP_TOP_TASK ? TAP_TOP_EXPLAIN : TAP_TOP_NOTHING;
}

static void back(struct tap_top_ui *ui)
{
	if (ui->screen == TAP_TOP_TASKS && *ui->filter_text)
		set_filter(ui, "");
	else if (ui->screen >= TAP_TOP_TASK)
		ui->screen = ui->before;
	else
		go_to(ui, TAP_TOP_HOME);
}

/* ---- keys ---- */

static void type_key(struct tap_top_ui *ui, uint32_t key)
{
	size_t len = strlen(ui->typed);

	if (key == TAP_KEY_ENTER) {
		ui->typing = set_filter(ui, ui->typed) != 0; /* else it can be corrected */
		if (!ui->typing && ui->screen != TAP_TOP_HOME)
			go_to(ui, TAP_TOP_TASKS);
	} else if (key == TAP_KEY_ESCAPE) {
		ui->typing = false;
	} else if (key == TAP_KEY_BACKSPACE) {
		while (len && (ui->typed[--len] & 0xc0) == 0x80)
			;
		ui->typed[len] = 0;
	} else if (key >= ' ' && key < 0x7f && len + 1 < sizeof(ui->typed)) {
		ui->typed[len] = (char)key;
		ui->typed[len + 1] = 0;
	}
}

static bool move_key(struct tap_top_ui *ui, const struct tap_top_shown *shown, uint32_t key)
{
	static const struct {
		uint32_t key;
		int64_t distance;
	} moves[] = {
		{ TAP_KEY_UP, -1 },	      { 'k', -1 },
		{ TAP_KEY_DOWN, 1 },	      { 'j', 1 },
		{ TAP_KEY_PAGE_UP, -PAGE },   { TAP_KEY_PAGE_DOWN, PAGE },
		{ TAP_KEY_HOME, -INT32_MAX }, { TAP_KEY_END, INT32_MAX },
	};

	for (unsigned int i = 0; i < sizeof(moves) / sizeof(moves[0]); i++) {
		if (moves[i].key != key)
			continue;
		if (ui->screen == TAP_TOP_TASK) {
			int64_t first = (int64_t)ui->explained_first + moves[i].distance;

			ui->explained_first = first < 0	     ? 0
					      : first > 1000 ? 1000
							     : (unsigned int)first;
		} else {
			move_cursor(ui, shown, moves[i].distance);
		}
		return true;
	}
	return false;
}

/* Keys that choose a screen, or change one. */
static bool screen_key(struct tap_top_ui *ui, const struct tap_top_shown *shown, uint32_t key)
{
	struct tap_top_sort *s = &ui->sort[ui->screen];

	if (key >= '1' && key <= '6')
		go_to(ui, (enum tap_top_screen)(key - '1'));
	else if (key == '\t')
		go_to(ui, (ui->screen + 1) % TAP_TOP_TASK);
	else if (key == 'h' || key == '?' || key == TAP_KEY_F1)
		go_to(ui, TAP_TOP_HELP);
	else if (key == TAP_KEY_ESCAPE)
		back(ui);
	else if (key == '<' || key == '>' || key == TAP_KEY_F1 + 5 || key == 's')
		sort_by_next(ui, shown, key == '<' ? -1 : 1);
	else if (key == 'I')
		s->reverse = !s->reverse;
	else if (key == 'P' && ui->screen <= TAP_TOP_TASKS)
		s->column = SORT_BY_CPU;
	else if (key == 'W' && ui->screen <= TAP_TOP_TASKS)
		s->column = SORT_BY_WAITING;
	else if (key == 't' || key == TAP_KEY_F1 + 4)
		ui->tree = (ui->tree + 1) % TAP_TREES;
	else if (key == 'u')
		ui->colours_util = !ui->colours_util;
	else
		return false;
	return true;
}

static enum tap_top_action move_time(struct tap_top_ui *ui, uint32_t key)
{
	ui->move = key == TAP_KEY_LEFT	  ? -1
		   : key == TAP_KEY_RIGHT ? 1
		   : key == '['		  ? -10
		   : key == ']'		  ? 10
		   : key == '{'		  ? INT64_MIN
					  : INT64_MAX;
	return TAP_TOP_MOVE;
}

static enum tap_top_action action_key(struct tap_top_ui *ui, const struct tap_top_shown *shown,
				      uint32_t key)
{
	switch (key) {
	case 'q':
	case 3: /* Ctrl-C, should the terminal send it */
	case TAP_KEY_F1 + 9:
		return TAP_TOP_QUIT;
	case 'x':
		return ui->screen == TAP_TOP_TASK ? TAP_TOP_EXPLAIN : enter(ui, shown);
	case TAP_KEY_ENTER:
		return ui->screen == TAP_TOP_TASK ? TAP_TOP_EXPLAIN : enter(ui, shown);
	case 'm':
		return TAP_TOP_SAVE;
	case 'r':
		return TAP_TOP_RECORD;
	case 'o':
		return TAP_TOP_OPEN;
	case 'z':
	case 'Z':
		ui->frozen = !ui->frozen;
		return TAP_TOP_FREEZE;
	case '/':
	case '\\':
	case TAP_KEY_F1 + 3:
		ui->typing = true;
		memcpy(ui->typed, ui->filter_text, sizeof(ui->typed));
		return TAP_TOP_NOTHING;
	default:
		return TAP_TOP_NOTHING;
	}
}

static bool moves_time(uint32_t key)
{
	return key == TAP_KEY_LEFT || key == TAP_KEY_RIGHT || key == '[' || key == ']' ||
	       key == '{' || key == '}';
}

enum tap_top_action tap_top_key(struct tap_top_ui *ui, const struct tap_top_shown *shown,
				uint32_t key)
{
	ui->message[0] = 0;
	if (ui->typing) {
		type_key(ui, key);
		return TAP_TOP_NOTHING;
	}
	if (shown->recording && moves_time(key))
		return move_time(ui, key);
	if (shown->recording && key == ' ') {
		ui->playing = !ui->playing;
		return TAP_TOP_NOTHING;
	}
	if (move_key(ui, shown, key) || screen_key(ui, shown, key))
		return TAP_TOP_NOTHING;
	return action_key(ui, shown, key);
}
