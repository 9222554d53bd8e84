// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The tally's buckets against powers of two that are calculated in long double, and quantiles of
 * them; how long a CPU was idle; and which tasks are listed, with which waits.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>

#include "record/tally/tasks.h"
#include "record/tally/waits.h"

/* Upper limit of a bucket in seconds; of the last one there is none. */
static long double limit_of(unsigned int bucket)
{
	return exp2l(bucket / 8.0L - 22);
}

static void check_bucket(uint64_t ns)
{
	unsigned int bucket = tap_tally_bucket(ns);
	long double s = ns / 1e9L;

	if (bucket && s <= limit_of(bucket - 1) * (1 - 1e-9L))
		fail_msg("%llu ns: bucket %u begins later", (unsigned long long)ns, bucket);
	if (bucket < TAP_TALLY_BUCKETS - 1 && s > limit_of(bucket) * (1 + 1e-9L))
		fail_msg("%llu ns: bucket %u ends earlier", (unsigned long long)ns, bucket);
}

static void buckets_have_their_limits(void **state)
{
	unsigned short seed[3] = { 1, 2, 3 };

	(void)state;
	for (uint64_t ns = 0; ns < 100000; ns++)
		check_bucket(ns);
	for (unsigned int i = 1; i < TAP_TALLY_BUCKETS - 1; i++)
		for (int d = -2; d <= 2; d++)
			check_bucket((uint64_t)((int64_t)(limit_of(i) * 1e9L) + d));
	for (unsigned int i = 0; i < 1000000; i++)
		check_bucket((uint64_t)(exp2(erand48(seed) * 64)));
	check_bucket(UINT64_MAX);
	assert_int_equal(tap_tally_bucket(0), 0);
	assert_int_equal(tap_tally_bucket(238), 0);
	assert_int_equal(tap_tally_bucket(239), 1);
	assert_int_equal(tap_tally_bucket(32000000000), TAP_TALLY_BUCKETS - 2);
	assert_int_equal(tap_tally_bucket(32000000100), TAP_TALLY_BUCKETS - 1);
}

/* Powers of two of a second that are whole nanoseconds: a bucket includes its upper limit. */
static void powers_of_two_end_their_bucket(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 6; i++)
		assert_int_equal(tap_tally_bucket(1000000000ull << i), (22 + i) * 8);
	for (unsigned int i = 1; i < 10; i++)
		assert_int_equal(tap_tally_bucket(1000000000ull >> i), (22 - i) * 8);
}

/* A task's bucket joins eight of a row's buckets, and ends where the last of them does. */
static void buckets_of_tasks_have_their_limits(void **state)
{
	(void)state;
	for (unsigned int n = 0; n < TAP_TALLY_TASK_BUCKETS - 1; n++) {
		unsigned int last = (n + 2) * TAP_TALLY_SUB_BUCKETS;

		assert_true(limit_of(last) == exp2l((long double)n - 20));
		assert_int_equal(tap_tally_task_bucket(last), n);
		assert_int_equal(tap_tally_task_bucket(last + 1), n + 1);
	}
	assert_int_equal(tap_tally_task_bucket(0), 0);
	assert_int_equal(tap_tally_task_bucket(TAP_TALLY_BUCKETS - 1), TAP_TALLY_TASK_BUCKETS - 1);
}

