// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* From a CPU's counter to CLOCK_MONOTONIC: by hand, at random, and against this machine's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "record/user/clock.h"
#include "tracepoint/shared.h"
#include "skip_test.h"

#define LEN(table) (sizeof(table) / sizeof(*(table)))
#define TOP (1ull << TAP_STAMP_BITS)

struct clock_case {
	const char *name;
	struct tap_user_pair pairs[4]; /* up to one of 0 cycles */
	uint64_t cycles;
	struct tap_user_pair near; /* 0 cycles: none */
	uint64_t want;
};

static const struct clock_case cases[] = {
	{ "at a pair", { { 1000, 500 }, { 3000, 1500 } }, 3000, { 0 }, 1500 },
	{ "between two", { { 1000, 500 }, { 3000, 1500 } }, 2000, { 0 }, 1000 },
	{ "each interval has its own rate",
	  { { 1000, 500 }, { 3000, 1500 }, { 4000, 2500 } },
	  3500,
	  { 0 },
	  2000 },
	{ "the first interval is what it was",
	  { { 1000, 500 }, { 3000, 1500 }, { 4000, 2500 } },
	  2000,
	  { 0 },
	  1000 },
	{ "after the last, at the last rate",
	  { { 1000, 500 }, { 3000, 1500 } },
	  5000,
	  { 0 },
	  2500 },
	{ "before the first, at the known rate",
	  { { 10000, 5000 }, { 30000, 15000 } },
	  8000,
	  { 0 },
	  4000 },
	{ "before the first, along the program's own pair",
	  { { 1000000, 500000 }, { 3000000, 1500000 } },
	  500000,
	  { 1000, 400 },
	  249950 },
	{ "a program's pair that cannot be is not believed",
	  { { 1000000, 500000 }, { 3000000, 1500000 } },
	  500000,
	  { 1000, 499000 },
	  250000 },
	{ "nor one that is later than ours",
	  { { 10000, 5000 }, { 30000, 15000 } },
	  8000,
	  { 20000, 4000 },
	  4000 },
	{ "before time itself", { { 10000, 5 }, { 30000, 10005 } }, 10, { 0 }, 0 },
	{ "a pair that goes backwards is left out",
	  { { 1000, 500 }, { 3000, 1500 }, { 4000, 1400 } },
	  2000,
	  { 0 },
	  1000 },
};

static void test_cases(void **state)
{
	struct tap_user_clock *c = calloc(1, sizeof(*c));

	(void)state;
	for (size_t i = 0; i < LEN(cases); i++) {
		const struct clock_case *k = &cases[i];

		print_message("# %s\n", k->name);
		c->nr = 0;
		for (int p = 0; p < 4 && k->pairs[p].cycles; p++)
			tap_user_clock_add(c, &k->pairs[p]);
		assert_int_equal(tap_user_clock_ns(c, k->cycles, k->near.cycles ? &k->near : NULL),
				 k->want);
	}
	free(c);
}

static void test_extend(void **state)
{
	static const struct {
		const char *name;
		uint64_t last, stamp, want;
	} table[] = {
		{ "as it is", 5000, 4000, 4000 },
		{ "ahead", 5000, 6000, 6000 },
		{ "with what lies above its bits", TOP + 5000, 4000, TOP + 4000 },
		{ "across the border, earlier", TOP + 5, TOP - 5, TOP - 5 },
		{ "across the border, ahead", TOP - 5, 5, TOP + 5 },
		{ "before the counter began", 5, TOP - 5, 0 },
	};
	struct tap_user_clock *c = calloc(1, sizeof(*c));

	(void)state;
	for (size_t i = 0; i < LEN(table); i++) {
		print_message("# %s\n", table[i].name);
		c->nr = 0;
		tap_user_clock_add(c, &(struct tap_user_pair){ table[i].last, 1 });
		assert_int_equal(tap_user_clock_extend(c, table[i].stamp), table[i].want);
	}
	free(c);
}

/* Time never goes back, also where more pairs came than are remembered. */
static void test_rises(void **state)
{
	struct tap_user_clock *c = calloc(1, sizeof(*c));
	struct tap_user_pair p = { 1000000, 700000 };
	uint64_t last = 0, cycles = p.cycles;

	(void)state;
	srandom(1);
	tap_user_clock_add(c, &p);
	for (unsigned int i = 0; i < 3 * TAP_USER_PAIRS; i++) {
		p.cycles += 1000 + (uint64_t)random() % 5000;
		p.mono_ns += 400 + (uint64_t)random() % 2000;
		tap_user_clock_add(c, &p);
		while (cycles < p.cycles) {
			uint64_t ns = tap_user_clock_ns(c, cycles, NULL);

			assert_true(ns >= last);
			last = ns;
			cycles += 100 + (uint64_t)random() % 900;
		}
		assert_int_equal(tap_user_clock_ns(c, p.cycles, NULL), p.mono_ns);
	}
	assert_true(c->nr <= TAP_USER_PAIRS);
	free(c);
}

/* The best of some tries: a machine under load may stop one between any two reads. */
static void test_this_machine(void **state)
{
	struct tap_user_clock *c = calloc(1, sizeof(*c));
	struct tap_user_pair a, b, z;
	int64_t best = INT64_MAX;

	(void)state;
	if (!tap_user_pair_now(&a)) {
		skip_test("no counter is known of this architecture");
		free(c);
		return;
	}
	for (int i = 0; i < 20; i++) {
		int64_t off;

		tap_user_pair_now(&a);
		usleep(1000);
		tap_user_pair_now(&b);
		usleep(1000);
		tap_user_pair_now(&z);
		c->nr = 0;
		tap_user_clock_add(c, &a);
		tap_user_clock_add(c, &z);
		off = (int64_t)(tap_user_clock_ns(c, b.cycles, NULL) - b.mono_ns);
		best = llabs(off) < best ? llabs(off) : best;
	}
	print_message("# %lld ns off\n", (long long)best);
	assert_true(best < 500);
	free(c);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases),
		cmocka_unit_test(test_extend),
		cmocka_unit_test(test_rises),
		cmocka_unit_test(test_this_machine),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("user clock", tests, NULL, NULL);
}
