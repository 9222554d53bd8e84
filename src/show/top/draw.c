// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "show/top/draw.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

void tap_cell_printf(struct tap_text_cell *c, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(c->text, sizeof(c->text), fmt, args);
	va_end(args);
}

void tap_cell_time(struct tap_text_cell *c, uint64_t ns)
{
	struct tap_buf text = { 0 };

	if (ns == TAP_NOW_UNKNOWN)
		tap_buf_char(&text, '-');
	else
		tap_text_time(&text, ns);
	tap_cell_printf(c, "%s", tap_buf_str(&text));
	tap_buf_release(&text);
}

void tap_cell_wait(struct tap_text_cell *c, const struct tap_top_ui *ui, uint64_t ns)
{
	bool is_long = ns != TAP_NOW_UNKNOWN && ns >= ui->warn_ns;

	tap_cell_time(c, ns);
	/* the place of the "!" stays free, so that the digits of a column are in line */
	strncat(c->text, is_long ? "!" : " ", sizeof(c->text) - strlen(c->text) - 1);
	if (is_long)
		c->style = ns >= ui->bad_ns ? TAP_STYLE_RED : TAP_STYLE_YELLOW;
}

void tap_cell_rate(struct tap_text_cell *c, uint64_t v, double ns)
{
	double rate = (double)v * 1e9 / ns;

	if (v == TAP_NOW_UNKNOWN)
		tap_cell_printf(c, "-");
	else if (rate < 9999.5)
		tap_cell_printf(c, "%.0f", rate);
	else if (rate < 999950)
		tap_cell_printf(c, "%.1fk", rate / 1000);
	else
		tap_cell_printf(c, "%.1fM", rate / 1e6);
}

void tap_cell_percent(struct tap_text_cell *c, double part)
{
	if (isnan(part))
		tap_cell_printf(c, "-");
	else
		tap_cell_printf(c, "%.1f", 100 * part);
}

unsigned int tap_draw_wait(struct tap_frame *f, unsigned int row, unsigned int column,
			   const struct tap_top_ui *ui, const char *label, uint64_t ns)
{
	struct tap_text_cell c = { 0 };

	tap_cell_wait(&c, ui, ns);
	column = tap_frame_put(f, row, column, TAP_STYLE_PLAIN, label);
	return tap_frame_put(f, row, column, c.style, c.text);
}

/* Return: an index of the blocks below; -1: unknown. */
static int height_of(uint64_t ns)
{
	int height = 0;

	if (ns == TAP_NOW_UNKNOWN)
		return -1;
	for (uint64_t limit = 4000; height < 7 && ns > limit; limit *= 4)
		height++;
	return height;
}

static unsigned int style_of(const struct tap_top_ui *ui, uint64_t ns)
{
	return ns == TAP_NOW_UNKNOWN || ns < ui->warn_ns ? TAP_STYLE_GREEN
	       : ns < ui->bad_ns			 ? TAP_STYLE_YELLOW
							 : TAP_STYLE_RED;
}

void tap_draw_strip(struct tap_frame *f, unsigned int row, unsigned int column, unsigned int width,
		    const struct tap_top_ui *ui, const struct tap_top_past *past)
{
	static const char *const blocks[] = { "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };

	if (width > TAP_TOP_PAST)
		width = TAP_TOP_PAST;
	for (unsigned int i = 0; i < width && i <= ui->nr; i++) {
		uint64_t ns = tap_top_past_at(past, ui->nr - i);
		int height = height_of(ns);

		if (height >= 0)
			tap_frame_put(f, row, column + width - 1 - i, style_of(ui, ns),
				      blocks[height]);
	}
}

void tap_draw_bar(struct tap_frame *f, unsigned int row, unsigned int column, unsigned int width,
		  unsigned int style, double part)
{
	static const char *const parts[] = { "", "▏", "▎", "▍", "▌", "▋", "▊", "▉" };
	unsigned int eighths;

	if (isnan(part))
		return;
	part = part < 0 ? 0 : part > 1 ? 1 : part;
	eighths = (unsigned int)lround(part * width * 8);
	for (unsigned int i = 0; i < eighths / 8; i++)
		tap_frame_put(f, row, column + i, style, "█");
	tap_frame_put(f, row, column + eighths / 8, style, parts[eighths % 8]);
}

static void put_time_of_day(struct tap_buf *out, const struct tap_top_ui *ui,
			    const struct tap_top_shown *shown)
{
	if (shown->now->realtime_ns) {
		tap_top_clock(out, shown->now->realtime_ns);
		tap_buf_puts(out, "  ");
	}
	if (shown->recording) {
		tap_text_time(out, shown->position_ns);
		tap_buf_puts(out, " of ");
		tap_text_time(out, shown->length_ns);
		tap_buf_puts(out, ui->playing ? "  playing" : "");
		tap_buf_puts(out, "  ");
	} else if (ui->frozen) {
		tap_buf_puts(out, "FROZEN  ");
	}
}

static void put_overhead(struct tap_buf *out, const struct tap_top_shown *shown)
{
	const struct tap_now *now = shown->now;

	if (shown->recording)
		tap_buf_puts(out, "each ");
	else
		tap_buf_puts(out, "every ");
	tap_text_time(out, shown->every_ns);
	if (!isnan(now->overhead))
		tap_buf_printf(out, "  overhead %.1f %%", now->overhead);
	if (now->lost != TAP_NOW_UNKNOWN)
		tap_buf_printf(out, "  lost %llu", (unsigned long long)now->lost);
}

void tap_draw_head(struct tap_frame *f, const struct tap_top_ui *ui,
		   const struct tap_top_shown *shown, const char *title)
{
	struct tap_buf text = { 0 };

	tap_buf_printf(&text, "schedtap top  %s", *title ? title : shown->recording ?: shown->host);
	if (!*title && !shown->recording && f->columns >= 80)
		tap_buf_printf(&text, "  %s", shown->release);
	tap_buf_puts(&text, "  ");
	put_time_of_day(&text, ui, shown);
	put_overhead(&text, shown);
	tap_frame_paint(f, 0, 0, f->columns, TAP_STYLE_REVERSE);
	tap_frame_put(f, 0, 0, TAP_STYLE_REVERSE, tap_buf_str(&text));
	tap_buf_release(&text);
}

/* The end of what is typed, and what is wrong with it. */
static void draw_typed(struct tap_frame *f, unsigned int row, const struct tap_top_ui *ui)
{
	size_t len = strlen(ui->typed), room = f->columns / (*ui->message ? 3 : 1) - 10;
	unsigned int at;

	at = tap_frame_printf(f, row, 0, TAP_STYLE_BOLD, "filter: %s_  ",
			      ui->typed + (len > room ? len - room : 0));
	tap_frame_put(f, row, at, TAP_STYLE_RED, ui->message);
}

void tap_draw_keys(struct tap_frame *f, const struct tap_top_ui *ui, const char *keys)
{
	unsigned int row = f->rows - 1;

	for (unsigned int i = 0; i < f->columns; i++) /* erase what overflowed */
		tap_frame_put(f, row, i, TAP_STYLE_PLAIN, " ");
	if (ui->typing)
		draw_typed(f, row, ui);
	else if (*ui->message)
		tap_frame_put(f, row, 0, TAP_STYLE_BOLD, ui->message);
	else
		tap_frame_put(f, row, 0, TAP_STYLE_DIM, keys);
}
