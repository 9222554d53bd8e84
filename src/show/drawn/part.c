// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "show/drawn/part.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "show/drawn/curves.h"
#include "show/drawn/levels.h"
#include "show/drawn/slices.h"
#include "show/drawn/task_levels.h"

#define CURVE_TASKS 64u /* maximum number of tasks with curves */
#define FINE_BUCKETS 1024u /* levels with fewer buckets per row are always written */
#define SLICES_PER_BUCKET 4u

struct part {
	struct tap_run *run;
	const struct tap_drawn_opts *opts;
	struct tap_runners runners;
	/* filled in the first pass */
	struct tap_drawn_slices slices;
	struct tap_levels levels;
	/* filled in the first pass if the tasks are known, otherwise in a second one */
	bool has_task_levels, has_curves;
	int *tids; /* owned */
	unsigned int nr_tids;
	struct tap_task_levels task_levels;
	struct tap_curves curves;
};

/* ---- tasks: levels and curves ---- */

static int init_tasks(struct part *p, bool has_task_levels)
{
	const struct tap_drawn_opts *o = p->opts;
	int ret = 0;

	p->has_task_levels = has_task_levels && p->nr_tids;
	p->has_curves = o->has_curves && tap_curves_are_in(p->run);
	if (p->has_task_levels)
		ret = tap_task_levels_init(&p->task_levels, p->run->window, p->tids, p->nr_tids,
					   o->buckets, o->one_level);
	if (ret || !p->has_curves)
		return ret;
	p->curves = (struct tap_curves){
		.run = p->run,
		.lanes = o->lanes,
		.tids = p->tids,
		.nr_tids = p->nr_tids < CURVE_TASKS ? p->nr_tids : CURVE_TASKS,
	};
	return tap_curves_init(&p->curves);
}

/* Add the watchers to @v, which has @nr already. Return: the new number. */
static unsigned int add_task_watchers(struct part *p, struct tap_watcher *v, unsigned int nr)
{
	if (p->has_task_levels)
		v[nr++] =
			(struct tap_watcher){ .ops = &tap_task_levels_ops, .ctx = &p->task_levels };
	if (p->has_curves) {
		v[nr++] = (struct tap_watcher){ .ops = &tap_pelt_ops, .ctx = p->curves.signals };
		v[nr++] =
			(struct tap_watcher){ .ops = &tap_curves_frequency_ops, .ctx = &p->curves };
	}
	return nr;
}

/* ---- the first pass ---- */

static int report_nomem(struct tap_err *err)
{
	return tap_err_nomem(err);
}

static int init_part(struct part *p)
{
	const struct tap_drawn_opts *o = p->opts;

	p->slices = (struct tap_drawn_slices){
		.run = p->run, .lanes = o->lanes, .max = o->max_slices, .runners = &p->runners
	};
	p->levels = (struct tap_levels){ .lanes = o->lanes };
	tap_pyramid_init(&p->levels.pyramid, p->run->window, o->lanes->nr, o->buckets,
			 o->one_level);
	return tap_drawn_slices_init(&p->slices) ?: tap_levels_init(&p->levels);
}

static int set_tids(struct part *p, const int *tids, unsigned int nr)
{
	p->tids = calloc((size_t)nr + 1, sizeof(*p->tids));
	if (!p->tids)
		return -ENOMEM;
	for (unsigned int i = 0; i < nr; i++)
		p->tids[p->nr_tids++] = tids[i];
	return 0;
}

static int first_pass(struct part *p, struct tap_err *err)
{
	struct tap_watcher watchers[TAP_MAX_WATCHERS] = {
		{ .ops = &tap_drawn_slices_ops, .ctx = &p->slices },
		{ .ops = &tap_levels_ops, .ctx = &p->levels, .pick = TAP_PICK_TASKS },
	};
	const bool knows_tasks = p->opts->nr_tids || !p->opts->max_tasks;

	if (init_part(p) || set_tids(p, p->opts->tids, p->opts->nr_tids) ||
	    (knows_tasks && init_tasks(p, true)))
		return report_nomem(err);
	return tap_run_watch(p->run, watchers, add_task_watchers(p, watchers, 2), err);
}

