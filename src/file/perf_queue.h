/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Puts the records of a perf.data into time order. Each CPU's ring was copied into the file in
 * its own, nearly sorted order: so there is one run per CPU, and the runs are merged. Equal times
 * come by CPU, then as they were pushed.
 *
 * Push, order up to some time, take what is in order, and again.
 */
#ifndef TAP_FILE_PERF_QUEUE_H
#define TAP_FILE_PERF_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "file/merge.h"

#define TAP_PERF_MAX_ITEMS ((size_t)64 << 20) /* 1.5 GB */

struct tap_perf_loss {
	uint64_t first_ns, count;
};

struct tap_perf_item {
	uint64_t ts;
	union {
		const unsigned char *data; /* of an event: borrowed */
		struct tap_perf_loss *loss; /* owned: by the queue, then by whoever took it */
	};
	uint32_t size; /* of data; 0: a loss */
	uint16_t id; /* of the event's format */
};

struct tap_perf_run {
	struct tap_perf_item *items; /* [head, nr) are queued */
	size_t head, nr;
	unsigned int cap;
	size_t ripe; /* [head, ripe) may be taken */
	unsigned int parent; /* in the tournament */
	bool unsorted, is_busy;
};

struct tap_perf_queue {
	struct tap_perf_run *runs; /* of CPU - 1, 0, 1, ... */
	uint32_t nr_runs;
	uint32_t *busy; /* the runs that may have items; room for all */
	uint32_t nr_busy;
	uint32_t next; /* by_cpu: of .busy, whose turn comes then */
	struct tap_merge merge; /* of the busy runs */
	struct tap_perf_run *now; /* whose turn it is; NULL: nothing is ripe */
	uint64_t until; /* up to which time its turn lasts, beside its first item */
	bool by_cpu; /* the runs are not to be merged */
	size_t nr_items;
	struct tap_perf_item *scratch;
	size_t cap_scratch;
};

/* @cpu: -1: not known. Return: 0; -E2BIG above the bound; -ENOMEM. */
int tap_perf_queue_push(struct tap_perf_queue *q, int cpu, struct tap_perf_item item);
/*
 * Room for items of @cpu, up to @full. Return: the first; those that were filled in
 * tap_perf_queue_append() adds, in time order and not before tap_perf_queue_last(). NULL: there is
 * none, and tap_perf_queue_push() says why.
 */
struct tap_perf_item *tap_perf_queue_room(struct tap_perf_queue *q, int cpu,
					  struct tap_perf_item **full);
void tap_perf_queue_append(struct tap_perf_queue *q, int cpu, size_t nr);
/* Return: the time of what was pushed last for @cpu, which has a run; 0: all of it was taken. */
uint64_t tap_perf_queue_last(const struct tap_perf_queue *q, int cpu);

/*
 * If what was pushed last for @cpu is a loss that ends after @ts, it ends there. Whoever reads
 * expects a loss before the first event behind it; there were kernels that stamped the LOST record
 * after that event, though it stands before it in the ring.
 */
void tap_perf_queue_end_loss(struct tap_perf_queue *q, int cpu, uint64_t ts);
/* Up to @upto, items may be taken then: no earlier one will be pushed. Return: 0; -ENOMEM. */
int tap_perf_queue_order(struct tap_perf_queue *q, uint64_t upto);
/* Goes on to the CPU after q->now, with q->by_cpu. */
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

/* The first @nr items of q->now were taken. They stay where they are until something is pushed. */
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

/* Return: of two runs that take turns the one that is not q->now; NULL: they are not two. */
static inline struct tap_perf_run *tap_perf_queue_other(const struct tap_perf_queue *q)
{
	return q->now && !q->by_cpu && q->merge.nr == 2 ? q->merge.losers[1].stream : NULL;
}

/* As tap_perf_queue_took(), of these two. */
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
