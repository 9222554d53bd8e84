// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "show/drawn/levels.h"

#include <errno.h>
#include <stdlib.h>

#include "show/drawn/shares.h"

/*
 * The page first draws the coarsest levels, up to the first with at least this many buckets. Few
 * windows are wider.
 */
#define FIRST_BUCKETS 2048u
#define THERE_ONE 4096u /* one task during a whole bucket, in units of .there */
#define NONE UINT32_MAX

struct tap_level_bucket {
	uint32_t bucket; /* the current bucket; NONE: nothing reported yet */
	uint64_t run_ns, unknown_ns;
	struct tap_shares shares;
};

static struct tap_level_bucket *open_of(struct tap_levels *l, unsigned int level, unsigned int row)
{
	return &l->open[row * l->pyramid.nr_levels + level];
}

int tap_levels_init(struct tap_levels *l)
{
	const struct tap_pyramid *p = &l->pyramid;
	const size_t nr = p->first[p->nr_levels] + 1, nr_open = (size_t)p->nr_rows * p->nr_levels,
		     nr_finest = p->first[1] + 1;

	l->runner = calloc(nr, sizeof(*l->runner));
	l->busy = calloc(nr, 1);
	l->unknown = calloc(nr, 1);
	l->wait_us = calloc(nr, sizeof(*l->wait_us));
	l->there = calloc(nr_finest, sizeof(*l->there));
	l->there_change = calloc(nr_finest, sizeof(*l->there_change));
	l->open = calloc(nr_open + 1, sizeof(*l->open));
	for (size_t i = 0; l->open && i < nr_open; i++)
		l->open[i].bucket = NONE;
	return l->runner && l->busy && l->unknown && l->wait_us && l->there && l->there_change &&
			       l->open
		       ? 0
		       : -ENOMEM;
}

void tap_levels_release(struct tap_levels *l)
{
	for (size_t i = 0; l->open && i < (size_t)l->pyramid.nr_rows * l->pyramid.nr_levels; i++)
		tap_shares_release(&l->open[i].shares);
	for (unsigned int level = 0; level < TAP_PYRAMID_LEVELS; level++)
		for (unsigned int i = 0; i < TAP_NR_LEVEL_COLUMNS; i++)
			tap_buf_release(&l->columns[level][i]);
	free(l->open);
	free(l->there_change);
	free(l->there);
	free(l->wait_us);
	free(l->unknown);
	free(l->busy);
	free(l->runner);
}

/* ---- CPUs ---- */

/* Store the bucket in its cell, and add it to the bucket of the next coarser level. */
static int close_bucket(struct tap_levels *l, unsigned int level, unsigned int row)
{
	struct tap_level_bucket *b = open_of(l, level, row),
				*above = level + 1 < l->pyramid.nr_levels ? b + 1 : NULL;
	const size_t cell = tap_pyramid_cell(&l->pyramid, level, row, b->bucket);
	const double ns = (double)tap_pyramid_ns(&l->pyramid, level);
	const struct tap_share *most = tap_shares_most(&b->shares);
	int ret = 0;

	l->runner[cell] = most ? most->who : TAP_RUNNER_IDLE;
	l->busy[cell] = tap_pyramid_share((double)b->run_ns, ns);
	l->unknown[cell] = tap_pyramid_share((double)b->unknown_ns, ns);
	if (!level)
		l->there[cell] += (uint32_t)((double)b->run_ns / ns * THERE_ONE);
	for (unsigned int i = 0; above && !ret && i < b->shares.nr; i++)
		ret = tap_shares_add(&above->shares, b->shares.v[i].who, b->shares.v[i].ns);
	if (above) {
		above->run_ns += b->run_ns;
		above->unknown_ns += b->unknown_ns;
	}
	b->run_ns = b->unknown_ns = b->shares.nr = 0;
	return ret;
}

/*
 * Make this the current bucket of the finest level, and its containing buckets current in coarser
 * levels.
 */
static int open_bucket(struct tap_levels *l, unsigned int row, uint32_t bucket)
{
	int ret = 0;

	for (unsigned int level = 0; !ret && level < l->pyramid.nr_levels;
	     level++, bucket /= TAP_PYRAMID_STEP) {
		struct tap_level_bucket *b = open_of(l, level, row);

		if (b->bucket == bucket)
			break;
		if (b->bucket != NONE)
			ret = close_bucket(l, level, row);
		b->bucket = bucket;
	}
	return ret;
}

static uint32_t runner_of(const struct tap_cpu_interval *s)
{
	uint32_t index;

	if (s->what != TAP_CPU_RUN)
		return s->what == TAP_CPU_OFFLINE ? TAP_RUNNER_OFFLINE : TAP_RUNNER_UNKNOWN;
	index = tap_drawn_index(s->task);
	return index == TAP_OTHERS ? TAP_OTHERS : TAP_RUNNER_TASKS + index;
}

