// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* One task: its numbers of the last minute, its waits by length, and its worst waits explained. */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "show/top/draw.h"

#define BARS 5u /* lines of the histogram */
#define BAR_COLUMN 52u
#define BAR_WIDTH 20u

/* Sums of the last refreshes. */
static struct tap_top_task_past sum_of(const struct tap_top_ui *ui, uint64_t ns)
{
	struct tap_top_task_past sum = { 0 };

	for (uint64_t i = 0; i < TAP_TOP_PAST && i <= ui->nr && sum.ns < ns; i++) {
		const struct tap_top_task_past *p = &ui->task[(ui->nr - i) % TAP_TOP_PAST];

		if (p->nr != ui->nr - i + 1)
			break;
		sum.ns += p->ns;
		sum.run_ns += p->run_ns;
		sum.waits += p->waits;
		sum.migrations += p->migrations;
		sum.lacks_waits |= p->lacks_waits;
		if (p->max_ns > sum.max_ns)
			sum.max_ns = p->max_ns;
		for (unsigned int b = 0; b < TAP_TALLY_TASK_BUCKETS; b++)
			sum.buckets[b] += p->buckets[b];
	}
	return sum;
}

static struct tap_tally_task_waits waits_of(const struct tap_top_task_past *sum)
{
	struct tap_tally_task_waits w = { .max_wait_ns = sum->max_ns };

	memcpy(w.buckets, sum->buckets, sizeof(w.buckets));
	return w;
}

static void put_right(struct tap_frame *f, unsigned int line, unsigned int end,
		      const struct tap_text_cell *c)
{
	tap_frame_right(f, line, end, 10, c->style, c->text);
}

/* A column: the last refresh, or the last seconds. */
static void draw_column(struct tap_frame *f, unsigned int end, const struct tap_top_ui *ui,
			const char *title, uint64_t ns)
{
	struct tap_top_task_past sum = sum_of(ui, ns);
	struct tap_tally_task_waits w = waits_of(&sum);
	struct tap_text_cell c[6] = { 0 };
	double all_ns = sum.ns ? (double)sum.ns : 1;

	tap_frame_right(f, 2, end, 10, TAP_STYLE_BOLD, title);
	tap_cell_percent(&c[0], (double)sum.run_ns / all_ns);
	if (sum.lacks_waits) {
		for (unsigned int i = 1; i < 6; i++)
			tap_cell_printf(&c[i], "-");
	} else {
		tap_cell_rate(&c[1], sum.waits, all_ns);
		tap_cell_wait(&c[2], ui, tap_now_task_quantile(&w, 0.5));
		tap_cell_wait(&c[3], ui, tap_now_task_quantile(&w, 0.99));
		tap_cell_wait(&c[4], ui, sum.max_ns);
		tap_cell_printf(&c[5], "%llu", (unsigned long long)sum.migrations);
	}
	for (unsigned int i = 0; i < 6; i++)
		put_right(f, 3 + i, end, &c[i]);
}

/* The waits of the last minute, by powers of 16 of 1 us. */
static void draw_histogram(struct tap_frame *f, const struct tap_top_ui *ui)
{
	static const char *const labels[BARS] = { "up to 1 us", "16 us", "256 us", "4 ms",
						  "longer" };
	static const unsigned int ends[BARS] = { 1, 5, 9, 13, TAP_TALLY_TASK_BUCKETS };
	struct tap_top_task_past sum = sum_of(ui, UINT64_MAX);
	double all = 0;

	if (sum.lacks_waits)
		return;
	for (unsigned int b = 0; b < TAP_TALLY_TASK_BUCKETS; b++)
		all += sum.buckets[b];
	tap_frame_put(f, 2, BAR_COLUMN - 10, TAP_STYLE_BOLD, "waits of the last minute");
	for (unsigned int i = 0, b = 0; i < BARS; i++) {
		double nr = 0;

		for (; b < ends[i]; b++)
			nr += sum.buckets[b];
		tap_frame_right(f, 3 + i, BAR_COLUMN, 10, TAP_STYLE_PLAIN, labels[i]);
		tap_draw_bar(f, 3 + i, BAR_COLUMN + 1, BAR_WIDTH, TAP_STYLE_CYAN,
			     all ? nr / all : 0);
		tap_frame_printf(f, 3 + i, BAR_COLUMN + BAR_WIDTH + 2, TAP_STYLE_PLAIN, "%.1f",
				 all ? 100 * nr / all : 0);
	}
}

