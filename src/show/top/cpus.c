// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* All CPUs on one screen: a cell each, by the last level of cache that they share. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "show/top/draw.h"

#define LABEL 8u /* columns of "LLC 12  " */
#define GAP 2u /* between two LLCs of a line */
#define GROUP 8u /* CPUs between two spaces */

/* CPUs of an LLC: indices of @now->cpus, which are in the order of .by_llc. */
struct llc {
	unsigned int first, nr;
};

static int by_llc(const void *a, const void *b, void *ctx)
{
	const struct tap_now_cpu *cpus = ctx;
	const struct tap_now_cpu *x = &cpus[*(const unsigned int *)a];
	const struct tap_now_cpu *y = &cpus[*(const unsigned int *)b];

	if (x->llc != y->llc)
		return x->llc < y->llc ? -1 : 1;
	return x->cpu < y->cpu ? -1 : x->cpu > y->cpu;
}

static char letter_of(const struct tap_top_ui *ui, const struct tap_now_cpu *c)
{
	if (isnan(c->busy))
		return 'x';
	if (c->max_wait_ns != TAP_NOW_UNKNOWN && c->max_wait_ns >= ui->warn_ns)
		return '!';
	if (!isnan(c->runnable) && c->runnable > 1.5)
		return 'Q';
	return c->busy >= 0.05 ? 'r' : '.';
}

static unsigned int style_of(const struct tap_top_ui *ui, const struct tap_now_cpu *c)
{
	if (ui->colours_util)
		return c->busy >= 0.9	 ? TAP_STYLE_RED
		       : c->busy >= 0.5	 ? TAP_STYLE_YELLOW
		       : c->busy >= 0.05 ? TAP_STYLE_GREEN
					 : TAP_STYLE_DIM;
	if (c->max_wait_ns == TAP_NOW_UNKNOWN || c->max_wait_ns < ui->warn_ns)
		return c->busy >= 0.05 ? TAP_STYLE_GREEN : TAP_STYLE_DIM;
	return c->max_wait_ns >= ui->bad_ns ? TAP_STYLE_RED : TAP_STYLE_YELLOW;
}

/* Columns that @nr CPUs take. */
static unsigned int width_of(unsigned int nr)
{
	return nr + (nr - 1) / GROUP;
}

/* A line has at most @width columns of CPUs; an LLC with more takes several lines. */
static unsigned int draw_llc(struct tap_frame *f, unsigned int line, unsigned int column,
			     unsigned int width, const struct tap_top_ui *ui,
			     const struct tap_now *now, const unsigned int *order, struct llc l)
{
	unsigned int per_line = (width + 1) * GROUP / (GROUP + 1) / GROUP * GROUP ?: width;

	tap_frame_printf(f, line, column, TAP_STYLE_PLAIN, "LLC %u", now->cpus[order[l.first]].llc);
	for (unsigned int i = 0; i < l.nr; i++) {
		const struct tap_now_cpu *c = &now->cpus[order[l.first + i]];
		unsigned int in_line = i % per_line;
		char text[2] = { letter_of(ui, c), 0 };

		tap_frame_put(f, line + i / per_line, column + LABEL + in_line + in_line / GROUP,
			      style_of(ui, c), text);
	}
	return (l.nr + per_line - 1) / per_line;
}

static unsigned int find_llcs(const struct tap_now *now, unsigned int *order, struct llc *llcs,
			      unsigned int *widest)
{
	unsigned int nr = 0;

	for (unsigned int i = 0; i < now->nr_cpus; i++)
		order[i] = i;
	qsort_r(order, now->nr_cpus, sizeof(*order), by_llc, now->cpus);
	for (unsigned int i = 0; i < now->nr_cpus; i++) {
		if (!i || now->cpus[order[i]].llc != now->cpus[order[i - 1]].llc)
			llcs[nr++] = (struct llc){ i, 0 };
		llcs[nr - 1].nr++;
		if (llcs[nr - 1].nr > *widest)
			*widest = llcs[nr - 1].nr;
	}
	return nr;
}