/* ---- waits ---- */

static uint32_t part_of(const struct tap_pyramid *p, uint64_t ns)
{
	return (uint32_t)((double)ns / (double)p->ns * THERE_ONE);
}

/*
 * Waits overlap, and in overload there are many long ones: for the whole buckets of a wait, only
 * record a step up at the first and a step down after the last.
 */
static void add_waiting(struct tap_levels *l, unsigned int row, uint64_t from_ns, uint64_t to_ns)
{
	const struct tap_pyramid *p = &l->pyramid;
	const uint32_t first = tap_pyramid_bucket(p, from_ns), last = tap_pyramid_bucket(p, to_ns);
	const size_t at = tap_pyramid_cell(p, 0, row, 0);

	if (first == last) {
		l->there[at + first] += part_of(p, to_ns - from_ns);
		return;
	}
	l->there[at + first] += part_of(p, tap_pyramid_end(p, first) - from_ns);
	l->there[at + last] += part_of(p, to_ns - tap_pyramid_begin(p, last));
	l->there_change[at + first + 1]++;
	l->there_change[at + last]--;
}

static void note_wait(struct tap_levels *l, unsigned int row, const struct tap_interval *s)
{
	const uint64_t us = (s->to_ns - s->from_ns + 999) / 1000;
	uint32_t *most = &l->wait_us[tap_pyramid_cell(&l->pyramid, 0, row,
						      tap_pyramid_bucket(&l->pyramid, s->to_ns))];

	if (us > *most)
		*most = us < UINT32_MAX ? (uint32_t)us : UINT32_MAX;
}

/* ---- the watcher ---- */

static int on_interval(void *ctx, const struct tap_timeline *t, const struct tap_interval *s)
{
	struct tap_levels *l = ctx;
	const uint32_t row = tap_lane(l->lanes, s->cpu), next = tap_lane(l->lanes, s->next_cpu);
	const uint64_t from_ns = tap_window_clip(&l->pyramid.window, s->from_ns);

	(void)t;
	if (row != TAP_NO_LANE && from_ns < s->to_ns)
		add_waiting(l, row, from_ns, s->to_ns);
	if (s->whole && s->next == TAP_STATE_RUNNING && next != TAP_NO_LANE)
		note_wait(l, next, s);
	return 0;
}

static int on_cpu(void *ctx, const struct tap_timeline *t, const struct tap_cpu_interval *s)
{
	struct tap_levels *l = ctx;
	const struct tap_pyramid *p = &l->pyramid;
	const uint32_t row = tap_lane(l->lanes, s->cpu),
		       runner = s->what == TAP_CPU_IDLE ? TAP_RUNNER_IDLE : runner_of(s);
	uint64_t from_ns = s->from_ns;
	int ret = 0;

	(void)t;
	if (row == TAP_NO_LANE || s->what == TAP_CPU_IDLE)
		return 0;
	while (!ret && from_ns < s->to_ns) {
		const uint32_t bucket = tap_pyramid_bucket(p, from_ns);
		const uint64_t end_ns = tap_pyramid_end(p, bucket),
			       to_ns = s->to_ns < end_ns ? s->to_ns : end_ns;
		struct tap_level_bucket *b = open_of(l, 0, row);

		ret = open_bucket(l, row, bucket)
			      ?: tap_shares_add(&b->shares, runner, to_ns - from_ns);
		*(s->what == TAP_CPU_RUN ? &b->run_ns : &b->unknown_ns) += to_ns - from_ns;
		from_ns = to_ns;
	}
	return ret;
}

const struct tap_watcher_ops tap_levels_ops = {
	.states = TAP_STATE_BIT(TAP_STATE_WAKING) | TAP_STATE_BIT(TAP_STATE_PREEMPTED),
	.interval = on_interval,
	.cpu = on_cpu,
};

/* ---- columns ---- */

enum { RUNNER, BUSY, UNKNOWN, WAIT, DEPTH };

static void close_row(struct tap_levels *l, unsigned int row, uint8_t *depth, int *ret)
{
	const struct tap_pyramid *p = &l->pyramid;
	const size_t at = tap_pyramid_cell(p, 0, row, 0);
	int64_t whole = 0;

	for (unsigned int level = 0;
	     !*ret && level < p->nr_levels && open_of(l, level, row)->bucket != NONE; level++)
		*ret = close_bucket(l, level, row);
	for (uint32_t i = 0; i < p->buckets[0]; i++) {
		const uint64_t there = (uint64_t)((whole += l->there_change[at + i]) * THERE_ONE) +
				       l->there[at + i];
		const uint64_t up = (there + THERE_ONE - 1) / THERE_ONE;

		depth[at + i] = up < 255 ? (uint8_t)up : 255;
	}
}

