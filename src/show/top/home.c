// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The first screen: the machine, its CPUs, and the tasks that wait most. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "show/top/draw.h"

static void draw_load(struct tap_frame *f, unsigned int line, const struct tap_now *now)
{
	struct tap_text_cell rate = { 0 };
	unsigned int at =
		tap_frame_printf(f, line, 0, TAP_STYLE_PLAIN, "load   %u CPUs", now->nr_cpus);

	if (!isnan(now->busy))
		at = tap_frame_printf(f, line, at, TAP_STYLE_PLAIN, " %.0f %% busy",
				      100 * now->busy);
	tap_cell_rate(&rate, now->switches, tap_now_length(now));
	at = tap_frame_printf(f, line, at, TAP_STYLE_PLAIN, "   %s switches/s", rate.text);
	if (!isnan(now->runnable))
		tap_frame_printf(f, line, at, TAP_STYLE_PLAIN, "   run queues %.1f on average",
				 now->nr_cpus ? now->runnable / now->nr_cpus : 0);
}

/* Waits of each kind that there were. */
static void draw_waits(struct tap_frame *f, unsigned int line, const struct tap_top_ui *ui,
		       const struct tap_now *now)
{
	unsigned int at = tap_frame_put(f, line, 0, TAP_STYLE_PLAIN, "wait  ");

	if (now->why) {
		tap_frame_put(f, line, at + 1, TAP_STYLE_YELLOW, now->why);
		return;
	}
	for (unsigned int k = 0; k < TAP_TALLY_KINDS; k++) {
		static const char *const kinds[] = { " waking", " preempted", " throttled" };

		if (!now->kinds[k].count)
			continue;
		at = tap_frame_put(f, line, at, TAP_STYLE_PLAIN, kinds[k]);
		if (k == TAP_TALLY_WAKING)
			at = tap_draw_wait(f, line, at, ui, " p50 ", now->kinds[k].p50_ns) - 1;
		at = tap_draw_wait(f, line, at, ui, " p99 ", now->kinds[k].p99_ns);
		at = tap_draw_wait(f, line, at, ui, "max ", now->kinds[k].max_ns);
	}
}

static double sum_of(const struct tap_now *now)
{
	double ns = 0;

	for (unsigned int i = 0; i < now->nr_culprits; i++)
		ns += (double)now->culprits[i].ns;
	return ns;
}

/* What ran while tasks waited: cgroups together, then the other uses of a CPU. */
static void draw_why(struct tap_frame *f, unsigned int line, const struct tap_now *now)
{
	double all_ns = sum_of(now), cgroups_ns = 0;
	unsigned int at = tap_frame_put(f, line, 0, TAP_STYLE_PLAIN, "why   ");

	for (unsigned int i = 0; i < now->nr_culprits; i++)
		cgroups_ns +=
			tap_top_is_cgroup(&now->culprits[i]) ? (double)now->culprits[i].ns : 0;
	if (cgroups_ns >= all_ns / 200)
		at = tap_frame_printf(f, line, at, TAP_STYLE_PLAIN, " %.0f %% other cgroups ran ",
				      100 * cgroups_ns / all_ns);
	for (unsigned int i = 0; i < now->nr_culprits && at + 24 < f->columns; i++)
		if (!tap_top_is_cgroup(&now->culprits[i]) &&
		    (double)now->culprits[i].ns >= all_ns / 200)
			at = tap_frame_printf(f, line, at, TAP_STYLE_PLAIN, " %.0f %% %s ",
					      100 * (double)now->culprits[i].ns / all_ns,
					      now->culprits[i].name);
}

static void draw_culprit(struct tap_frame *f, unsigned int line, const struct tap_now *now)
{
	double all_ns = sum_of(now);

	for (unsigned int i = 0; i < now->nr_culprits; i++) {
		const struct tap_top_culprit *c = &now->culprits[i];

		if (!tap_top_is_cgroup(c))
			continue;
		tap_frame_printf(f, line, 7, TAP_STYLE_PLAIN,
				 "culprit %s  %.2f s of waiting per second, %.0f %%", c->name,
				 (double)c->ns / tap_now_length(now), 100 * (double)c->ns / all_ns);
		return;
	}
}

static void draw_cpu(struct tap_frame *f, unsigned int line, const struct tap_top_ui *ui,
		     const struct tap_top_shown *shown, const struct tap_now_cpu *c)
{
	unsigned int strip = f->columns > 76 ? f->columns - 59 : 0;
	struct tap_text_cell wait = { 0 };

	tap_frame_printf(f, line, 0, TAP_STYLE_PLAIN, "%4u", c->cpu);
	tap_draw_bar(f, line, 5, 16, TAP_STYLE_BLUE, c->busy);
	if (!isnan(c->busy))
		tap_frame_printf(f, line, 22, TAP_STYLE_PLAIN, "%3.0f", 100 * c->busy);
	if (shown->power && c->cpu < shown->nr_power && shown->power[c->cpu].khz > 0)
		tap_frame_printf(f, line, 27, TAP_STYLE_PLAIN, "%5lld",
				 (long long)shown->power[c->cpu].khz / 1000);
	else
		tap_frame_put(f, line, 31, TAP_STYLE_DIM, "-");
	tap_frame_put(f, line, 34, TAP_STYLE_PLAIN,
		      shown->idle && c->cpu < shown->nr_power && shown->idle[c->cpu]
			      ? shown->idle[c->cpu]
			      : "-");
	if (!isnan(c->runnable))
		tap_frame_printf(f, line, 39, TAP_STYLE_PLAIN, "%5.1f", c->runnable);
	if (c->cpu < ui->pasts.nr_cpus)
		tap_draw_strip(f, line, 46, strip, ui, &ui->pasts.cpus[c->cpu]);
	tap_cell_wait(&wait, ui, c->max_wait_ns);
	tap_frame_right(f, line, f->columns - 1, 10, wait.style, wait.text);
}

