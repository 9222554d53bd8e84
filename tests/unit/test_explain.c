// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "analysis/explain/explain.h"

#define TABLE(t) (sizeof(t) / sizeof((t)[0]))

/* ---- kinds ---- */

static const struct {
	int waiter;
	const char *runner;
	int prio;
	enum tap_piece_kind want;
	bool is_stopper; /* who waits */
} kinds[] = {
	{ 120, "a", 120, TAP_PIECE_QUEUED },
	{ 139, "a", 100, TAP_PIECE_QUEUED },
	{ 120, "a", 99, TAP_PIECE_REALTIME },
	{ 120, "a", -1, TAP_PIECE_DEADLINE },
	{ 120, "a", 0, TAP_PIECE_REALTIME },
	{ 120, "migration/3", 0, TAP_PIECE_STOP },
	{ 120, "migration/3", 120, TAP_PIECE_QUEUED }, /* somebody who is called so */
	{ 49, "a", 120, TAP_PIECE_LOWER },
	{ 49, "a", 49, TAP_PIECE_QUEUED },
	{ 49, "a", 48, TAP_PIECE_HIGHER },
	{ 49, "a", 50, TAP_PIECE_LOWER },
	{ -1, "a", 0, TAP_PIECE_LOWER },
	{ -1, "a", -1, TAP_PIECE_QUEUED },
	{ -1, "migration/3", 0, TAP_PIECE_STOP },
	{ 0, "a", -1, TAP_PIECE_DEADLINE },
	{ 0, "a", -1, TAP_PIECE_LOWER, .is_stopper = true },
	{ 0, "a", 0, TAP_PIECE_LOWER, .is_stopper = true },
	{ TAP_PRIO_UNKNOWN, "a", 0, TAP_PIECE_QUEUED },
	{ 120, "a", TAP_PRIO_UNKNOWN, TAP_PIECE_QUEUED },
};

static void test_kinds(void **state)
{
	(void)state;
	for (size_t i = 0; i < TABLE(kinds); i++) {
		struct tap_task waiter = { .tid = 4, .prio = kinds[i].waiter },
				runner = { .tid = 5 };
		enum tap_piece_kind kind;

		if (kinds[i].is_stopper)
			strcpy(waiter.comm, "migration/2");
		memcpy(runner.comm, kinds[i].runner, strlen(kinds[i].runner));
		kind = tap_piece_of_runner(&waiter, &runner, kinds[i].prio);
		if (kind != kinds[i].want)
			fail_msg("%d waits for %s of %d: %s", kinds[i].waiter, kinds[i].runner,
				 kinds[i].prio, tap_piece_name(kind));
	}
}

/* Few are added up in another way than some, and those than many. */
static void test_merge(void **state)
{
	static const struct {
		unsigned int nr, tasks;
	} cases[] = { { 1, 3 },	    { 7, 3 },	     { 16, 3 },	      { 17, 3 },   { 100, 3 },
		      { 600, 500 }, { 16384, 3000 }, { 16385, 3000 }, { 40000, 7 } };
	static struct tap_piece pieces[40000];
	static struct tap_task tasks[3000];
	static uint64_t sums[3000];

	(void)state;
	for (size_t i = 0; i < TABLE(cases); i++) {
		unsigned int nr = cases[i].nr, nr_tasks = cases[i].tasks, left;

		memset(sums, 0, sizeof(sums));
		for (unsigned int k = 0; k < nr; k++) {
			unsigned int task = (11 * k + 1) % nr_tasks;

			tasks[task].index = task;
			pieces[k] = (struct tap_piece){ TAP_PIECE_QUEUED, &tasks[task], 1000 + k,
							k + 1 };
			sums[task] += k + 1;
		}
		left = tap_pieces_merge(pieces, nr);
		assert_int_equal(left, nr < nr_tasks ? nr : nr_tasks);
		for (unsigned int k = 0; k < left; k++) {
			assert_int_equal(pieces[k].from_ns, 1000 + k);
			assert_int_equal(pieces[k].ns, sums[pieces[k].task->index]);
		}
	}
}

