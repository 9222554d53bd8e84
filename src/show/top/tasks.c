// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tasks, by themselves or below their processes or cgroups. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "show/top/draw.h"

/* ---- rows ---- */

static struct tap_task_row row_of(const struct tap_now_task *t, unsigned int level)
{
	return (struct tap_task_row){
		.row = { .id = (uint64_t)t->t->tid << 2 | 1, .level = level },
		.task = t,
		.name = t->t->comm,
		.tid = t->t->tid,
		.nr = 1,
		.run_ns = t->t->run_ns,
		.waits = t->wait_ns == TAP_NOW_UNKNOWN ? TAP_NOW_UNKNOWN : t->t->waits,
		.wait_ns = t->wait_ns,
		.p99_ns = t->p99_ns,
		.max_ns = t->max_ns,
		.migrations = t->migrations,
	};
}

static void add(uint64_t *sum, uint64_t v)
{
	*sum = *sum == TAP_NOW_UNKNOWN || v == TAP_NOW_UNKNOWN ? TAP_NOW_UNKNOWN : *sum + v;
}

static void add_row(struct tap_task_row *head, const struct tap_task_row *row)
{
	head->nr++;
	head->run_ns += row->run_ns;
	add(&head->waits, row->waits);
	add(&head->wait_ns, row->wait_ns);
	add(&head->migrations, row->migrations);
	if (row->max_ns == TAP_NOW_UNKNOWN || head->max_ns == TAP_NOW_UNKNOWN)
		head->max_ns = TAP_NOW_UNKNOWN;
	else if (row->max_ns > head->max_ns)
		head->max_ns = row->max_ns;
}

/* What the tasks of a group have in common. */
static uint64_t group_id(enum tap_top_tree tree, const struct tap_now_task *t)
{
	const char *cgroup = t->cgroup ?: "";

	if (tree == TAP_TREE_PROCESS)
		return (uint64_t)t->t->tgid << 2 | 2;
	return tap_map_key(cgroup, strlen(cgroup)) << 2 | 3;
}

struct grouped {
	uint64_t group;
	const struct tap_now_task *task;
};

static int by_group(const void *a, const void *b)
{
	const struct grouped *x = a, *y = b;

	if (x->group != y->group)
		return x->group < y->group ? -1 : 1;
	return x->task->t->tid < y->task->t->tid ? -1 : 1;
}

/* A process has its main thread's name, if that is among its tasks. */
static struct tap_task_row head_of(enum tap_top_tree tree, const struct grouped *g, unsigned int nr)
{
	struct tap_task_row head = { .row = { .id = g->group }, .p99_ns = TAP_NOW_UNKNOWN };

	head.name = tree == TAP_TREE_CGROUP ? g->task->cgroup ?: "?" : g->task->t->comm;
	for (unsigned int i = 0; i < nr; i++)
		if (tree == TAP_TREE_PROCESS && g[i].task->t->tid == g[i].task->t->tgid)
			head.name = g[i].task->t->comm;
	if (tree == TAP_TREE_PROCESS)
		snprintf(head.number, sizeof(head.number), "%u", g->task->t->tgid);
	return head;
}

static unsigned int add_groups(enum tap_top_tree tree, const struct grouped *g, unsigned int nr,
			       struct tap_task_row *rows)
{
	unsigned int nr_rows = 0, group = 0;

	for (unsigned int i = 0, end; i < nr; i = end) {
		struct tap_task_row *head = &rows[nr_rows++];

		for (end = i; end < nr && g[end].group == g[i].group; end++)
			;
		if (tree == TAP_TREE_PROCESS && end == i + 1) {
			*head = row_of(g[i].task, 0);
			head->row.group = ++group;
			continue;
		}
		*head = head_of(tree, &g[i], end - i);
		head->row.group = ++group;
		for (unsigned int j = i; j < end; j++) {
			rows[nr_rows] = row_of(g[j].task, 1);
			rows[nr_rows].row.group = group;
			add_row(head, &rows[nr_rows++]);
		}
	}
	return nr_rows;
}