static int by_size(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* A quantile is at most the width of a bucket, 2^(1/8) = 1.0905, off. */
static void quantiles_are_in_their_bucket(void **state)
{
	enum { NR = 20000 };
	static const double parts[] = { 0.01, 0.1, 0.5, 0.9, 0.99, 0.999 };
	static struct tap_tally_row row;
	uint64_t *waits = calloc(NR, sizeof(*waits));
	unsigned short seed[3] = { 4, 5, 6 };
	struct tap_waits w = { 0 };

	(void)state;
	for (unsigned int i = 0; i < NR; i++) {
		waits[i] = (uint64_t)exp2(8 + 20 * erand48(seed) * erand48(seed));
		row.wait_ns[TAP_TALLY_PREEMPTED] += waits[i];
		row.buckets[TAP_TALLY_PREEMPTED][tap_tally_bucket(waits[i])]++;
	}
	tap_waits_add(&w, &row, TAP_TALLY_PREEMPTED);
	tap_waits_add(&w, &row, TAP_TALLY_WAKING);
	assert_int_equal(w.count, NR);
	assert_int_equal(w.sum_ns, row.wait_ns[TAP_TALLY_PREEMPTED]);
	qsort(waits, NR, sizeof(*waits), by_size);
	for (unsigned int i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		double is = (double)tap_waits_quantile(&w, parts[i]);
		double wanted = (double)waits[(unsigned int)(parts[i] * NR)];

		if (is > wanted * 1.0906 || is < wanted / 1.0906)
			fail_msg("quantile %g is %.0f ns, not %.0f", parts[i], is, wanted);
	}
	free(waits);
}

static void no_waits_have_no_quantile(void **state)
{
	struct tap_waits w = { 0 };

	(void)state;
	assert_int_equal(tap_waits_quantile(&w, 0.99), 0);
	w.count = w.buckets[0] = 3;
	assert_int_equal(tap_waits_quantile(&w, 0.99), 0);
}

/* ---- idle time of a CPU ---- */

/* A CPU that was idle in turns with slot 5: each slice 10 ns long, the last one goes on. */
static struct tap_tally_cpu cpu_with_slices(unsigned int nr)
{
	struct tap_tally_cpu c = { .first_ns = 1000, .since_ns = 1000 };

	c.slices[c.nr_slices++] = (struct tap_tally_slice){ 1000, TAP_TALLY_NO_SLOT };
	for (unsigned int i = 0; i < nr; i++) {
		c.since_ns += 10;
		c.slices[c.nr_slices++ % TAP_TALLY_SLICES] =
			(struct tap_tally_slice){ c.since_ns, i % 2 ? 5 : TAP_TALLY_IDLE };
	}
	c.slot = nr % 2 ? 5 : TAP_TALLY_IDLE;
	return c;
}

static void idle_time_is_within_the_wait(void **state)
{
	const struct tap_tally_cpu c = cpu_with_slices(4); /* idle from 1000, 1020, 1040 */

	(void)state;
	assert_int_equal(tap_tally_idle_ns(&c, 1000, 1100), 10 + 10 + 60);
	assert_int_equal(tap_tally_idle_ns(&c, 1005, 1100), 5 + 10 + 60);
	assert_int_equal(tap_tally_idle_ns(&c, 1015, 1038), 10);
	assert_int_equal(tap_tally_idle_ns(&c, 1022, 1026), 4);
	assert_int_equal(tap_tally_idle_ns(&c, 1031, 1039), 0);
	assert_int_equal(tap_tally_idle_ns(&c, 1050, 1060), 10);
	assert_int_equal(tap_tally_idle_ns(&c, 1100, 1100), 0);
	assert_int_equal(tap_tally_idle_ns(&c, 1100, 1090), 0);
}

static void unknown_time_is_not_idle(void **state)
{
	const struct tap_tally_cpu unseen = { 0 };
	const struct tap_tally_cpu few = cpu_with_slices(1), many = cpu_with_slices(100);

	(void)state;
	assert_int_equal(tap_tally_idle_ns(&unseen, 1000, 1100), 0);
	assert_int_equal(tap_tally_idle_ns(&few, 900, 1005), 5); /* before its first switch */
	/* the last 16 slices: of the first of them only the end is known */
	assert_int_equal(tap_tally_idle_ns(&many, 1000, 2000), 7 * 10);
	assert_int_equal(tap_tally_idle_ns(&many, 1000, 2050), 7 * 10 + 50);
}

/* Whatever a reader sees of a CPU that writes. */
static void idle_time_never_exceeds_the_wait(void **state)
{
	unsigned short seed[3] = { 7, 8, 9 };

	(void)state;
	for (unsigned int i = 0; i < 200000; i++) {
		struct tap_tally_cpu c = { .first_ns = 1 };
		uint64_t since = (uint64_t)nrand48(seed) % 1000;
		uint64_t now = since + (uint64_t)nrand48(seed) % 1000;

		c.since_ns = (uint64_t)nrand48(seed) % 2000;
		c.slot = (unsigned int)nrand48(seed) % 2;
		c.nr_slices = (unsigned int)nrand48(seed) % 40;
		for (unsigned int k = 0; k < TAP_TALLY_SLICES; k++)
			c.slices[k] = (struct tap_tally_slice){ (uint64_t)nrand48(seed) % 2000,
								(uint64_t)nrand48(seed) % 2 };
		assert_in_range(tap_tally_idle_ns(&c, since, now), 0, now - since);
	}
}

/* ---- tasks ---- */

#define NR_TAGS 8u

struct listing {
	struct tap_tally_tasks tasks;
	struct tap_tally_task_count counts[2 * NR_TAGS];
};

static void begin_listing(struct listing *l)
{
	*l = (struct listing){ .tasks.is_compared = true };
	l->tasks.counts = (struct tap_tally_counts){ l->counts, NR_TAGS };
}

static void end_listing(struct listing *l)
{
	l->tasks.counts.v = NULL; /* not mapped */
	tap_tally_tasks_release(&l->tasks);
}

static void add_row(struct tap_buf *rows, unsigned int tid, uint64_t start_ns, uint64_t run_ns)
{
	const struct tap_tally_task row = { .tid = tid, .start_ns = start_ns, .run_ns = run_ns };

	tap_buf_add(rows, &row, sizeof(row));
}

/* Task 1 runs, task 2 does not. */
static void read_two(struct listing *l, uint64_t run_ns, uint32_t epoch)
{
	struct tap_tally_tasks *t = &l->tasks;
	struct tap_buf rows = t->rows_before;

	t->rows_before = t->rows;
	t->rows = rows;
	tap_buf_clear(&t->rows);
	add_row(&t->rows, 1, 100, run_ns);
	add_row(&t->rows, 2, 200, 7);
	assert_int_equal(tap_tally_tasks_compare(t, 1000, epoch, NULL), 0);
}

static void count_wait(struct listing *l, unsigned int tid, unsigned int start, uint32_t epoch)
{
	struct tap_tally_task_count *c = &l->counts[(epoch & 1) * NR_TAGS + tid % NR_TAGS];

	*c = (struct tap_tally_task_count){ epoch, start, .waits.max_wait_ns = 5000 };
	c->waits.buckets[3] = 2;
}

static void tasks_have_the_waits_of_their_epoch(void **state)
{
	struct listing l;

	(void)state;
	begin_listing(&l);
	read_two(&l, 10, 4);
	count_wait(&l, 1, 100, 5);
	read_two(&l, 11, 5);
	assert_int_equal(l.tasks.list.nr, 1);
	assert_int_equal(l.tasks.waits[0].buckets[3], 2);
	assert_int_equal(l.tasks.waits[0].max_wait_ns, 5000);
	read_two(&l, 12, 6);
	assert_int_equal(l.tasks.list.nr, 1);
	assert_int_equal(l.tasks.waits[0].buckets[3], 0);
	read_two(&l, 13, 7); /* the element is that of epoch 5 */
	assert_int_equal(l.tasks.waits[0].buckets[3], 0);
	assert_int_equal(l.tasks.waits[0].max_wait_ns, 0);
	end_listing(&l);
}

static void waits_of_another_task_are_not_taken(void **state)
{
	struct listing l;

	(void)state;
	begin_listing(&l);
	read_two(&l, 10, 4);
	count_wait(&l, 1 + NR_TAGS, 101, 5);
	read_two(&l, 11, 5);
	assert_int_equal(l.tasks.list.nr, 1);
	assert_int_equal(l.tasks.waits[0].buckets[3], 0);
	end_listing(&l);
}

/* It ended a wait after the last reading, but before the tasks were listed. */
static void waits_between_a_reading_and_its_listing_are_not_lost(void **state)
{
	struct listing l;

	(void)state;
	begin_listing(&l);
	read_two(&l, 10, 4);
	read_two(&l, 11, 5);
	assert_int_equal(l.tasks.list.nr, 1);
	count_wait(&l, 1, 100, 6);
	count_wait(&l, 2, 200, 6); /* it was not listed, so nothing looks at it */
	read_two(&l, 11, 6);
	assert_int_equal(l.tasks.list.nr, 1);
	assert_int_equal(l.tasks.list.v[0].tid, 1);
	assert_int_equal(l.tasks.list.v[0].run_ns, 0);
	assert_int_equal(l.tasks.waits[0].buckets[3], 2);
	read_two(&l, 11, 7);
	assert_int_equal(l.tasks.list.nr, 0);
	end_listing(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(buckets_have_their_limits),
		cmocka_unit_test(powers_of_two_end_their_bucket),
		cmocka_unit_test(buckets_of_tasks_have_their_limits),
		cmocka_unit_test(quantiles_are_in_their_bucket),
		cmocka_unit_test(no_waits_have_no_quantile),
		cmocka_unit_test(idle_time_is_within_the_wait),
		cmocka_unit_test(unknown_time_is_not_idle),
		cmocka_unit_test(idle_time_never_exceeds_the_wait),
		cmocka_unit_test(tasks_have_the_waits_of_their_epoch),
		cmocka_unit_test(waits_of_another_task_are_not_taken),
		cmocka_unit_test(waits_between_a_reading_and_its_listing_are_not_lost),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