static const struct tap_now_task *find(const struct tap_top_ui *ui, const struct tap_now *now)
{
	for (unsigned int i = 0; i < now->nr_tasks; i++)
		if (now->tasks[i].t->tid == ui->tid)
			return &now->tasks[i];
	return NULL;
}

static void draw_facts(struct tap_frame *f, const struct tap_now_task *t)
{
	unsigned int at;

	if (!t) {
		tap_frame_put(f, 1, 0, TAP_STYLE_DIM, "it did not run");
		return;
	}
	at = tap_frame_printf(f, 1, 0, TAP_STYLE_PLAIN, "process %u", t->t->tgid);
	if (t->cpu != TAP_TALLY_UNKNOWN)
		at = tap_frame_printf(f, 1, at, TAP_STYLE_PLAIN, "  CPU %u", t->cpu);
	if (t->prio >= 100)
		at = tap_frame_printf(f, 1, at, TAP_STYLE_PLAIN, "  nice %d", t->prio - 120);
	else if (t->prio != TAP_NOW_NO_PRIO)
		at = tap_frame_printf(f, 1, at, TAP_STYLE_PLAIN, "  %s",
				      t->prio < 0 ? "deadline" : "real-time");
	if (t->util != TAP_TALLY_UNKNOWN)
		at = tap_frame_printf(f, 1, at, TAP_STYLE_PLAIN, "  util %u", t->util);
	tap_frame_printf(f, 1, at, TAP_STYLE_PLAIN, "  %s", t->cgroup ?: "");
}

/* Return: how much of a line fits, in whole words if there are any. */
static size_t fitting(const char *line, size_t len, unsigned int columns)
{
	size_t fit = tap_text_fit(line, len, columns), end = fit;

	while (end && end < len && line[end] != ' ')
		end--;
	return end ?: fit;
}

/* Put a line of explain's output, on as many lines as it takes. Return: the line after it. */
static unsigned int put_wrapped(struct tap_frame *f, unsigned int line, const char *text,
				size_t len)
{
	unsigned int indent = 0;

	do {
		size_t part = fitting(text, len, f->columns - indent);
		char copy[512];

		snprintf(copy, sizeof(copy), "%.*s", (int)part, text);
		tap_frame_put(f, line++, indent, TAP_STYLE_PLAIN, copy);
		indent = 2;
		while (part < len && text[part] == ' ')
			part++;
		text += part;
		len -= part;
	} while (len && line < f->rows - 1);
	return line;
}

/* Draw explain's output without the head of the report. */
static void draw_explained(struct tap_frame *f, unsigned int line, struct tap_top_ui *ui)
{
	const char *text = tap_buf_str(&ui->explained);
	unsigned int nr = 0;

	if (*ui->explained_since)
		tap_frame_printf(f, line++, 0, TAP_STYLE_BOLD, "explained from %s on",
				 ui->explained_since);
	while (*text && line < f->rows - 1) {
		size_t len = strcspn(text, "\n");

		if (*text != '#' && nr++ >= ui->explained_first)
			line = put_wrapped(f, line, text, len);
		text += len + (text[len] == '\n');
	}
}

int tap_draw_task(struct tap_frame *f, struct tap_top_ui *ui, const struct tap_top_shown *shown)
{
	static const char *const labels[] = { "cpu%",	  "waits/s",  "p50 wait",
					      "p99 wait", "max wait", "migrations" };
	char title[64];

	snprintf(title, sizeof(title), "%s [%u]", ui->comm, ui->tid);
	tap_draw_head(f, ui, shown, title);
	draw_facts(f, find(ui, shown->now));
	for (unsigned int i = 0; i < sizeof(labels) / sizeof(labels[0]); i++)
		tap_frame_put(f, 3 + i, 0, TAP_STYLE_PLAIN, labels[i]);
	draw_column(f, 20, ui, "now", 1);
	draw_column(f, 30, ui, "10 s", 10000000000u);
	draw_column(f, 40, ui, "60 s", 60000000000u);
	if (f->columns >= 80)
		draw_histogram(f, ui);
	draw_explained(f, 10, ui);
	tap_frame_paint(f, f->rows - 1, 0, f->columns, TAP_STYLE_PLAIN);
	tap_draw_keys(
		f, ui,
		"x explain its worst waits  m save the last 10 s  r record  Esc back  ? help");
	return 0;
}