/* Set a coarse bucket's maximum to the maximum of its finer buckets. */
static void raise_maxima(struct tap_levels *l, unsigned int row, uint8_t *depth)
{
	const struct tap_pyramid *p = &l->pyramid;

	for (unsigned int level = 0; level + 1 < p->nr_levels; level++)
		for (uint32_t i = 0; i < p->buckets[level]; i++) {
			const size_t from = tap_pyramid_cell(p, level, row, i),
				     to = tap_pyramid_cell(p, level + 1, row, i / TAP_PYRAMID_STEP);

			if (l->wait_us[from] > l->wait_us[to])
				l->wait_us[to] = l->wait_us[from];
			if (depth[from] > depth[to])
				depth[to] = depth[from];
		}
}

static uint64_t runner_code(struct tap_runners *runners, uint32_t runner)
{
	if (runner < TAP_RUNNER_TASKS)
		return runner;
	return (uint64_t)TAP_RUNNER_TASKS +
	       tap_runner_number(runners,
				 runner == TAP_OTHERS ? TAP_OTHERS : runner - TAP_RUNNER_TASKS);
}

static void put_level(struct tap_levels *l, unsigned int level, const uint8_t *depth,
		      struct tap_runners *runners)
{
	const size_t first = l->pyramid.first[level], end = l->pyramid.first[level + 1];
	struct tap_buf *columns = l->columns[level];

	for (size_t i = first; i < end; i++) {
		tap_varint_put(&columns[RUNNER], runner_code(runners, l->runner[i]));
		tap_varint_put(&columns[WAIT], l->wait_us[i]);
	}
	tap_buf_add(&columns[BUSY], l->busy + first, end - first);
	tap_buf_add(&columns[UNKNOWN], l->unknown + first, end - first);
	tap_buf_add(&columns[DEPTH], depth + first, end - first);
}

/* @number: the level's number in the output, counted from the finest level written. */
static int add_level(struct tap_levels *l, unsigned int level, unsigned int number,
		     struct tap_drawn_columns *columns)
{
/* clang-format off */
#define OF_LEVEL(n)                                                                                \
	{ [RUNNER] = "levels." #n ".runner", [BUSY] = "levels." #n ".busy",                        \
	  [UNKNOWN] = "levels." #n ".unknown", [WAIT] = "levels." #n ".wait",                      \
	  [DEPTH] = "levels." #n ".depth" }
	/* clang-format on */
	static const char *const names[TAP_PYRAMID_LEVELS][TAP_NR_LEVEL_COLUMNS] = {
		OF_LEVEL(0), OF_LEVEL(1), OF_LEVEL(2), OF_LEVEL(3),
		OF_LEVEL(4), OF_LEVEL(5), OF_LEVEL(6),
	};
#undef OF_LEVEL
	int ret = 0;

	for (unsigned int i = 0; !ret && i < TAP_NR_LEVEL_COLUMNS; i++)
		ret = tap_drawn_columns_add(columns, names[number][i],
					    i == RUNNER || i == WAIT ? TAP_NUMBER_VARINT
								     : TAP_NUMBER_U8,
					    &l->columns[level][i]);
	return ret;
}

/* Add the coarsest level first: it is drawn before finer levels have arrived. */
static int add_levels(struct tap_levels *l, unsigned int first, struct tap_drawn_columns *columns)
{
	const struct tap_pyramid *y = &l->pyramid;
	int ret = 0;

	for (unsigned int level = y->nr_levels; !ret && level-- > first;) {
		ret = add_level(l, level, level - first, columns);
		if (level + 1 == y->nr_levels || y->buckets[level + 1] < FIRST_BUCKETS)
			columns->nr_first = columns->nr;
	}
	return ret;
}

int tap_levels_end(struct tap_levels *l, unsigned int first, struct tap_runners *runners,
		   struct tap_drawn_columns *columns)
{
	uint8_t *depth = calloc(l->pyramid.first[l->pyramid.nr_levels] + 1, 1);
	int ret = depth ? 0 : -ENOMEM;

	for (unsigned int row = 0; !ret && row < l->pyramid.nr_rows; row++) {
		close_row(l, row, depth, &ret);
		raise_maxima(l, row, depth);
	}
	for (unsigned int level = first; !ret && level < l->pyramid.nr_levels; level++)
		put_level(l, level, depth, runners);
	free(depth);
	return ret ?: runners->err ?: add_levels(l, first, columns);
}
