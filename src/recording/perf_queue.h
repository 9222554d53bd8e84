/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Puts the records of a perf.data into time order. Each CPU's ring was copied into the file in
 * its own, nearly sorted order: so there is one run per CPU, and the runs are merged. Equal times
 * come by CPU, then as they were pushed.
 *
 * Push, order, pop up to some time, and again.
 */
#ifndef TAP_RECORDING_PERF_QUEUE_H
#define TAP_RECORDING_PERF_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TAP_PERF_MAX_ITEMS ((size_t)64 << 20) /* 1.5 GB */

struct tap_perf_loss {
	uint64_t first_ns, count;
};

struct tap_perf_item {
	uint64_t ts;
	union {
		const unsigned char *data; /* of an event: borrowed */
		struct tap_perf_loss *loss; /* owned: by the queue, then by whoever popped it */
	};
	uint32_t size; /* of data; 0: a loss */
	uint16_t id;   /* of the event's format */
};

struct tap_perf_run {
	struct tap_perf_item *items; /* [head, nr) are queued */
	size_t head, nr, cap;
	bool unsorted;
};

struct tap_perf_top {
	uint64_t ts;
	uint32_t run;
};

struct tap_perf_queue {
	struct tap_perf_run *runs; /* of CPU - 1, 0, 1, ... */
	uint32_t nr_runs;
	struct tap_perf_top *heap; /* of the runs that are not empty; room for all */
	uint32_t nr_heap;
	uint32_t at; /* by_cpu: of .heap, whose turn it is */
	bool by_cpu; /* the runs are not to be merged */
	size_t nr_items;
	struct tap_perf_item *scratch;
	size_t cap_scratch;
};

/* @cpu: -1: not known. Return: 0; -E2BIG above the bound; -ENOMEM. */
int tap_perf_queue_push(struct tap_perf_queue *q, int cpu, struct tap_perf_item item);
/*
 * Room for items of @cpu, behind one that is there already, up to @full. Return: the first; those
 * that were filled in tap_perf_queue_append() adds. Or @full: there is none.
 */
struct tap_perf_item *tap_perf_queue_room(struct tap_perf_queue *q, int cpu,
					  struct tap_perf_item **full);
/* @unsorted: one of them is before the one in front of it. */
void tap_perf_queue_append(struct tap_perf_queue *q, int cpu, size_t nr, bool unsorted);

/*
 * If what was pushed last for @cpu is a loss that ends after @ts, it ends there. Whoever reads
 * expects a loss before the first event behind it; there were kernels that stamped the LOST record
 * after that event, though it stands before it in the ring.
 */
void tap_perf_queue_end_loss(struct tap_perf_queue *q, int cpu, uint64_t ts);
/* Return: 0; -ENOMEM. */
int tap_perf_queue_order(struct tap_perf_queue *q);
/*
 * The first of all items, if it is of @upto or before, and those of the same CPU that are next, up to
 * @max. With q->by_cpu they are those of one CPU after the other. Return: @nr of them, borrowed until
 * something is pushed; NULL.
 */
const struct tap_perf_item *tap_perf_queue_pop(struct tap_perf_queue *q, uint64_t upto,
					       unsigned int max, int *cpu, unsigned int *nr);
void tap_perf_queue_release(struct tap_perf_queue *q);

#endif
