// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Rounds of items of some CPUs, each nearly in order, against the order that they must come in:
 * what a round ends with is ripe after the next, as in a perf.data.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "file/perf_queue.h"

#define TABLE(t) (sizeof(t) / sizeof((t)[0]))
#define MAX_ITEMS 20000u

static const unsigned char record[8];

struct item {
	uint64_t ts;
	int cpu;
	uint32_t nr; /* as it was pushed, from 1 on */
};

struct queue_case {
	const char *name;
	int nr_cpus; /* 0, 1, ... */
	unsigned int nr_rounds, in_round;
	unsigned int step_ns; /* 0: all times are equal */
	unsigned int swapped; /* one of how many is before the one in front of it; 0: none */
	unsigned int unknown; /* one of how many is of no known CPU; 0: none */
	bool in_rows; /* pushed as rows, where there is room */
	bool by_cpu;
};

static const struct queue_case cases[] = {
	{ .name = "one CPU", .nr_cpus = 1, .nr_rounds = 5, .in_round = 300, .step_ns = 10 },
	{ .name = "two CPUs", .nr_cpus = 2, .nr_rounds = 9, .in_round = 500, .step_ns = 10 },
	{ .name = "two CPUs, many equal times",
	  .nr_cpus = 2,
	  .nr_rounds = 5,
	  .in_round = 500,
	  .step_ns = 2 },
	{ .name = "two CPUs, in rows",
	  .nr_cpus = 2,
	  .nr_rounds = 9,
	  .in_round = 900,
	  .step_ns = 3,
	  .in_rows = true },
	{ .name = "two CPUs, and losses of no known one",
	  .nr_cpus = 2,
	  .nr_rounds = 9,
	  .in_round = 500,
	  .step_ns = 3,
	  .unknown = 50 },
	{ .name = "neighbours are swapped",
	  .nr_cpus = 2,
	  .nr_rounds = 9,
	  .in_round = 500,
	  .step_ns = 10,
	  .swapped = 7 },
	{ .name = "three CPUs", .nr_cpus = 3, .nr_rounds = 9, .in_round = 500, .step_ns = 5 },
	{ .name = "37 CPUs, swapped",
	  .nr_cpus = 37,
	  .nr_rounds = 20,
	  .in_round = 900,
	  .step_ns = 5,
	  .swapped = 20,
	  .in_rows = true },
	{ .name = "all times are equal", .nr_cpus = 5, .nr_rounds = 3, .in_round = 300 },
	{ .name = "CPUs that pause",
	  .nr_cpus = 64,
	  .nr_rounds = 200,
	  .in_round = 20,
	  .step_ns = 10 },
	{ .name = "one CPU after the other",
	  .nr_cpus = 7,
	  .nr_rounds = 9,
	  .in_round = 500,
	  .step_ns = 5,
	  .swapped = 9,
	  .by_cpu = true },
};

static struct item pushed[MAX_ITEMS], taken[MAX_ITEMS];
static unsigned int nr_pushed, nr_taken, seed;

static unsigned int draw(unsigned int below)
{
	seed = seed * 1103515245 + 12345;
	return below ? (seed >> 16) % below : 0;
}

static void push(struct tap_perf_queue *q, const struct queue_case *c, struct item item)
{
	struct tap_perf_item it = { .ts = item.ts, .data = record, .size = item.nr }, *room = NULL,
			     *full;

	pushed[nr_pushed++] = item;
	if (c->in_rows && draw(2))
		room = tap_perf_queue_room(q, item.cpu, &full);
	if (room && room < full && item.ts >= tap_perf_queue_last(q, item.cpu)) {
		*room = it;
		tap_perf_queue_append(q, item.cpu, 1);
		return;
	}
	assert_int_equal(tap_perf_queue_push(q, item.cpu, it), 0);
}

/* Return: the latest time in it. */
static uint64_t push_round(struct tap_perf_queue *q, const struct queue_case *c, uint64_t now,
			   uint64_t past)
{
	for (unsigned int i = 0; i < c->in_round; i++) {
		int cpu =
			c->unknown && !draw(c->unknown) ? -1 : (int)draw((unsigned int)c->nr_cpus);
		struct item item = { now, cpu, nr_pushed + 1 };

		if (c->swapped && !draw(c->swapped) && now - past > 20)
			item.ts -= draw(20);
		push(q, c, item);
		now += draw(c->step_ns + 1);
	}
	return now;
}

