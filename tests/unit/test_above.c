// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "analysis/explain/above.h"

static const struct tap_task own = { .tid = 1, .comm = "own" }, a = { .tid = 2, .comm = "a" },
			     b = { .tid = 3, .comm = "b" },
			     recorder = { .tid = 4, .comm = "recorder" };

static enum tap_reason who(const void *ctx, const struct tap_task *task)
{
	assert_string_equal(ctx, "ctx");
	return task == &own	   ? TAP_REASON_OWN
	       : task == &recorder ? TAP_REASON_RECORDER
				   : TAP_REASON_OTHER;
}

static struct tap_above above(uint64_t limit_ns)
{
	return (struct tap_above){ .limit_ns = limit_ns, .who = who, .ctx = "ctx" };
}

/* Add a wait of these components, which follow each other. */
static void add(struct tap_above *to, struct tap_piece *pieces, unsigned int nr, uint64_t idle_ns)
{
	struct tap_wait_told w = {
		.from_ns = 1000, .to_ns = 1000, .pieces = pieces, .nr_pieces = nr
	};
	const struct tap_avoidable_idle idle = { .ns = idle_ns, .contended_ns = idle_ns / 2 };

	for (unsigned int i = 0; i < nr; i++)
		w.to_ns += pieces[i].ns;
	assert_int_equal(tap_above_wait(to, &w, &idle), 0);
}

#define ADD(to, idle_ns, ...)                                                                      \
	add(to, (struct tap_piece[]){ __VA_ARGS__ },                                               \
	    sizeof((struct tap_piece[]){ __VA_ARGS__ }) / sizeof(struct tap_piece), idle_ns)

static void test_reasons(void **state)
{
	static const struct {
		enum tap_piece_kind kind;
		const struct tap_task *task;
		enum tap_reason want;
	} rows[] = {
		{ TAP_PIECE_UNKNOWN, NULL, TAP_REASON_UNKNOWN },
		{ TAP_PIECE_NOT_EXPLAINED, &a, TAP_REASON_UNKNOWN },
		{ TAP_PIECE_THROTTLED, NULL, TAP_REASON_THROTTLED },
		{ TAP_PIECE_PLACING, NULL, TAP_REASON_WAKEUP },
		{ TAP_PIECE_HELD, NULL, TAP_REASON_HELD },
		{ TAP_PIECE_OFFLINE, NULL, TAP_REASON_OFFLINE },
		{ TAP_PIECE_IRQ, NULL, TAP_REASON_INTERRUPTS },
		{ TAP_PIECE_SOFTIRQ, NULL, TAP_REASON_INTERRUPTS },
		{ TAP_PIECE_IDLE_STATE, NULL, TAP_REASON_IDLE },
		{ TAP_PIECE_IDLE_EXIT, NULL, TAP_REASON_IDLE },
		{ TAP_PIECE_IDLE, NULL, TAP_REASON_IDLE },
		{ TAP_PIECE_QUEUED, &own, TAP_REASON_OWN },
		{ TAP_PIECE_REALTIME, &recorder, TAP_REASON_RECORDER },
		{ TAP_PIECE_REALTIME, &a, TAP_REASON_OTHER },
		{ TAP_PIECE_LOWER, &b, TAP_REASON_OTHER },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct tap_above sums = above(0);

		ADD(&sums, 0, { .kind = rows[i].kind, .task = rows[i].task, .ns = 7 });
		for (enum tap_reason k = 0; k < TAP_NR_REASONS; k++)
			assert_int_equal(sums.reasons[k], k == rows[i].want ? 7 : 0);
		tap_above_release(&sums);
	}
}

static void test_only_longer_waits_count(void **state)
{
	struct tap_above sums = above(100);

	(void)state;
	ADD(&sums, 50, { .kind = TAP_PIECE_QUEUED, .task = &own, .ns = 100 });
	assert_int_equal(sums.waits, 0);
	assert_int_equal(sums.idle_ns, 0);
	ADD(&sums, 50, { .kind = TAP_PIECE_QUEUED, .task = &own, .ns = 101 });
	assert_int_equal(sums.waits, 1);
	assert_int_equal(sums.ns, 101);
	assert_int_equal(sums.idle_ns, 50);
	assert_int_equal(sums.contended_idle_ns, 25);
	tap_above_release(&sums);
}

static void test_a_wait_is_explained_from_95_percent_on(void **state)
{
	struct tap_above sums = above(0);

	(void)state;
	ADD(&sums, 0, { .kind = TAP_PIECE_QUEUED, .task = &own, .ns = 95 },
	    { .kind = TAP_PIECE_UNKNOWN, .ns = 5 });
	assert_int_equal(sums.explained, 1);
	ADD(&sums, 0, { .kind = TAP_PIECE_QUEUED, .task = &own, .ns = 94 },
	    { .kind = TAP_PIECE_UNKNOWN, .ns = 6 });
	assert_int_equal(sums.explained, 1);
	assert_int_equal(sums.waits, 2);
	tap_above_release(&sums);
}

static void test_merged_sums_name_the_greatest_first(void **state)
{
	struct tap_above x = above(0), y = above(0), sum = { 0 };
	const struct tap_above_task *others;

	(void)state;
	ADD(&x, 4, { .kind = TAP_PIECE_QUEUED, .task = &a, .ns = 10 },
	    { .kind = TAP_PIECE_QUEUED, .task = &b, .ns = 3 });
	ADD(&y, 8, { .kind = TAP_PIECE_QUEUED, .task = &b, .ns = 9 });
	assert_int_equal(tap_above_merge(&sum, &x), 0);
	assert_int_equal(tap_above_merge(&sum, &y), 0);
	tap_above_end(&sum);
	others = sum.others.v;
	assert_int_equal(sum.waits, 2);
	assert_int_equal(sum.explained, 2);
	assert_int_equal(sum.ns, 22);
	assert_int_equal(sum.idle_ns, 12);
	assert_int_equal(sum.contended_idle_ns, 6);
	assert_int_equal(sum.reasons[TAP_REASON_OTHER], 22);
	assert_int_equal(sum.others.nr, 2);
	assert_string_equal(others[0].comm, "b");
	assert_int_equal(others[0].ns, 12);
	assert_int_equal(others[1].tid, 2);
	tap_above_release(&x);
	tap_above_release(&y);
	tap_above_release(&sum);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reasons),
		cmocka_unit_test(test_only_longer_waits_count),
		cmocka_unit_test(test_a_wait_is_explained_from_95_percent_on),
		cmocka_unit_test(test_merged_sums_name_the_greatest_first),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
