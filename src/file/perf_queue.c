// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "file/perf_queue.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

static int grow_runs(struct tap_perf_queue *q, uint32_t i)
{
	uint32_t nr_busy = q->nr_runs, nr_losers = q->nr_runs;

	/* the runs last: their number is also taken as the capacity of the other arrays */
	return tap_array_reach(&q->busy, &nr_busy, i, sizeof(*q->busy), NULL) ?:
	       tap_array_reach(&q->merge.losers, &nr_losers, i, sizeof(*q->merge.losers), NULL) ?:
	       tap_array_reach(&q->runs, &q->nr_runs, i, sizeof(*q->runs), NULL);
}

/*
 * Make room at the end of a full run: move its items to the front once half of them were taken, so
 * that each item moves once on average; otherwise grow the array.
 */
static int make_room(struct tap_perf_run *run)
{
	if (run->head && run->head >= run->cap / 2) {
		run->nr -= run->head;
		memmove(run->items, run->items + run->head, run->nr * sizeof(*run->items));
		run->head = 0;
		return 0;
	}
	return tap_array_grow(&run->items, (unsigned int)run->nr, &run->cap, sizeof(*run->items));
}

/* Find or add the run of @cpu. Return: 0 with room for one item in it; -E2BIG; -ENOMEM. */
static int get_room(struct tap_perf_queue *q, int cpu, struct tap_perf_run **run)
{
	uint32_t i = (uint32_t)(cpu + 1);
	int ret;

	if (q->nr_items == TAP_PERF_MAX_ITEMS)
		return -E2BIG;
	ret = i < q->nr_runs ? 0 : grow_runs(q, i);
	if (ret)
		return ret;
	*run = &q->runs[i];
	return (*run)->nr < (*run)->cap ? 0 : make_room(*run);
}

static void add_items(struct tap_perf_queue *q, struct tap_perf_run *run, size_t nr)
{
	if (!run->is_busy)
		q->busy[q->nr_busy++] = (uint32_t)(run - q->runs);
	run->is_busy = true;
	run->nr += nr;
	q->nr_items += nr;
}

int tap_perf_queue_push(struct tap_perf_queue *q, int cpu, struct tap_perf_item item)
{
	struct tap_perf_run *run;
	int ret = get_room(q, cpu, &run);

	if (ret)
		return ret;
	run->unsorted |= run->nr > run->head && item.ts < run->items[run->nr - 1].ts;
	run->items[run->nr] = item;
	add_items(q, run, 1);
	return 0;
}

struct tap_perf_item *tap_perf_queue_room(struct tap_perf_queue *q, int cpu,
					  struct tap_perf_item **full)
{
	size_t nr = TAP_PERF_MAX_ITEMS - q->nr_items;
	struct tap_perf_run *run;

	if (get_room(q, cpu, &run))
		return NULL;
	if (nr > run->cap - run->nr)
		nr = run->cap - run->nr;
	*full = run->items + run->nr + nr;
	return run->items + run->nr;
}

uint64_t tap_perf_queue_last(const struct tap_perf_queue *q, int cpu)
{
	const struct tap_perf_run *run = &q->runs[cpu + 1];

	return run->nr > run->head ? run->items[run->nr - 1].ts : 0;
}

void tap_perf_queue_append(struct tap_perf_queue *q, int cpu, size_t nr)
{
	if (nr)
		add_items(q, &q->runs[cpu + 1], nr);
}

void tap_perf_queue_end_loss(struct tap_perf_queue *q, int cpu, uint64_t ts)
{
	struct tap_perf_run *run = (uint32_t)(cpu + 1) < q->nr_runs ? &q->runs[cpu + 1] : NULL;
	struct tap_perf_item *last;

	if (!run || run->nr == run->head)
		return;
	last = &run->items[run->nr - 1];
	if (last->size || last->ts <= ts)
		return;
	last->ts = ts;
	if (last->loss->first_ns > ts)
		last->loss->first_ns = ts;
	run->unsorted |= run->nr - run->head > 1 && last[-1].ts > ts;
}