/* The LLCs in as many columns as fit, one below the other. Return: the line after them. */
static unsigned int draw_map(struct tap_frame *f, unsigned int line, const struct tap_top_ui *ui,
			     const struct tap_now *now, const unsigned int *order,
			     const struct llc *llcs, unsigned int nr, unsigned int widest)
{
	unsigned int cell = LABEL + width_of(widest) + GAP, columns = (f->columns + GAP) / cell;
	unsigned int rows, height = 0;

	columns = columns < 1 ? 1 : columns > nr ? nr : columns;
	rows = (nr + columns - 1) / columns;
	for (unsigned int row = 0; row < rows; row++, line += height) {
		height = 1;
		for (unsigned int i = row; i < nr; i += rows) {
			unsigned int at = i / rows * cell;
			unsigned int lines = draw_llc(
				f, line, at, f->columns > at + LABEL ? f->columns - at - LABEL : 1,
				ui, now, order, llcs[i]);

			if (lines > height)
				height = lines;
		}
	}
	return line;
}

static void draw_facts(struct tap_frame *f, unsigned int line, const struct tap_top_ui *ui,
		       const struct tap_now *now)
{
	unsigned int at = 0;

	for (unsigned int k = 0; k < TAP_TALLY_KINDS; k++) {
		static const char *const labels[] = { "waking p99 ", "  preempted p99 ",
						      "  throttled p99 " };

		at = tap_draw_wait(f, line, at, ui, labels[k],
				   now->kinds[k].count ? now->kinds[k].p99_ns : TAP_NOW_UNKNOWN);
	}
	at = 0;
	for (unsigned int i = 0; i < TAP_TALLY_SCOPES; i++) {
		static const char *const labels[] = { "moves/s: within an LLC ", "  within a node ",
						      "  across nodes " };
		struct tap_text_cell c = { 0 };

		tap_cell_rate(&c, now->migrations[i], tap_now_length(now));
		at = tap_frame_put(f, line + 1, at, TAP_STYLE_PLAIN, labels[i]);
		at = tap_frame_put(f, line + 1, at, TAP_STYLE_PLAIN, c.text);
	}
	at = tap_frame_put(f, line + 2, 0, TAP_STYLE_PLAIN, "p99 of all waits ");
	tap_draw_strip(f, line + 2, at, TAP_TOP_PAST, ui, &ui->pasts.p99);
	if (now->idle_while_waiting_ns == TAP_NOW_UNKNOWN ||
	    (double)now->idle_while_waiting_ns < tap_now_length(now) / 10000)
		return;
	tap_frame_printf(f, line + 3, 0, TAP_STYLE_YELLOW,
			 "tasks waited for %.1f ms/s while a CPU of the LLC that they may use was "
			 "idle",
			 (double)now->idle_while_waiting_ns / 1e6 / (tap_now_length(now) / 1e9));
}

int tap_draw_cpus(struct tap_frame *f, struct tap_top_ui *ui, const struct tap_top_shown *shown)
{
	const struct tap_now *now = shown->now;
	unsigned int *order = calloc(now->nr_cpus + 1, sizeof(*order)), widest = 1, nr, line;
	struct llc *llcs = calloc(now->nr_cpus + 1, sizeof(*llcs));

	tap_draw_head(f, ui, shown, "CPUs");
	tap_frame_printf(
		f, 1, 0, TAP_STYLE_DIM,
		". idle  r runs  Q queue  ! waits over %llu ms  x unknown   colour: %s (u)",
		(unsigned long long)(ui->warn_ns / 1000000),
		ui->colours_util ? "how busy" : "the longest wait");
	if (order && llcs && now->nr_cpus) {
		nr = find_llcs(now, order, llcs, &widest);
		line = draw_map(f, 2, ui, now, order, llcs, nr, widest);
		draw_facts(f, line + 1, ui, now);
	}
	tap_frame_paint(f, f->rows - 1, 0, f->columns, TAP_STYLE_PLAIN);
	tap_draw_keys(f, ui, "u colour by use  z freeze  Esc back  ? help");
	free(order);
	free(llcs);
	return order && llcs ? 0 : -ENOMEM;
}
