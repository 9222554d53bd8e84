/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Sort the records of a perf.data by time. perf copies each CPU's ring into the file in its own,
 * nearly sorted order, so there is one run per CPU, and the runs are merged. Records with equal
 * times are ordered by CPU, then as they were pushed.
 *
 * Usage: push items, order them up to some time, take them, repeat.
 */
#ifndef TAP_FILE_PERF_QUEUE_H
#define TAP_FILE_PERF_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "file/merge.h"

#define TAP_PERF_MAX_ITEMS ((size_t)64 << 20) /* 1.5 GB of memory */

struct tap_perf_loss {
	uint64_t first_ns, count;
};

struct tap_perf_item {
	uint64_t ts;
	union {
		const unsigned char *data; /* of an event; borrowed */
		/* owned by the queue, then by the caller that takes it */
		struct tap_perf_loss *loss;
	};
	uint32_t size; /* bytes of .data; 0: the item is a loss */
	uint16_t id; /* id of the event's format */
};

struct tap_perf_run {
	struct tap_perf_item *items; /* [head, nr) are queued */
	size_t head, nr;
	unsigned int cap;
	size_t ripe; /* [head, ripe) may be taken */
	unsigned int parent; /* its node in the tournament */
	bool unsorted, is_busy;
};

struct tap_perf_queue {
	struct tap_perf_run *runs; /* for CPU - 1, 0, 1, ... */
	uint32_t nr_runs;
	uint32_t *busy; /* indices of the runs that may have items; large enough for all runs */
	uint32_t nr_busy;
	uint32_t next; /* by_cpu: index in .busy of the next run */
	struct tap_merge merge; /* tournament of the busy runs */
	struct tap_perf_run *now; /* the run whose item comes next; NULL: nothing is ripe */
	uint64_t until; /* .now stays current for items up to this time */
	bool by_cpu; /* return one run after another, without merging */
	size_t nr_items;
	struct tap_perf_item *scratch;
	size_t cap_scratch;
};

/* Push an item. @cpu: -1: unknown. Return: 0; -E2BIG above TAP_PERF_MAX_ITEMS; -ENOMEM. */
int tap_perf_queue_push(struct tap_perf_queue *q, int cpu, struct tap_perf_item item);
/*
 * Return space for items of @cpu, up to @full. The caller fills in items in time order, none before
 * tap_perf_queue_last(), and adds them by tap_perf_queue_append(). NULL: no space;
 * tap_perf_queue_push() returns the reason.
 */
struct tap_perf_item *tap_perf_queue_room(struct tap_perf_queue *q, int cpu,
					  struct tap_perf_item **full);
void tap_perf_queue_append(struct tap_perf_queue *q, int cpu, size_t nr);
/*
 * Return the time of the last queued item of @cpu, which must have a run; 0: all items were taken.
 */
uint64_t tap_perf_queue_last(const struct tap_perf_queue *q, int cpu);

/*
 * If the last pushed item of @cpu is a loss that ends after @ts, let it end at @ts. A loss must end
 * before the first event that follows it, but some kernels stamped the LOST record later than that
 * event, although it precedes the event in the ring.
 */
void tap_perf_queue_end_loss(struct tap_perf_queue *q, int cpu, uint64_t ts);
/*
 * Allow items up to @upto to be taken. No earlier item may be pushed from then on. Return: 0;
 * -ENOMEM.
 */
int tap_perf_queue_order(struct tap_perf_queue *q, uint64_t upto);
/* With q->by_cpu, make the next run that has ripe items current. */
void tap_perf_queue_next_cpu(struct tap_perf_queue *q);

static inline int tap_perf_queue_cpu(const struct tap_perf_queue *q, const struct tap_perf_run *run)
{
	return (int)(run - q->runs) - 1;
}

static inline struct tap_merge_key tap_perf_queue_key(struct tap_perf_run *run)
{
	if (run->head == run->ripe)
		return (struct tap_merge_key){ UINT64_MAX, NULL };
	return (struct tap_merge_key){ run->items[run->head].ts, run };
}

/*
 * Remove the first @nr items of q->now, which the caller took. Their memory stays valid until the
 * next push.
 */
static inline void tap_perf_queue_took(struct tap_perf_queue *q, size_t nr)
{
	struct tap_perf_run *run = q->now;
	struct tap_merge_key key;

	run->head += nr;
	q->nr_items -= nr;
	if (q->by_cpu) {
		if (run->head == run->ripe)
			tap_perf_queue_next_cpu(q);
		return;
	}
	key = tap_merge_replay(&q->merge, run->parent, tap_perf_queue_key(run));
	q->until = key.stream == run ? tap_merge_until(&q->merge, run->parent, run) : 0;
	q->now = key.stream;
}

/* If exactly two runs are busy, return the one that is not q->now; otherwise NULL. */
static inline struct tap_perf_run *tap_perf_queue_other(const struct tap_perf_queue *q)
{
	return q->now && !q->by_cpu && q->merge.nr == 2 ? q->merge.losers[1].stream : NULL;
}

/* Remove the first @nr_a and @nr_b items of the only two busy runs, see tap_perf_queue_took(). */
static inline void tap_perf_queue_took_pair(struct tap_perf_queue *q, struct tap_perf_run *a,
					    size_t nr_a, struct tap_perf_run *b, size_t nr_b)
{
	b->head += nr_b;
	q->nr_items -= nr_b;
	q->merge.losers[1] = tap_perf_queue_key(b);
	q->now = a;
	tap_perf_queue_took(q, nr_a);
}

void tap_perf_queue_release(struct tap_perf_queue *q);

#endif
