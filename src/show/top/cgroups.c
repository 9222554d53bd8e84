// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Cgroups, and who delays whom: the cgroups that wait most against what runs meanwhile. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "show/top/draw.h"

#define MATRIX_ROWS 4u
#define MATRIX_CULPRITS 4u /* named ones; then "kernel", "idle", "other" */
#define NAME_WIDTH 18u
#define CELL_WIDTH 9u

static int compare_names(const void *a, const void *b)
{
	const struct tap_cgroup_row *x = a, *y = b;

	return strcmp(x->c->name, y->c->name);
}

static unsigned int depth_of(const char *name)
{
	unsigned int depth = 0;

	for (const char *c = name; *c; c++)
		depth += *c == '/' && c[1];
	return depth;
}

/* As a tree, the first part of a cgroup's path is its group. */
static void set_groups(struct tap_cgroup_row *rows, unsigned int nr)
{
	unsigned int group = 0;

	qsort(rows, nr, sizeof(*rows), compare_names);
	for (unsigned int i = 0; i < nr; i++) {
		rows[i].row.level = depth_of(rows[i].c->name) > 1;
		group += !i || !rows[i].row.level;
		rows[i].row.group = group;
		if (rows[i].row.level && i && group == rows[i - 1].row.group)
			continue;
		rows[i].row.level = 0;
	}
}

int tap_cgroup_rows(const struct tap_top_ui *ui, const struct tap_now *now, void **rows)
{
	struct tap_cgroup_row *r = calloc(now->nr_cgroups + 1, sizeof(*r));

	*rows = r;
	if (!r)
		return -ENOMEM;
	for (unsigned int i = 0; i < now->nr_cgroups; i++)
		r[i] = (struct tap_cgroup_row){ { .id = tap_map_key(now->cgroups[i].name,
								    strlen(now->cgroups[i].name)) |
							1 },
						&now->cgroups[i] };
	if (ui->tree)
		set_groups(r, now->nr_cgroups);
	return (int)now->nr_cgroups;
}

#define PUT(what)                                                                                  \
	static void put_##what(struct tap_text_cell *c, const struct tap_top_ui *ui,               \
			       const void *of, double ns)
#define ROW                                                                                        \
	const struct tap_cgroup_row *r = of;                                                       \
	(void)ui;                                                                                  \
	(void)ns
#define KEY(what, value)                                                                           \
	static double key_##what(const void *of)                                                   \
	{                                                                                          \
		const struct tap_now_cgroup *g = ((const struct tap_cgroup_row *)of)->c;           \
                                                                                                   \
		return value == TAP_NOW_UNKNOWN ? NAN : (double)(value);                           \
	}

PUT(name)
{
	ROW;
	tap_cell_printf(c, "%s%s", r->row.level ? "  " : "", r->c->name);
}

PUT(run)
{
	ROW;
	if (r->c->run_ns == TAP_NOW_UNKNOWN)
		tap_cell_printf(c, "-");
	else
		tap_cell_printf(c, "%.2f", (double)r->c->run_ns / ns);
}

PUT(throttled)
{
	ROW;
	tap_cell_time(c, r->c->throttled_ns);
	if (r->c->throttled_ns && r->c->throttled_ns != TAP_NOW_UNKNOWN)
		c->style = TAP_STYLE_YELLOW;
}

PUT(waits)
{
	ROW;
	tap_cell_rate(c, r->c->waits.count, ns);
}

PUT(wait)
{
	ROW;
	if (r->c->waits.sum_ns == TAP_NOW_UNKNOWN)
		tap_cell_printf(c, "-");
	else
		tap_cell_printf(c, "%.2f", (double)r->c->waits.sum_ns / ns);
}

PUT(p99)
{
	ROW;
	tap_cell_wait(c, ui, r->c->waits.p99_ns);
}

PUT(culprit)
{
	ROW;
	if (r->c->culprit)
		tap_cell_printf(c, "%.0f%% %s", 100 * r->c->culprit_part, r->c->culprit);
}

KEY(run, g->run_ns)
KEY(throttled, g->throttled_ns)
KEY(waits, g->waits.count)
KEY(wait, g->waits.sum_ns)
KEY(p99, g->waits.p99_ns)

static const char *name_of(const void *of)
{
	return ((const struct tap_cgroup_row *)of)->c->name;
}

static const char *culprit_of(const void *of)
{
	return ((const struct tap_cgroup_row *)of)->c->culprit;
}

const struct tap_top_column tap_cgroup_columns[TAP_CGROUP_COLUMNS] = {
	{ "waiting", 7, 60, false, put_wait, key_wait, NULL },
	{ "cgroup", 28, 0, true, put_name, NULL, name_of },
	{ "cpus", 6, 0, false, put_run, key_run, NULL },
	{ "throttled", 9, 90, false, put_throttled, key_throttled, NULL },
	{ "waits/s", 7, 70, false, put_waits, key_waits, NULL },
	{ "p99 wait", 9, 0, false, put_p99, key_p99, NULL },
	{ "culprit", 0, 80, true, put_culprit, NULL, culprit_of },
};

/* ---- who delays whom ---- */

struct matrix {
	const struct tap_now_cgroup *victims[MATRIX_ROWS];
	unsigned int nr_victims;
	const char *culprits[MATRIX_CULPRITS];
	unsigned int nr_culprits;
};

