// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "show/drawn/task_levels.h"

#include <errno.h>
#include <stdlib.h>

int tap_task_levels_init(struct tap_task_levels *l, struct tap_window window, const int *tids,
			 unsigned int nr_tids, unsigned int buckets, bool one_level)
{
	int ret = 0;

	*l = (struct tap_task_levels){ 0 };
	tap_pyramid_init(&l->pyramid, window, nr_tids, buckets, one_level);
	for (unsigned int i = 0; !ret && i < nr_tids; i++)
		ret = tap_map_set(&l->rows, (uint64_t)tids[i], i);
	for (unsigned int i = 0; !ret && i < TAP_NR_TASK_LEVELS; i++) {
		l->part[i] = calloc(l->pyramid.first[1] + 1, sizeof(**l->part));
		ret = l->part[i] ? 0 : -ENOMEM;
	}
	return ret;
}

void tap_task_levels_release(struct tap_task_levels *l)
{
	tap_map_release(&l->rows);
	for (unsigned int i = 0; i < TAP_NR_TASK_LEVELS; i++) {
		free(l->part[i]);
		tap_buf_release(&l->columns[i]);
	}
}

/*
 * Add an interval to the buckets it overlaps. @sign: 1, or -1 to take it back. As a task's
 * intervals do not overlap, the total cost is one step per bucket and per interval.
 */
static void add_interval(struct tap_task_levels *l, unsigned int what, unsigned int row,
			 uint64_t from_ns, uint64_t to_ns, float sign)
{
	const struct tap_pyramid *p = &l->pyramid;
	float *parts = &l->part[what][tap_pyramid_cell(p, 0, row, 0)];

	from_ns = tap_window_clip(&p->window, from_ns);
	while (from_ns < to_ns) {
		const uint32_t bucket = tap_pyramid_bucket(p, from_ns);
		const uint64_t end_ns = tap_pyramid_end(p, bucket),
			       until_ns = to_ns < end_ns ? to_ns : end_ns;

		parts[bucket] += sign * (float)((double)(until_ns - from_ns) / (double)p->ns);
		from_ns = until_ns;
	}
}

static int on_interval(void *ctx, const struct tap_timeline *t, const struct tap_interval *s)
{
	struct tap_task_levels *l = ctx;
	static const uint8_t kinds[TAP_NR_STATES] = {
		/* plus one; 0: not drawn */
		[TAP_STATE_UNKNOWN] = TAP_TASK_UNKNOWN + 1,
		[TAP_STATE_RUNNING] = TAP_TASK_RUN + 1,
		[TAP_STATE_PREEMPTED] = TAP_TASK_WAIT + 1,
		[TAP_STATE_WAKING] = TAP_TASK_WAIT + 1,
		[TAP_STATE_THROTTLED] = TAP_TASK_WAIT + 1,
		[TAP_STATE_BLOCKED] = TAP_TASK_BLOCKED + 1,
	};
	const uint64_t *row = tap_map_get(&l->rows, (uint64_t)s->task->tid);

	(void)t;
	if (!row)
		return 0;
	if (kinds[s->state])
		add_interval(l, kinds[s->state] - 1u, (unsigned int)*row, s->from_ns, s->to_ns, 1);
	if (s->back_ns) {
		add_interval(l, TAP_TASK_UNKNOWN, (unsigned int)*row, s->from_ns - s->back_ns,
			     s->from_ns, 1);
		if (s->back == TAP_STATE_BLOCKED)
			add_interval(l, TAP_TASK_BLOCKED, (unsigned int)*row,
				     s->from_ns - s->back_ns, s->from_ns, -1);
	}
	return 0;
}

const struct tap_watcher_ops tap_task_levels_ops = { .states = TAP_STATE_ALL,
						     .interval = on_interval };

/* Compute the next coarser level in place: each group of TAP_PYRAMID_STEP buckets becomes one. */
static void raise_level(float *parts, uint32_t nr)
{
	for (uint32_t i = 0; i < nr; i += TAP_PYRAMID_STEP) {
		float sum = 0;

		for (uint32_t k = i; k < nr && k < i + TAP_PYRAMID_STEP; k++)
			sum += parts[k];
		parts[i / TAP_PYRAMID_STEP] = sum / TAP_PYRAMID_STEP;
	}
}

static void put_level(struct tap_task_levels *l, unsigned int level, unsigned int row)
{
	const struct tap_pyramid *p = &l->pyramid;

	for (unsigned int what = 0; what < TAP_NR_TASK_LEVELS; what++) {
		float *parts = &l->part[what][tap_pyramid_cell(p, 0, row, 0)];

		if (level)
			raise_level(parts, p->buckets[level - 1]);
		for (uint32_t i = 0; i < p->buckets[level]; i++)
			tap_buf_char(&l->columns[what],
				     (char)tap_pyramid_share((double)parts[i], 1));
	}
}

int tap_task_levels_end(struct tap_task_levels *l, const struct tap_timeline *t, const int *tids,
			struct tap_runners *runners, struct tap_buf *numbers,
			struct tap_drawn_columns *columns)
{
	static const char *const names[TAP_NR_TASK_LEVELS] = {
		"task_levels.run",
		"task_levels.wait",
		"task_levels.blocked",
		"task_levels.unknown",
	};
	int ret = 0;

	for (unsigned int level = 0; level < l->pyramid.nr_levels; level++)
		for (unsigned int row = 0; row < l->pyramid.nr_rows; row++) {
			const struct tap_task *task = tap_timeline_task(t, tids[row]);

			if (!task)
				continue;
			if (!level)
				tap_buf_printf(numbers, "%s%u", numbers->len ? "," : "",
					       tap_runner_number(runners, task->index));
			put_level(l, level, row);
		}
	for (unsigned int what = 0; !ret && what < TAP_NR_TASK_LEVELS; what++)
		ret = tap_drawn_columns_add(columns, names[what], TAP_NUMBER_U8, &l->columns[what]);
	return ret ?: runners->err ?: numbers->err;
}
