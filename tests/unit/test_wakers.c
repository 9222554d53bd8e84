// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "analysis/wakers.h"

#define TABLE(t) (sizeof(t) / sizeof((t)[0]))
#define MAX_STEPS 6
#define MAX_PAIRS 4

/* From its table a test prints the name of the case that fails. */
#define check(name, cond)                                                                          \
	do {                                                                                       \
		if (!(cond))                                                                       \
			fail_msg("%s: %s", name, #cond);                                           \
	} while (0)

static const struct wakers_case {
	const char *name;
	/* the wakee waited for so long, woken on CPU 1; 0: the wait's end is not known */
	struct {
		int waker_tid, wakee;
		uint64_t wait_ns;
		int cpu;
	} steps[MAX_STEPS];
	struct {
		int waker_tid, wakee;
		uint64_t count, known, sum_ns, same_cpu, other_cpu;
	} pairs[MAX_PAIRS];
} cases[] = {
	{ "nothing", {}, {} },
	{ "a pair has its own count",
	  { { 10, 1, 5, 1 }, { 11, 1, 7, 1 }, { 10, 2, 9, 1 } },
	  { { 10, 1, 1, 1, 5, 1 }, { 11, 1, 1, 1, 7, 1 }, { 10, 2, 1, 1, 9, 1 } } },
	{ "two wakers in turns",
	  { { 10, 1, 5, 1 }, { 11, 1, 7, 1 }, { 10, 1, 6, 1 }, { 11, 1, 8, 1 } },
	  { { 10, 1, 2, 2, 11, 2 }, { 11, 1, 2, 2, 15, 2 } } },
	{ "most wakeups first",
	  { { 10, 1, 5, 1 }, { 10, 2, 6, 1 }, { 10, 2, 7, 1 } },
	  { { 10, 2, 2, 2, 13, 2 }, { 10, 1, 1, 1, 5, 1 } } },
	{ "where it ran",
	  { { 10, 1, 5, 1 }, { 10, 1, 6, 2 }, { 10, 1, 7, 0 } },
	  { { 10, 1, 3, 3, 18, 1, 2 } } },
	{ "a wait that is not known is a wakeup",
	  { { 10, 1, 0, 1 }, { 10, 1, 6, 1 } },
	  { { 10, 1, 2, 1, 6, 1 } } },
	{ "idle and unknown wakers are two",
	  { { 0, 1, 5, 1 }, { -1, 1, 7, 1 } },
	  { { -1, 1, 1, 1, 7, 1 }, { 0, 1, 1, 1, 5, 1 } } },
};

static struct tap_task tasks[] = { { .index = 0 }, { .index = 1 }, { .index = 100 } };

static void run_case(const struct wakers_case *c, struct tap_wakers *w,
		     const struct tap_timeline *t)
{
	for (unsigned int i = 0; i < MAX_STEPS && c->steps[i].wakee; i++) {
		struct tap_task *task = &tasks[c->steps[i].wakee];
		struct tap_interval s = { .task = task,
					  .state = TAP_STATE_WAKING,
					  .from_ns = 1000,
					  .to_ns = 1000 + c->steps[i].wait_ns,
					  .next_cpu = c->steps[i].cpu };

		s.whole = c->steps[i].wait_ns;
		s.next = s.whole ? TAP_STATE_RUNNING : TAP_STATE_WAKING;
		task->waker_tid = c->steps[i].waker_tid;
		task->waker_cpu = 1;
		assert_int_equal(tap_wakers_ops.interval(w, t, &s), 0);
	}
	tap_wakers_end(w);
}

static void test_pairs(void **state)
{
	struct tap_timeline *t;

	(void)state;
	assert_int_equal(
		tap_timeline_new(&(const struct tap_timeline_opts){ .window = TAP_WINDOW_ALL }, &t),
		0);
	for (size_t i = 0; i < TABLE(cases); i++) {
		const struct wakers_case *c = &cases[i];
		struct tap_wakers w = { 0 };
		unsigned int nr = 0;

		run_case(c, &w, t);
		for (; nr < MAX_PAIRS && c->pairs[nr].count; nr++) {
			const struct tap_waker_pair *pair = &w.pairs[nr];

			check(c->name, nr < w.nr_pairs);
			check(c->name, pair->waker_tid == c->pairs[nr].waker_tid);
			check(c->name, pair->wakee == &tasks[c->pairs[nr].wakee]);
			check(c->name, pair->count == c->pairs[nr].count);
			check(c->name, pair->waits.count == c->pairs[nr].known);
			check(c->name, pair->waits.sum == c->pairs[nr].sum_ns);
			check(c->name, pair->same_cpu == c->pairs[nr].same_cpu);
			check(c->name, pair->other_cpu == c->pairs[nr].other_cpu);
		}
		check(c->name, nr == w.nr_pairs);
		tap_wakers_release(&w);
	}
	tap_timeline_free(t);
}

/* More pairs than fit at first: none is lost, and none moves under another's feet. */
static void test_many(void **state)
{
	struct tap_wakers w = { 0 };
	struct tap_timeline *t;

	(void)state;
	assert_int_equal(
		tap_timeline_new(&(const struct tap_timeline_opts){ .window = TAP_WINDOW_ALL }, &t),
		0);
	for (unsigned int i = 0; i < 6000; i++) {
		struct tap_interval s = { .task = &tasks[i % 2],
					  .state = TAP_STATE_WAKING,
					  .whole = true,
					  .next = TAP_STATE_RUNNING,
					  .from_ns = 0,
					  .to_ns = 1 };

		tasks[i % 2].waker_tid = (int)(i / 2 % 1000) + 1;
		assert_int_equal(tap_wakers_ops.interval(&w, t, &s), 0);
	}
	tap_wakers_end(&w);
	assert_int_equal(w.nr_pairs, 2000);
	for (unsigned int i = 0; i < w.nr_pairs; i++) {
		assert_int_equal(w.pairs[i].count, 3);
		assert_int_equal(w.pairs[i].waits.count, 3);
	}
	tap_wakers_release(&w);
	tap_timeline_free(t);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pairs),
		cmocka_unit_test(test_many),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("wakers", tests, NULL, NULL);
}