static void take(struct tap_perf_queue *q, const struct tap_perf_run *run, size_t i)
{
	const struct tap_perf_item *it = &run->items[run->head + i];

	taken[nr_taken++] = (struct item){ it->ts, tap_perf_queue_cpu(q, run), it->size };
}

/* Some of both, the earlier one each time. */
static void take_both(struct tap_perf_queue *q, struct tap_perf_run *a, struct tap_perf_run *b)
{
	size_t i = 0, k = 0;

	while (a->head + i < a->ripe && b->head + k < b->ripe && draw(20)) {
		if (b->items[b->head + k].ts < a->items[a->head + i].ts)
			take(q, b, k++);
		else
			take(q, a, i++);
	}
	tap_perf_queue_took_pair(q, a, i, b, k);
}

static void take_all(struct tap_perf_queue *q)
{
	while (q->now) {
		struct tap_perf_run *other = tap_perf_queue_other(q), *run = q->now;
		size_t nr = 0;

		if (other && draw(2)) {
			take_both(q, run < other ? run : other, run < other ? other : run);
			continue;
		}
		do
			take(q, run, nr++);
		while (run->head + nr < run->ripe && run->items[run->head + nr].ts <= q->until &&
		       draw(8));
		tap_perf_queue_took(q, nr);
	}
}

static int in_time(const void *a, const void *b)
{
	const struct item *x = a, *y = b;

	if (x->ts != y->ts)
		return x->ts < y->ts ? -1 : 1;
	if (x->cpu != y->cpu)
		return x->cpu < y->cpu ? -1 : 1;
	return x->nr < y->nr ? -1 : x->nr > y->nr;
}

static int in_cpu(const void *a, const void *b)
{
	const struct item *x = a, *y = b;

	return x->cpu != y->cpu ? x->cpu - y->cpu : in_time(a, b);
}

/* By CPU it is each CPU's own order that counts. */
static void check(const struct queue_case *c)
{
	int (*order)(const void *, const void *) = c->by_cpu ? in_cpu : in_time;
	unsigned int turns = 0;

	if (nr_taken != nr_pushed)
		fail_msg("%s: %u of %u items were taken", c->name, nr_taken, nr_pushed);
	for (unsigned int i = 1; i < nr_taken; i++)
		turns += taken[i].cpu != taken[i - 1].cpu;
	if (c->by_cpu && turns > (c->nr_rounds + 1) * (unsigned int)c->nr_cpus)
		fail_msg("%s: CPUs take turns", c->name);
	if (c->by_cpu) {
		/* equal only if the order of each CPU was kept */
		for (unsigned int i = 0; i < nr_taken; i++)
			taken[i].ts = taken[i].ts << 16 | i;
		qsort(taken, nr_taken, sizeof(*taken), in_cpu);
		for (unsigned int i = 0; i < nr_taken; i++)
			taken[i].ts >>= 16;
	}
	qsort(pushed, nr_pushed, sizeof(*pushed), order);
	for (unsigned int i = 0; i < nr_taken; i++)
		if (memcmp(&taken[i], &pushed[i], sizeof(*taken)))
			fail_msg("%s: item %u is not what comes next", c->name, i);
}

static void test_cases(void **state)
{
	(void)state;
	for (size_t i = 0; i < TABLE(cases); i++) {
		const struct queue_case *c = &cases[i];
		struct tap_perf_queue q = { .by_cpu = c->by_cpu };
		uint64_t now = 1000, ripe = 0, before = 0;

		seed = (unsigned int)i;
		nr_pushed = nr_taken = 0;
		for (unsigned int round = 0; round < c->nr_rounds; round++) {
			now = push_round(&q, c, now, ripe);
			assert_int_equal(tap_perf_queue_order(&q, ripe), 0);
			take_all(&q);
			ripe = before;
			before = now - 20 * (now > 20);
		}
		assert_int_equal(tap_perf_queue_order(&q, UINT64_MAX), 0);
		take_all(&q);
		assert_int_equal(q.nr_items, 0);
		check(c);
		tap_perf_queue_release(&q);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