int tap_task_rows(const struct tap_top_ui *ui, const struct tap_now *now,
		  struct tap_task_row **rows)
{
	struct grouped *g = calloc(now->nr_tasks + 1, sizeof(*g));
	unsigned int nr = 0, nr_rows = 0;

	*rows = calloc(2 * (size_t)now->nr_tasks + 1, sizeof(**rows));
	if (!g || !*rows) {
		free(g);
		return -ENOMEM;
	}
	for (unsigned int i = 0; i < now->nr_tasks; i++) {
		const struct tap_now_task *t = &now->tasks[i];

		if (!ui->filter || tap_top_filter_task(ui->filter, t, tap_now_length(now)))
			g[nr++] = (struct grouped){ group_id(ui->tree, t), t };
	}
	if (ui->tree) {
		qsort(g, nr, sizeof(*g), by_group);
		nr_rows = add_groups(ui->tree, g, nr, *rows);
	}
	for (unsigned int i = 0; !ui->tree && i < nr; i++)
		(*rows)[nr_rows++] = row_of(g[i].task, 0);
	free(g);
	return (int)nr_rows;
}

/* ---- columns ---- */

#define PUT(what)                                                                                  \
	static void put_##what(struct tap_text_cell *c, const struct tap_top_ui *ui,               \
			       const void *of, double ns)
#define ROW                                                                                        \
	const struct tap_task_row *r = of;                                                         \
	(void)ui;                                                                                  \
	(void)ns
#define KEY(what, value)                                                                           \
	static double key_##what(const void *of)                                                   \
	{                                                                                          \
		const struct tap_task_row *r = of;                                                 \
                                                                                                   \
		return value;                                                                      \
	}

static double number(uint64_t v)
{
	return v == TAP_NOW_UNKNOWN ? NAN : (double)v;
}

PUT(tid)
{
	ROW;
	if (r->task)
		tap_cell_printf(c, "%u", r->tid);
	else
		tap_cell_printf(c, "%s", r->number);
}

PUT(comm)
{
	ROW;
	if (r->task)
		tap_cell_printf(c, "%s%.16s", r->row.level ? "  " : "", r->name);
	else
		tap_cell_printf(c, "%s (%u)", r->name, r->nr);
}

PUT(cpu)
{
	ROW;
	if (r->task && r->task->cpu != TAP_TALLY_UNKNOWN)
		tap_cell_printf(c, "%u", r->task->cpu);
	else if (r->task)
		tap_cell_printf(c, "-");
}

PUT(prio)
{
	ROW;
	if (!r->task)
		return;
	if (r->task->prio == TAP_NOW_NO_PRIO)
		tap_cell_printf(c, "-");
	else if (r->task->prio < 0)
		tap_cell_printf(c, "dl");
	else if (r->task->prio < 100)
		tap_cell_printf(c, "rt%d", 99 - r->task->prio);
	else
		tap_cell_printf(c, "%d", r->task->prio - 120);
}

PUT(run)
{
	ROW;
	tap_cell_percent(c, (double)r->run_ns / ns);
}

PUT(util)
{
	ROW;
	if (r->task && r->task->util != TAP_TALLY_UNKNOWN)
		tap_cell_printf(c, "%u", r->task->util);
	else if (r->task)
		tap_cell_printf(c, "-");
}

PUT(waits)
{
	ROW;
	tap_cell_rate(c, r->waits, ns);
}

PUT(wait)
{
	ROW;
	if (r->wait_ns == TAP_NOW_UNKNOWN)
		tap_cell_printf(c, "-");
	else
		tap_cell_percent(c, (double)r->wait_ns / ns);
}

PUT(p99)
{
	ROW;
	if (r->task)
		tap_cell_wait(c, ui, r->p99_ns);
}

PUT(max)
{
	ROW;
	tap_cell_wait(c, ui, r->max_ns);
}

PUT(migrations)
{
	ROW;
	tap_cell_rate(c, r->migrations, ns);
}