/* Kinds of one task, and those of none, are pieces of their own. */
static void test_merge_kinds(void **state)
{
	struct tap_task task = { .index = 0 };
	struct tap_piece pieces[40];

	(void)state;
	for (unsigned int k = 0; k < TABLE(pieces); k++)
		pieces[k] = (struct tap_piece){ k % 4 < 2    ? TAP_PIECE_QUEUED
						: k % 4 == 2 ? TAP_PIECE_LOWER
							     : TAP_PIECE_IRQ,
						k % 4 < 3 ? &task : NULL, k, 1 };
	assert_int_equal(tap_pieces_merge(pieces, TABLE(pieces)), 3);
	assert_int_equal(pieces[0].ns, 20);
	assert_int_equal(pieces[1].kind, TAP_PIECE_LOWER);
	assert_int_equal(pieces[1].ns, 10);
	assert_int_equal(pieces[2].kind, TAP_PIECE_IRQ);
	assert_int_equal(pieces[2].ns, 10);
}

/* ---- a CPU's log ---- */

static void expect(struct tap_cpu_parts *p, uint64_t to_ns, enum tap_cpu_what what,
		   enum tap_in_irq irq, enum tap_in_idle idle)
{
	struct tap_cpu_part part;

	assert_true(tap_cpu_parts_next(p, &part));
	assert_int_equal(part.to_ns, to_ns);
	assert_int_equal(part.what, what);
	assert_int_equal(part.irq, irq);
	assert_int_equal(part.idle, idle);
}

static void test_log(void **state)
{
	struct tap_task task = { .tid = 7, .prio = 120 };
	struct tap_cpu now = { .known = true, .task = &task, .since_ns = 400 };
	struct tap_cpu_logs l = { 0 };
	struct tap_cpu_parts p;
	struct tap_cpu_part part;

	(void)state;
	assert_int_equal(tap_cpu_log_idle(&l, 2, 110, true), 0);
	assert_int_equal(tap_cpu_log_idle(&l, 2, 180, false), 0);
	assert_int_equal(tap_cpu_log_interval(
				 &l, &(struct tap_cpu_interval){ 2, TAP_CPU_IDLE, NULL, 100, 200 }),
			 0);
	/* an interrupt within a softirq */
	assert_int_equal(tap_cpu_log_irq(&l, 2, 250, true, true), 0);
	assert_int_equal(tap_cpu_log_irq(&l, 2, 260, false, true), 0);
	assert_int_equal(tap_cpu_log_irq(&l, 2, 270, false, false), 0);
	assert_int_equal(tap_cpu_log_irq(&l, 2, 280, true, false), 0);
	/* its beginning was not seen */
	assert_int_equal(tap_cpu_log_irq(&l, 2, 285, true, false), 0);
	assert_int_equal(tap_cpu_log_interval(
				 &l, &(struct tap_cpu_interval){ 2, TAP_CPU_RUN, &task, 200, 300 }),
			 0);
	assert_int_equal(tap_cpu_log_interval(&l, &(struct tap_cpu_interval){ 2, TAP_CPU_UNKNOWN,
									      NULL, 300, 400 }),
			 0);
	tap_cpu_log_read(&l, 2, 50, 450, &now, &p);
	expect(&p, 100, TAP_CPU_UNKNOWN, TAP_IN_NO_IRQ, TAP_IDLE_NOT_TOLD);
	expect(&p, 110, TAP_CPU_IDLE, TAP_IN_NO_IRQ, TAP_IDLE_NOT_TOLD);
	expect(&p, 180, TAP_CPU_IDLE, TAP_IN_NO_IRQ, TAP_IDLE_IN);
	expect(&p, 200, TAP_CPU_IDLE, TAP_IN_NO_IRQ, TAP_IDLE_OUT);
	expect(&p, 250, TAP_CPU_RUN, TAP_IN_NO_IRQ, TAP_IDLE_OUT);
	expect(&p, 260, TAP_CPU_RUN, TAP_IN_SOFTIRQ, TAP_IDLE_OUT);
	expect(&p, 270, TAP_CPU_RUN, TAP_IN_IRQ, TAP_IDLE_OUT);
	expect(&p, 280, TAP_CPU_RUN, TAP_IN_SOFTIRQ, TAP_IDLE_OUT);
	expect(&p, 300, TAP_CPU_RUN, TAP_IN_NO_IRQ, TAP_IDLE_OUT);
	expect(&p, 400, TAP_CPU_UNKNOWN, TAP_IN_NO_IRQ, TAP_IDLE_OUT);
	expect(&p, 450, TAP_CPU_RUN, TAP_IN_NO_IRQ, TAP_IDLE_NOT_TOLD);
	assert_false(tap_cpu_parts_next(&p, &part));
	tap_cpu_log_read(&l, 2, 265, 275, &now, &p);
	expect(&p, 270, TAP_CPU_RUN, TAP_IN_IRQ, TAP_IDLE_OUT);
	expect(&p, 275, TAP_CPU_RUN, TAP_IN_SOFTIRQ, TAP_IDLE_OUT);
	assert_false(tap_cpu_parts_next(&p, &part));
	tap_cpu_logs_clear(&l);
	tap_cpu_log_read(&l, 2, 410, 450, NULL, &p); /* and what it does now is unknown */
	expect(&p, 450, TAP_CPU_UNKNOWN, TAP_IN_NO_IRQ, TAP_IDLE_NOT_TOLD);
	tap_cpu_log_read(&l, 7, 1, 2, NULL, &p);
	expect(&p, 2, TAP_CPU_UNKNOWN, TAP_IN_NO_IRQ, TAP_IDLE_NOT_TOLD);
	tap_cpu_logs_release(&l);
}

