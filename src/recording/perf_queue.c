// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "recording/perf_queue.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int grow_runs(struct tap_perf_queue *q, uint32_t nr)
{
	struct tap_perf_run *runs;
	struct tap_perf_top *heap;

	runs = reallocarray(q->runs, nr, sizeof(*runs));
	if (!runs)
		return -ENOMEM;
	q->runs = runs;
	heap = reallocarray(q->heap, nr, sizeof(*heap));
	if (!heap)
		return -ENOMEM;
	q->heap = heap;
	memset(runs + q->nr_runs, 0, (nr - q->nr_runs) * sizeof(*runs));
	q->nr_runs = nr;
	return 0;
}

/* A full run is moved to the front where half of it was popped: each item moves once on average. */
static int make_room(struct tap_perf_run *run)
{
	struct tap_perf_item *items;
	size_t cap;

	if (run->head && run->head >= run->cap / 2) {
		run->nr -= run->head;
		memmove(run->items, run->items + run->head, run->nr * sizeof(*run->items));
		run->head = 0;
		return 0;
	}
	cap = run->cap ? run->cap * 2 : 64;
	items = reallocarray(run->items, cap, sizeof(*items));
	if (!items)
		return -ENOMEM;
	run->items = items;
	run->cap = cap;
	return 0;
}

int tap_perf_queue_push(struct tap_perf_queue *q, int cpu, struct tap_perf_item item)
{
	uint32_t i = (uint32_t)(cpu + 1);
	struct tap_perf_run *run;
	int ret;

	if (q->nr_items == TAP_PERF_MAX_ITEMS)
		return -E2BIG;
	ret = i < q->nr_runs ? 0 : grow_runs(q, i + 1);
	if (ret)
		return ret;
	run = &q->runs[i];
	ret = run->nr < run->cap ? 0 : make_room(run);
	if (ret)
		return ret;
	if (run->nr == run->head)
		q->heap[q->nr_heap++].run = i;
	else if (item.ts < run->items[run->nr - 1].ts)
		run->unsorted = true;
	run->items[run->nr++] = item;
	q->nr_items++;
	return 0;
}

struct tap_perf_item *tap_perf_queue_room(struct tap_perf_queue *q, int cpu,
					  struct tap_perf_item **full)
{
	uint32_t i = (uint32_t)(cpu + 1);
	struct tap_perf_run *run = i < q->nr_runs ? &q->runs[i] : NULL;
	size_t nr = TAP_PERF_MAX_ITEMS - q->nr_items;

	*full = NULL;
	if (!run || run->nr == run->head)
		return NULL;
	if (nr > run->cap - run->nr)
		nr = run->cap - run->nr;
	*full = run->items + run->nr + nr;
	return run->items + run->nr;
}

void tap_perf_queue_append(struct tap_perf_queue *q, int cpu, size_t nr, bool unsorted)
{
	struct tap_perf_run *run = &q->runs[cpu + 1];

	run->nr += nr;
	run->unsorted |= unsorted;
	q->nr_items += nr;
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

/* Merges the sorted [0, left) and [left, nr). */
static void merge(struct tap_perf_item *a, size_t left, size_t nr, struct tap_perf_item *scratch)
{
	size_t i = 0, j = left, k = 0;

	memcpy(scratch, a, left * sizeof(*a));
	while (i < left && j < nr)
		a[k++] = a[j].ts < scratch[i].ts ? a[j++] : scratch[i++];
	memcpy(a + k, scratch + i, (left - i) * sizeof(*a));
}

/*
 * Where records of interrupts stand before what they interrupted, neighbours are swapped: stretches
 * that are in order cost one comparison.
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
				merge(a + i, left, both, q->scratch);
		}
	}
	run->unsorted = false;
	return 0;
}

static bool is_before(const struct tap_perf_top *a, const struct tap_perf_top *b)
{
	return a->ts < b->ts || (a->ts == b->ts && a->run < b->run);
}

static void sift_down(struct tap_perf_queue *q, uint32_t at)
{
	struct tap_perf_top top = q->heap[at];
	uint32_t child;

	for (; (child = 2 * at + 1) < q->nr_heap; at = child) {
		if (child + 1 < q->nr_heap && is_before(&q->heap[child + 1], &q->heap[child]))
			child++;
		if (!is_before(&q->heap[child], &top))
			break;
		q->heap[at] = q->heap[child];
	}
	q->heap[at] = top;
}

int tap_perf_queue_order(struct tap_perf_queue *q)
{
	for (uint32_t i = 0; i < q->nr_heap; i++) {
		struct tap_perf_run *run = &q->runs[q->heap[i].run];
		int ret = run->unsorted ? sort_run(q, run) : 0;

		if (ret)
			return ret;
		q->heap[i].ts = run->items[run->head].ts;
	}
	q->at = 0;
	for (uint32_t i = q->by_cpu ? 0 : q->nr_heap / 2; i-- > 0;)
		sift_down(q, i);
	return 0;
}

/* Return: up to which time the first of the heap stays the first. */
static uint64_t first_until(const struct tap_perf_queue *q)
{
	const struct tap_perf_top *top = q->heap, *next = NULL;

	for (uint32_t i = 1; i < 3 && i < q->nr_heap; i++)
		if (!next || is_before(&q->heap[i], next))
			next = &q->heap[i];
	return next ? next->ts - (next->run < top->run) : UINT64_MAX;
}

const struct tap_perf_item *tap_perf_queue_pop(struct tap_perf_queue *q, uint64_t upto,
					       unsigned int max, int *cpu, unsigned int *nr)
{
	const struct tap_perf_item *items;
	struct tap_perf_top *top;
	struct tap_perf_run *run;
	uint64_t until;
	size_t left;

	while (q->by_cpu && q->at < q->nr_heap && q->heap[q->at].ts > upto)
		q->at++;
	if (q->at >= q->nr_heap || q->heap[q->at].ts > upto)
		return NULL;
	top = &q->heap[q->at];
	run = &q->runs[top->run];
	*cpu = (int)top->run - 1;
	items = run->items + run->head;
	left = run->nr - run->head;
	until = q->by_cpu ? UINT64_MAX : first_until(q);
	until = until < upto ? until : upto;
	for (*nr = 1; *nr < max && *nr < left && items[*nr].ts <= until; ++*nr)
		;
	run->head += *nr;
	q->nr_items -= *nr;
	if (*nr == left) {
		run->head = run->nr = 0;
		*top = q->heap[--q->nr_heap];
	} else {
		top->ts = items[*nr].ts;
	}
	if (!q->by_cpu)
		sift_down(q, 0);
	return items;
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
	free(q->heap);
	free(q->scratch);
	*q = (struct tap_perf_queue){ .by_cpu = q->by_cpu };
}
