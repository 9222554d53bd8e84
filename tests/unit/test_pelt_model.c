// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The integers of load tracking against what is known of it, and against its definition: a
 * geometric sum in long double, added up period by period, which shares nothing with the model.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "analysis/pelt_model.h"

#define PERIOD 1024u

/* The average after a sum was advanced from 0. */
static uint64_t after(uint64_t from, uint64_t units, uint64_t weight)
{
	uint64_t sum = tap_pelt_advance(0, from, from + units, weight);

	return sum / tap_pelt_divider(from + units);
}

static void test_known(void **state)
{
	(void)state;
	/* LOAD_AVG_MAX is what a sum comes to that adds a period each time */
	assert_int_equal(tap_pelt_advance(0, 0, 3000 * PERIOD, 1), TAP_PELT_MAX - PERIOD);
	/* y^0 is a little below 1 */
	assert_int_equal(tap_pelt_decay(TAP_PELT_MAX, 32), TAP_PELT_MAX / 2 - 1);
	assert_int_equal(tap_pelt_decay(UINT64_C(1) << 40, 64), (UINT64_C(1) << 38) - 64);
	assert_int_equal(tap_pelt_decay(UINT64_MAX, 32 * 63 + 1), 0);
	for (unsigned int n = 0; n < 32; n++)
		assert_int_equal(tap_pelt_decay(UINT64_C(1) << 32, n),
				 (uint64_t)floorl(UINT32_MAX * powl(0.5L, n / 32.0L)));
	/* half of it after a half-life, three quarters after two; a little above, for the divider
	 * leaves out the period that has begun */
	assert_in_range(after(0, 32 * PERIOD, 1024), 511, 512);
	assert_in_range(after(0, 64 * PERIOD, 1024), 767, 768);
	assert_in_range(after(0, 5000 * PERIOD, 1024), 1023, 1024);
	assert_int_equal(after(0, 0, 1024), 0);
}

/* Advancing by no time changes nothing; advancing in parts equals advancing once. */
static void test_parts(void **state)
{
	uint64_t sum = 12345678;

	(void)state;
	assert_int_equal(tap_pelt_advance(sum, 77, 77, 1024), sum);
	/* within a period nothing decays: parts add up exactly */
	assert_int_equal(tap_pelt_advance(tap_pelt_advance(sum, 10, 300, 1024), 300, 1000, 1024),
			 tap_pelt_advance(sum, 10, 1000, 1024));
}

static void test_ranges(void **state)
{
	(void)state;
	for (uint64_t value = 0; value < 3000; value += 7) {
		for (uint64_t unit = 0; unit < PERIOD; unit += 93) {
			uint64_t factor = unit % 2 ? 1 : 15 + value;
			struct tap_pelt_range sums = tap_pelt_sums(value, unit, factor), averages;

			averages = tap_pelt_averages(&sums, unit, factor);
			assert_int_equal(averages.lo, value);
			assert_in_range(averages.hi, value, value);
			sums.hi++; /* and no sum beyond them */
			assert_int_not_equal(tap_pelt_averages(&sums, unit, factor).hi, value);
		}
	}
}

/* ---- the referee ---- */

#define NR_PERIODS 2000u

#define NR_WEIGHTS 4000u

/* Of the period that ended k periods ago. */
static long double weights[NR_WEIGHTS];

/* By definition: of the running time of each period, the last one being under way. */
static long double defined(const unsigned int *ran, unsigned int last, unsigned int into)
{
	long double sum = 0, all = 0;

	for (unsigned int i = 0; i <= last; i++)
		sum += ran[i] * weights[last - i];
	for (unsigned int k = 1; k < NR_WEIGHTS; k++)
		all += PERIOD * weights[k];
	return 1024 * sum / (all + into);
}

/* Runs and pauses by dice: at each end the model is at most 1.5 off (the fraction that is cut off,
 * and 46 of 47788 of the sum). */
static void test_referee(void **state)
{
	static unsigned int ran[NR_PERIODS];
	long double worst = 0;

	(void)state;
	for (unsigned int k = 0; k < NR_WEIGHTS; k++)
		weights[k] = powl(powl(0.5L, 1 / 32.0L), k);
	srand(1);
	for (unsigned int round = 0; round < 20; round++) {
		uint64_t sum = 0, at = 0;

		for (unsigned int i = 0; i < NR_PERIODS; i++)
			ran[i] = 0;
		for (;;) {
			uint64_t to = at +
				      (uint64_t)rand() % (rand() % 4 ? 3 * PERIOD : 60 * PERIOD),
				 u;
			bool runs = rand() % 2;

			if (to / PERIOD >= NR_PERIODS)
				break;
			for (u = at; u < to && runs; u++)
				ran[u / PERIOD]++;
			sum = tap_pelt_advance(sum, at, to, runs ? 1024 : 0);
			at = to;
			worst = fmaxl(worst, fabsl((long double)(sum / tap_pelt_divider(at)) -
						   defined(ran, (unsigned int)(at / PERIOD),
							   at % PERIOD)));
		}
	}
	assert_true(worst < 1.5L);
	assert_true(worst > 0.5L); /* it looked */
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_known),
		cmocka_unit_test(test_parts),
		cmocka_unit_test(test_ranges),
		cmocka_unit_test(test_referee),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("pelt_model", tests, NULL, NULL);
}