/* ---- the second pass, with the tasks that ran and waited most ---- */

struct ranked {
	uint64_t ns;
	int tid;
};

static int by_ns(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? 1 : -1;
	return (x->tid > y->tid) - (x->tid < y->tid);
}

static uint64_t weight_of(const struct tap_task *task)
{
	return task->total_ns[TAP_STATE_RUNNING] + task->total_ns[TAP_STATE_PREEMPTED] +
	       task->total_ns[TAP_STATE_WAKING] + task->total_ns[TAP_STATE_THROTTLED];
}

/* Return true for the latest task with its tid, as rows are by tid, if it ran or waited. */
static bool is_candidate(struct tap_run *run, const struct tap_task *task)
{
	return weight_of(task) && tap_run_has_task(run, task) &&
	       tap_timeline_task(run->timeline, task->tid) == task;
}

static int rank_tasks(struct part *p)
{
	unsigned int nr, nr_ranked = 0;
	struct tap_task *const *tasks = tap_timeline_tasks(p->run->timeline, &nr);
	struct ranked *ranked = calloc((size_t)nr + 1, sizeof(*ranked));
	int *tids = calloc((size_t)nr + 1, sizeof(*tids)), ret = -ENOMEM;

	for (unsigned int i = 0; ranked && tids && i < nr; i++)
		if (is_candidate(p->run, tasks[i]))
			ranked[nr_ranked++] = (struct ranked){ weight_of(tasks[i]), tasks[i]->tid };
	if (ranked && tids) {
		qsort(ranked, nr_ranked, sizeof(*ranked), by_ns);
		for (unsigned int i = 0; i < nr_ranked; i++)
			tids[i] = ranked[i].tid;
		free(p->tids);
		ret = set_tids(p, tids,
			       nr_ranked < p->opts->max_tasks ? nr_ranked : p->opts->max_tasks);
	}
	free(ranked);
	free(tids);
	return ret;
}

static int second_pass(struct part *p, struct tap_err *err)
{
	struct tap_watcher watchers[TAP_MAX_WATCHERS];
	struct tap_listener *listener = &p->run->rec.listener;
	const struct tap_listener whole = *listener;
	unsigned int nr;
	int ret;

	if (p->opts->nr_tids || !p->opts->max_tasks)
		return 0;
	if (rank_tasks(p) || init_tasks(p, p->slices.is_over))
		return report_nomem(err);
	nr = add_task_watchers(p, watchers, 0);
	if (!nr)
		return 0;
	listener->note = NULL; /* the first pass has already printed all notes */
	ret = tap_run_watch(p->run, watchers, nr, err);
	*listener = whole;
	return ret;
}

/* ---- output ---- */

/*
 * Return the first level to write. Finer levels are omitted if their buckets have so few slices
 * that the slices themselves are drawn.
 */
static unsigned int first_level(const struct part *p)
{
	const struct tap_pyramid *y = &p->levels.pyramid;
	unsigned int level = 0;

	while (!p->slices.is_over && level + 1 < y->nr_levels &&
	       y->buckets[level + 1] >= FINE_BUCKETS &&
	       (uint64_t)y->nr_rows * y->buckets[level] > p->slices.nr / SLICES_PER_BUCKET)
		level++;
	return level;
}

static void put_pyramid(struct tap_buf *json, const char *name, const struct tap_pyramid *y,
			unsigned int first)
{
	tap_buf_printf(json, ",\"%s\":{\"ns\":%" PRIu64 ",\"buckets\":%u,\"count\":%u", name,
		       tap_pyramid_ns(y, first), y->buckets[first], y->nr_levels - first);
}