static void find_victims(struct matrix *m, const struct tap_now *now)
{
	for (unsigned int i = 0; i < now->nr_cgroups; i++) {
		const struct tap_now_cgroup *c = &now->cgroups[i];
		unsigned int at = m->nr_victims;

		while (at && m->victims[at - 1]->waits.sum_ns < c->waits.sum_ns)
			at--;
		if (at == MATRIX_ROWS || !c->waits.sum_ns)
			continue;
		m->nr_victims += m->nr_victims < MATRIX_ROWS;
		memmove(&m->victims[at + 1], &m->victims[at],
			(m->nr_victims - 1 - at) * sizeof(m->victims[0]));
		m->victims[at] = c;
	}
}

static void find_culprits(struct matrix *m, const struct tap_now *now)
{
	for (unsigned int i = 0; i < now->nr_culprits && m->nr_culprits < MATRIX_CULPRITS; i++)
		if (tap_top_is_cgroup(&now->culprits[i]))
			m->culprits[m->nr_culprits++] = now->culprits[i].name;
}

/* The end of a cgroup's path says more than its beginning. */
static const char *short_name(const char *name, unsigned int width)
{
	size_t len = strlen(name);

	return len > width ? name + len - width : name;
}

static void put_ms(struct tap_frame *f, unsigned int line, unsigned int nr, double ns,
		   double refresh_ns)
{
	struct tap_text_cell c = { 0 };

	tap_cell_printf(&c, "%.1f", ns / 1e6 / (refresh_ns / 1e9));
	tap_frame_right(f, line, NAME_WIDTH + (nr + 1) * (CELL_WIDTH + 1), CELL_WIDTH,
			ns ? TAP_STYLE_PLAIN : TAP_STYLE_DIM, ns ? c.text : ".");
}

/* A victim's row: the named culprits, its own cgroup, kernel threads, an idle CPU, and the rest. */
static void draw_victim(struct tap_frame *f, unsigned int line, const struct tap_now *now,
			const struct matrix *m, const struct tap_now_cgroup *victim)
{
	struct tap_top_culprit *list;
	unsigned int nr = tap_top_culprits(now->view, &now->view->rows[victim->slot], &list);
	double ns[MATRIX_CULPRITS + 4] = { 0 };

	for (unsigned int i = 0; i < nr; i++) {
		unsigned int at = 0;

		while (at < m->nr_culprits && strcmp(m->culprits[at], list[i].name))
			at++;
		if (at == m->nr_culprits)
			at = !strcmp(list[i].name, "own cgroup")       ? MATRIX_CULPRITS
			     : !strcmp(list[i].name, "kernel threads") ? MATRIX_CULPRITS + 1
			     : !strcmp(list[i].name, "idle CPU")       ? MATRIX_CULPRITS + 2
								       : MATRIX_CULPRITS + 3;
		ns[at] += (double)list[i].ns;
	}
	free(list);
	tap_frame_left(f, line, 0, NAME_WIDTH, TAP_STYLE_PLAIN,
		       short_name(victim->name, NAME_WIDTH));
	for (unsigned int i = 0; i < m->nr_culprits; i++)
		put_ms(f, line, i, ns[i], tap_now_length(now));
	for (unsigned int i = 0; i < 4; i++)
		put_ms(f, line, m->nr_culprits + i, ns[MATRIX_CULPRITS + i], tap_now_length(now));
}

static void draw_matrix(struct tap_frame *f, unsigned int line, const struct tap_now *now,
			const struct matrix *m)
{
	static const char *const fixed[] = { "own", "kernel", "idle CPU", "other" };

	tap_frame_put(f, line, 0, TAP_STYLE_BOLD,
		      "ms of waiting per second: rows wait while columns run");
	for (unsigned int i = 0; i < m->nr_culprits + 4; i++)
		tap_frame_right(f, line + 1, NAME_WIDTH + (i + 1) * (CELL_WIDTH + 1), CELL_WIDTH,
				TAP_STYLE_BOLD,
				i < m->nr_culprits ? short_name(m->culprits[i], CELL_WIDTH)
						   : fixed[i - m->nr_culprits]);
	for (unsigned int i = 0; i < m->nr_victims; i++)
		draw_victim(f, line + 2 + i, now, m, m->victims[i]);
}

int tap_draw_cgroups(struct tap_frame *f, struct tap_top_ui *ui, const struct tap_top_shown *shown)
{
	const struct tap_now *now = shown->now;
	struct tap_top_table t;
	struct matrix m = { 0 };
	unsigned int nr_long = 0, end = f->rows - 1, at;
	int ret = tap_top_table_of(&t, ui, shown);

	if (ret)
		return ret;
	for (unsigned int i = 0; i < now->nr_cgroups; i++)
		nr_long += now->cgroups[i].waits.p99_ns != TAP_NOW_UNKNOWN &&
			   now->cgroups[i].waits.p99_ns >= ui->warn_ns;
	tap_draw_head(f, ui, shown, "cgroups");
	at = tap_frame_printf(f, 1, 0, TAP_STYLE_PLAIN, "%u cgroups ran or waited",
			      now->nr_cgroups);
	if (now->view)
		tap_frame_printf(f, 1, at, TAP_STYLE_PLAIN, "; p99 was long in %u", nr_long);
	if (now->view && f->rows >= 20) {
		find_victims(&m, now);
		find_culprits(&m, now);
	}
	if (m.nr_victims) {
		end -= m.nr_victims + 3;
		draw_matrix(f, end + 1, now, &m);
	}
	tap_top_table_draw(f, 2, end, ui, &t);
	tap_draw_keys(f, ui, "Enter its tasks  < > sort  I reverse  t tree  z freeze  ? help");
	free(t.rows);
	return 0;
}