PUT(culprit)
{
	ROW;
	if (r->task && r->waits)
		tap_cell_printf(c, "%s", r->task->culprit ?: "-");
}

PUT(cgroup)
{
	ROW;
	if (r->task)
		tap_cell_printf(c, "%s", r->task->cgroup ?: "-");
}

KEY(tid, -(double)r->tid)
KEY(cpu, r->task && r->task->cpu != TAP_TALLY_UNKNOWN ? -(double)r->task->cpu : NAN)
KEY(prio, r->task && r->task->prio != TAP_NOW_NO_PRIO ? -(double)r->task->prio : NAN)
KEY(run, (double)r->run_ns)
KEY(util, r->task && r->task->util != TAP_TALLY_UNKNOWN ? (double)r->task->util : NAN)
KEY(waits, number(r->waits))
KEY(wait, number(r->wait_ns))
KEY(p99, number(r->p99_ns))
KEY(max, number(r->max_ns))
KEY(migrations, number(r->migrations))

static const char *name_of(const void *of)
{
	return ((const struct tap_task_row *)of)->name;
}

static const char *cgroup_of(const void *of)
{
	const struct tap_task_row *r = of;

	return r->task ? r->task->cgroup : r->name;
}

static const char *culprit_of(const void *of)
{
	const struct tap_task_row *r = of;

	return r->task ? r->task->culprit : NULL;
}

const struct tap_top_column tap_task_columns[TAP_TASK_COLUMNS] = {
	{ "waiting%", 8, 60, false, put_wait, key_wait, NULL },
	{ "tid", 7, 0, false, put_tid, key_tid, NULL },
	{ "comm", 16, 0, true, put_comm, NULL, name_of },
	{ "cpu", 4, 50, false, put_cpu, key_cpu, NULL },
	{ "nice", 5, 100, false, put_prio, key_prio, NULL },
	{ "cpu%", 6, 0, false, put_run, key_run, NULL },
	{ "util", 5, 100, false, put_util, key_util, NULL },
	{ "waits/s", 7, 90, false, put_waits, key_waits, NULL },
	{ "p99 wait", 9, 80, false, put_p99, key_p99, NULL },
	{ "max wait", 9, 0, false, put_max, key_max, NULL },
	{ "moves/s", 7, 110, false, put_migrations, key_migrations, NULL },
	{ "cgroup", 24, 140, true, put_cgroup, NULL, cgroup_of },
	{ "culprit", 0, 80, true, put_culprit, NULL, culprit_of },
};

int tap_draw_tasks(struct tap_frame *f, struct tap_top_ui *ui, const struct tap_top_shown *shown)
{
	static const char *const trees[] = { "", "by process", "by cgroup" };
	const struct tap_now *now = shown->now;
	struct tap_top_table t;
	unsigned int at;
	int ret = tap_top_table_of(&t, ui, shown);

	if (ret)
		return ret;
	tap_draw_head(f, ui, shown, "tasks");
	at = tap_frame_printf(f, 1, 0, TAP_STYLE_PLAIN, "%u of ", now->nr_tasks);
	if (now->all_tasks == TAP_NOW_UNKNOWN)
		at = tap_frame_put(f, 1, at, TAP_STYLE_PLAIN, "all tasks ran or waited");
	else
		at = tap_frame_printf(f, 1, at, TAP_STYLE_PLAIN, "%llu tasks ran or waited",
				      (unsigned long long)now->all_tasks);
	if (*ui->filter_text)
		at = tap_frame_printf(f, 1, at, TAP_STYLE_PLAIN, "; %u match %s", t.nr_rows,
				      ui->filter_text);
	tap_frame_printf(f, 1, at, TAP_STYLE_PLAIN, "  %s", trees[ui->tree]);
	tap_top_table_draw(f, 2, f->rows - 1, ui, &t);
	tap_draw_keys(f, ui,
		      "Enter explain  < > sort  I reverse  / filter  t tree  z freeze  ? help");
	free(t.rows);
	return 0;
}