static int put_levels(struct part *p, struct tap_buf *json, struct tap_drawn_columns *columns)
{
	const unsigned int first = first_level(p);

	if (!p->slices.is_over && !p->opts->has_levels)
		return 0;
	put_pyramid(json, "levels", &p->levels.pyramid, first);
	tap_buf_char(json, '}');
	return tap_levels_end(&p->levels, first, &p->runners, columns);
}

static int put_task_levels(struct part *p, struct tap_buf *json, struct tap_drawn_columns *columns)
{
	struct tap_buf numbers = { 0 };
	int ret;

	if (!p->slices.is_over || !p->has_task_levels)
		return 0;
	ret = tap_task_levels_end(&p->task_levels, p->run->timeline, p->tids, &p->runners, &numbers,
				  columns);
	put_pyramid(json, "task_levels", &p->task_levels.pyramid, 0);
	tap_buf_printf(json, ",\"tasks\":[%s]}", tap_buf_str(&numbers));
	tap_buf_release(&numbers);
	return ret;
}

static int put_curves(struct part *p, struct tap_buf *json, struct tap_drawn_columns *columns)
{
	struct tap_buf curves = { 0 };
	int ret = p->has_curves ? tap_curves_end(&p->curves, &p->runners, &curves, columns) : 0;

	tap_buf_printf(json, ",\"curves\":[%s]", tap_buf_str(&curves));
	tap_buf_release(&curves);
	return ret;
}

/* Write first what the page needs to draw CPUs: the number of slices, and the levels. */
static int put_columns(struct part *p, struct tap_buf *json, struct tap_drawn_columns *columns)
{
	const uint64_t origin_ns = p->opts->origin_ns;
	struct tap_drawn_columns slices = { 0 };
	int ret = tap_drawn_slices_end(&p->slices, &slices);

	tap_buf_printf(json, "{\"from_ns\":%" PRIu64 ",\"to_ns\":%" PRIu64,
		       p->run->window.from_ns - origin_ns, p->run->window.to_ns - origin_ns);
	if (!p->slices.is_over)
		tap_buf_printf(json, ",\"slices\":%" PRIu64, p->slices.nr);
	ret = ret ?: tap_drawn_columns_add_some(columns, &slices, 0, 1) ?:
	      put_levels(p, json, columns) ?:
	      tap_drawn_columns_add_some(columns, &slices, 1, slices.nr) ?:
	      put_task_levels(p, json, columns) ?: put_curves(p, json, columns);
	tap_drawn_columns_release(&slices);
	/* must be last: now all numbers have been assigned */
	tap_runners_put(&p->runners, p->run->timeline, json);
	return ret;
}

static int put_part(struct part *p, struct tap_buf *out, size_t *first_bytes, struct tap_err *err)
{
	struct tap_drawn_columns columns = { 0 };
	struct tap_buf json = { 0 };
	int ret = put_columns(p, &json, &columns) ?: tap_drawn_columns_put(&columns, &json, out);

	*first_bytes = columns.first_bytes;
	tap_drawn_columns_release(&columns);
	tap_buf_release(&json);
	errno = -ret;
	return ret ? tap_err_set(err, ret, "cannot draw a part of the recording '%.300s': %m",
				 p->run->rec.path)
		   : 0;
}

static void release_part(struct part *p)
{
	tap_curves_release(&p->curves);
	tap_task_levels_release(&p->task_levels);
	tap_levels_release(&p->levels);
	tap_drawn_slices_release(&p->slices);
	tap_runners_release(&p->runners);
	free(p->tids);
}

int tap_drawn_part(struct tap_run *run, const struct tap_drawn_opts *opts, struct tap_buf *out,
		   struct tap_drawn *drawn, struct tap_err *err)
{
	struct part p = { .run = run, .opts = opts };
	size_t first_bytes = 0;
	int ret = first_pass(&p, err) ?: second_pass(&p, err) ?:
		  put_part(&p, out, &first_bytes, err);

	if (drawn)
		*drawn = (struct tap_drawn){ .slices = p.slices.nr,
					     .has_slices = !p.slices.is_over,
					     .first_bytes = first_bytes };
	release_part(&p);
	return ret;
}