/* ---- long waits ---- */

struct run {
	struct tap_explain_waits waits;
	struct tap_explain sums;
};

static int on_wait(void *ctx, const struct tap_wait_told *w)
{
	struct run *run = ctx;

	return tap_explain_wait(&run->sums, &run->waits, w);
}

/* A task waits while @nr_runners tasks take turns, @nr intervals of 10 ns in all: more than a log
 * holds. */
static void wait_long(unsigned int nr_runners, unsigned int nr)
{
	struct tap_interval s = {
		.state = TAP_STATE_SLEEPING, .next = TAP_STATE_WAKING, .whole = true, .to_ns = 1000
	};
	struct tap_task *task, *runner;
	struct tap_timeline *timeline;
	struct run run;
	const struct tap_explained_wait *w;

	assert_int_equal(tap_timeline_new(&(struct tap_timeline_opts){ .window = TAP_WINDOW_ALL },
					  &timeline),
			 0);
	tap_explain_waits_init(&run.waits,
			       &(struct tap_explain_waits_opts){ .tell = on_wait, .ctx = &run });
	assert_int_equal(tap_explain_init(&run.sums, 1), 0);
	assert_int_equal(tap_timeline_see(timeline, 1, &task), 0);
	s.task = task;
	task->state = TAP_STATE_WAKING;
	task->cpu = 0;
	task->prio = 120;
	task->since_ns = 1000;
	assert_int_equal(tap_explain_waits_ops.interval(&run.waits, timeline, &s), 0);
	for (unsigned int i = 0; i < nr; i++) {
		assert_int_equal(tap_timeline_see(timeline, (int)(2 + i % nr_runners), &runner), 0);
		runner->prio = 120;
		assert_int_equal(tap_explain_waits_ops.cpu(&run.waits, timeline,
							   &(struct tap_cpu_interval){
								   0, TAP_CPU_RUN, runner,
								   1000 + 10 * i, 1010 + 10 * i }),
				 0);
	}
	s = (struct tap_interval){ .task = task,
				   .state = TAP_STATE_WAKING,
				   .next = TAP_STATE_RUNNING,
				   .whole = true,
				   .from_ns = 1000,
				   .to_ns = 1000 + 10 * nr };
	assert_int_equal(tap_explain_waits_ops.interval(&run.waits, timeline, &s), 0);
	assert_int_equal(run.sums.nr_worst, 1);
	w = &run.sums.worst[0];
	assert_true(w->whole);
	assert_int_equal(w->to_ns - w->from_ns, 10 * nr);
	assert_int_equal(w->nr_pieces, nr_runners);
	for (unsigned int i = 0; i < w->nr_pieces; i++) {
		assert_int_equal(w->pieces[i].kind, TAP_PIECE_QUEUED);
		assert_int_equal(w->pieces[i].ns,
				 10 * (nr / nr_runners + ((unsigned int)w->pieces[i].task->tid - 2 <
							  nr % nr_runners)));
	}
	assert_int_equal(run.sums.kinds[TAP_PIECE_QUEUED].ns, 10 * nr);
	assert_int_equal(run.sums.kinds[TAP_PIECE_QUEUED].waits, 1);
	tap_explain_waits_release(&run.waits);
	tap_explain_release(&run.sums);
	tap_timeline_free(timeline);
}

static void test_long_waits(void **state)
{
	(void)state;
	wait_long(1, 1);
	wait_long(2, 20);
	wait_long(2, 3 * TAP_CPU_LOG_ENTRIES);
	wait_long(700, 5000); /* more of them than pieces are kept before they are added up */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kinds),	    cmocka_unit_test(test_merge),
		cmocka_unit_test(test_merge_kinds), cmocka_unit_test(test_log),
		cmocka_unit_test(test_long_waits),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