static int by_longest_wait(const void *a, const void *b)
{
	const struct tap_now_cpu *x = a, *y = b;

	if (x->max_wait_ns != y->max_wait_ns)
		return x->max_wait_ns > y->max_wait_ns ? -1 : 1;
	return x->cpu < y->cpu ? -1 : x->cpu > y->cpu;
}

/*
 * Put the CPUs into lines @line to @end - 1. If they do not all fit, those with the longest waits
 * are shown. Return: the line after them.
 */
static int draw_cpus(struct tap_frame *f, unsigned int line, unsigned int end,
		     const struct tap_top_ui *ui, const struct tap_top_shown *shown)
{
	const struct tap_now *now = shown->now;
	unsigned int nr = end - line - 1, nr_cpus = now->nr_cpus;
	struct tap_now_cpu *cpus = calloc(nr_cpus + 1, sizeof(*cpus));

	if (!cpus)
		return -ENOMEM;
	tap_frame_put(f, line, 0, TAP_STYLE_BOLD,
		      f->columns > 76 ? " cpu busy              %   MHz idle queue  longest waits"
				      : " cpu busy              %   MHz idle queue");
	tap_frame_right(f, line++, f->columns - 1, 4, TAP_STYLE_BOLD, "now");
	for (unsigned int i = 0; i < nr_cpus; i++)
		cpus[i] = now->cpus[i];
	if (nr_cpus > nr) {
		nr--;
		qsort(cpus, nr_cpus, sizeof(*cpus), by_longest_wait);
	}
	for (unsigned int i = 0; i < nr_cpus && i < nr; i++)
		draw_cpu(f, line++, ui, shown, &cpus[i]);
	if (nr_cpus > nr)
		tap_frame_printf(f, line++, 0, TAP_STYLE_DIM, "%u more CPUs: press 4",
				 nr_cpus - nr);
	free(cpus);
	return (int)line;
}

/* Draw the table of tasks in the remaining lines. */
static int draw_tasks(struct tap_frame *f, unsigned int line, struct tap_top_ui *ui,
		      const struct tap_top_shown *shown)
{
	struct tap_top_table t;
	int ret = tap_top_table_of(&t, ui, shown);

	if (ret)
		return ret;
	tap_top_table_draw(f, line, f->rows - 1, ui, &t);
	free(t.rows);
	return 0;
}

int tap_draw_home(struct tap_frame *f, struct tap_top_ui *ui, const struct tap_top_shown *shown)
{
	const struct tap_now *now = shown->now;
	unsigned int line = 5, at;
	int ret;

	tap_draw_head(f, ui, shown, "");
	draw_load(f, 1, now);
	draw_waits(f, 2, ui, now);
	at = tap_frame_put(f, 3, 7, TAP_STYLE_PLAIN, "p99 of all ");
	tap_draw_strip(f, 3, at, f->columns > at + 12 ? f->columns - at - 12 : 0, ui,
		       &ui->pasts.p99);
	if (sum_of(now) > 0) {
		draw_why(f, 4, now);
		draw_culprit(f, line++, now);
	}
	ret = draw_cpus(f, line, line + (f->rows - line) / 2, ui, shown);
	if (ret < 0)
		return ret;
	line = (unsigned int)ret;
	if (now->idle_while_waiting_ns != TAP_NOW_UNKNOWN &&
	    (double)now->idle_while_waiting_ns >= tap_now_length(now) / 10000)
		tap_frame_printf(f, line++, 0, TAP_STYLE_YELLOW,
				 "tasks waited beside an idle CPU that they may use: %.1f ms/s",
				 (double)now->idle_while_waiting_ns / 1e6 /
					 (tap_now_length(now) / 1e9));
	ret = draw_tasks(f, line, ui, shown);
	if (shown->recorder && !*ui->message && !ui->typing)
		tap_frame_put(f, f->rows - 1, 0, TAP_STYLE_BOLD, shown->recorder);
	else
		tap_draw_keys(f, ui,
			      "1 home 2 tasks 3 cgroups 4 CPUs 5 programs 6 scx  / filter  q quit  "
			      "? help");
	return ret;
}

int tap_draw_small(struct tap_frame *f, struct tap_top_ui *ui, const struct tap_top_shown *shown)
{
	const struct tap_now *now = shown->now;
	unsigned int line = 0, at;

	at = tap_draw_wait(f, line, 0, ui, "p99 ", now->all.p99_ns);
	tap_draw_wait(f, line++, at, ui, "max ", now->all.max_ns);
	if (now->nr_culprits)
		tap_frame_printf(f, line++, 0, TAP_STYLE_PLAIN, "%.0f %% %s",
				 100 * (double)now->culprits[0].ns / sum_of(now),
				 now->culprits[0].name);
	if (now->why)
		tap_frame_put(f, line, 0, TAP_STYLE_YELLOW, now->why);
	return 0;
}