/* Merge the sorted ranges [0, left) and [left, nr). */
static void merge_halves(struct tap_perf_item *a, size_t left, size_t nr,
			 struct tap_perf_item *scratch)
{
	size_t i = 0, j = left, k = 0;

	memcpy(scratch, a, left * sizeof(*a));
	while (i < left && j < nr)
		a[k++] = a[j].ts < scratch[i].ts ? a[j++] : scratch[i++];
	memcpy(a + k, scratch + i, (left - i) * sizeof(*a));
}

/*
 * Sort a run by bottom-up merge sort. Runs are nearly sorted: only neighbours are swapped, where an
 * interrupt's record precedes the record of what it interrupted. Two ranges that are in order cost
 * a single comparison.
 */
static int sort_run(struct tap_perf_queue *q, struct tap_perf_run *run)
{
	struct tap_perf_item *a = run->items + run->head;
	size_t nr = run->nr - run->head;

	if (q->cap_scratch < nr) {
		free(q->scratch);
		q->cap_scratch = 0;
		q->scratch = calloc(nr, sizeof(*q->scratch));
		if (!q->scratch)
			return -ENOMEM;
		q->cap_scratch = nr;
	}
	for (size_t left = 1; left < nr; left *= 2) {
		for (size_t i = 0; i + left < nr; i += 2 * left) {
			size_t both = nr - i < 2 * left ? nr - i : 2 * left;

			if (a[i + left].ts < a[i + left - 1].ts)
				merge_halves(a + i, left, both, q->scratch);
		}
	}
	run->unsorted = false;
	return 0;
}

/* Return the end of the items in the sorted @run that are not after @upto. */
static size_t find_ripe(const struct tap_perf_run *run, uint64_t upto)
{
	size_t low = run->head, high = run->nr;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (run->items[mid].ts <= upto)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* Remove the run at index @i of q->busy, which has no items left. */
static void drop_run(struct tap_perf_queue *q, uint32_t i)
{
	struct tap_perf_run *run = &q->runs[q->busy[i]];

	run->head = run->ripe = run->nr = 0;
	run->is_busy = false;
	q->busy[i] = q->busy[--q->nr_busy];
}

static struct tap_merge_key first_key(void *queue, unsigned int i)
{
	struct tap_perf_queue *q = queue;
	struct tap_perf_run *run = &q->runs[q->busy[i]];

	run->parent = (q->nr_busy + i) / 2;
	return tap_perf_queue_key(run);
}

void tap_perf_queue_next_cpu(struct tap_perf_queue *q)
{
	q->now = NULL;
	while (!q->now && q->next < q->nr_busy) {
		struct tap_perf_run *run = &q->runs[q->busy[q->next]];

		if (run->head < run->ripe)
			q->now = run;
		else if (run->head < run->nr)
			q->next++;
		else
			drop_run(q, q->next);
	}
}

int tap_perf_queue_order(struct tap_perf_queue *q, uint64_t upto)
{
	for (uint32_t i = 0; i < q->nr_busy;) {
		struct tap_perf_run *run = &q->runs[q->busy[i]];
		int ret = run->unsorted ? sort_run(q, run) : 0;

		if (ret)
			return ret;
		run->ripe = find_ripe(run, upto);
		if (run->head < run->nr)
			i++;
		else
			drop_run(q, i);
	}
	q->until = q->by_cpu ? UINT64_MAX : 0;
	q->next = 0;
	q->merge.nr = q->nr_busy;
	if (q->by_cpu)
		tap_perf_queue_next_cpu(q);
	else
		q->now = q->nr_busy ? tap_merge_play(&q->merge, 1, first_key, q).stream : NULL;
	return 0;
}

void tap_perf_queue_release(struct tap_perf_queue *q)
{
	for (uint32_t i = 0; i < q->nr_runs; i++) {
		struct tap_perf_run *run = &q->runs[i];

		for (size_t k = run->head; k < run->nr; k++)
			if (!run->items[k].size)
				free(run->items[k].loss);
		free(run->items);
	}
	free(q->runs);
	free(q->busy);
	free(q->merge.losers);
	free(q->scratch);
	*q = (struct tap_perf_queue){ .by_cpu = q->by_cpu };
}
