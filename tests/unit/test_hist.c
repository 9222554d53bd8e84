// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdbool.h>
#include <stdlib.h>

#include "base/hist.h"

#define TABLE(t) (sizeof(t) / sizeof((t)[0]))

/* From its table a test prints the name of the case that fails. */
#define check(name, cond)                                                                          \
	do {                                                                                       \
		if (!(cond))                                                                       \
			fail_msg("%s: %s", name, #cond);                                           \
	} while (0)

/* first, first + step, ... nr of them, of the given weight each */
struct series {
	uint64_t first, step, nr, weight;
};

struct hist_case {
	const char *name;
	struct series in[3];
	uint64_t count, min, max;
	double mean;
	struct {
		double part;
		uint64_t want;
	} q[4]; /* to one part of 128; exact where .exact */
	bool exact;
};

static const struct hist_case cases[] = {
	{ "nothing", {}, 0, UINT64_MAX, 0, 0, { { 0.5, 0 } }, true },
	{ "one value is every quantile",
	  { { 1000003, 0, 1, 1 } },
	  1,
	  1000003,
	  1000003,
	  1000003,
	  { { 0, 1000003 }, { 0.5, 1000003 }, { 1, 1000003 } },
	  true },
	{ "as many as are kept are exact",
	  { { 1000001, 1000001, 32, 1 } },
	  32,
	  1000001,
	  32000032,
	  16500016.5,
	  { { 0.5, 16000016 }, { 0.25, 8000008 }, { 0.97, 32000032 } },
	  true },
	{ "order does not matter",
	  { { 500001, 0, 1, 1 }, { 100001, 0, 2, 1 } },
	  3,
	  100001,
	  500001,
	  700003 / 3.0,
	  { { 0.5, 100001 }, { 0.67, 500001 } },
	  true },
	{ "one more is counted in buckets",
	  { { 1000000, 1000000, 33, 1 } },
	  33,
	  1000000,
	  33000000,
	  17000000,
	  { { 0.5, 17000000 }, { 0.1, 4000000 }, { 1, 33000000 } } },
	{ "below 64 every value is exact",
	  { { 0, 1, 64, 1 }, { 0, 1, 36, 1 } },
	  100,
	  0,
	  63,
	  (2016 + 630) / 100.0,
	  { { 0.02, 0 }, { 0.5, 24 }, { 0.99, 62 } },
	  true },
	{ "seven of a hundred are not eight",
	  { { 0, 0, 7, 1 }, { 10, 0, 93, 1 } },
	  100,
	  0,
	  10,
	  9.3,
	  { { 0.07, 0 }, { 0.08, 10 } },
	  true },
	{ "99.9 % of a thousand",
	  { { 5, 0, 999, 1 }, { 60, 0, 1, 1 } },
	  1000,
	  5,
	  60,
	  5.055,
	  { { 0.999, 5 }, { 0.9991, 60 } },
	  true },
	{ "a weight counts as so many values",
	  { { 10, 0, 1, 900 }, { 50, 0, 1, 100 } },
	  1000,
	  10,
	  50,
	  14,
	  { { 0.9, 10 }, { 0.91, 50 } },
	  true },
	{ "a weight of 0 is nothing",
	  { { 10, 0, 1, 0 } },
	  0,
	  UINT64_MAX,
	  0,
	  0,
	  { { 0.5, 0 } },
	  true },
	{ "weight after values",
	  { { 7, 0, 3, 1 }, { 9, 0, 1, 7 } },
	  10,
	  7,
	  9,
	  8.4,
	  { { 0.3, 7 }, { 0.31, 9 } },
	  true },
	{ "weights above 2^32",
	  { { 10, 0, 1, 0xffffffff }, { 10, 0, 2, 1 }, { 50, 0, 2, 0xc0000000 } },
	  0x280000001,
	  10,
	  50,
	  (10 * 4294967297.0 + 50 * 6442450944.0) / 10737418241.0,
	  { { 0.4, 10 }, { 0.41, 50 } },
	  true },
	{ "the greatest of all values",
	  { { UINT64_MAX, 0, 40, 1 } },
	  40,
	  UINT64_MAX,
	  UINT64_MAX,
	  18446744073709551615.0,
	  { { 0.5, UINT64_MAX } } },
	{ "never outside of what came",
	  { { 1000000, 0, 50, 1 }, { 1000001, 0, 50, 1 } },
	  100,
	  1000000,
	  1000001,
	  1000000.5,
	  { { 0.4, 1000001 } },
	  true },
};

static int fill(struct tap_hist *h, const struct series *s)
{
	int ret = 0;

	for (uint64_t i = 0; !ret && i < s->nr; i++)
		ret = s->weight == 1 ? tap_hist_add(h, s->first + i * s->step)
				     : tap_hist_add_weighted(h, s->first + i * s->step, s->weight);
	return ret;
}

static bool is_near(uint64_t got, uint64_t want, bool exact)
{
	uint64_t off = got > want ? got - want : want - got;

	return off <= (exact ? 0 : want / 128);
}

static void check_case(const struct hist_case *c, const struct tap_hist *h)
{
	double off = tap_hist_mean(h) - c->mean;

	check(c->name, h->count == c->count);
	check(c->name, h->min == c->min && h->max == c->max);
	check(c->name, off <= c->mean * 1e-12 && off >= -c->mean * 1e-12);
	for (size_t i = 0; i < TABLE(c->q) && (!i || c->q[i].part); i++) {
		uint64_t got = tap_hist_quantile(h, c->q[i].part);

		if (!is_near(got, c->q[i].want, c->exact))
			fail_msg("%s: quantile %g is %ju, want %ju", c->name, c->q[i].part,
				 (uintmax_t)got, (uintmax_t)c->q[i].want);
	}
}

static void test_quantile(void **state)
{
	(void)state;
	for (size_t i = 0; i < TABLE(cases); i++) {
		struct tap_hist h = TAP_HIST_INIT;

		for (size_t k = 0; k < TABLE(cases[i].in); k++)
			assert_int_equal(fill(&h, &cases[i].in[k]), 0);
		check_case(&cases[i], &h);
		tap_hist_release(&h);
		assert_int_equal(h.count, 0);
		assert_true(h.min == UINT64_MAX);
	}
}

/* Values split over two histograms that are merged give a case's answers, whichever kind each
 * histogram is of. */
static void test_merge(void **state)
{
	(void)state;
	for (size_t i = 0; i < TABLE(cases); i++) {
		struct tap_hist a = TAP_HIST_INIT, b = TAP_HIST_INIT;

		assert_int_equal(fill(&b, &cases[i].in[0]), 0);
		assert_int_equal(fill(&a, &cases[i].in[1]), 0);
		assert_int_equal(fill(&a, &cases[i].in[2]), 0);
		assert_int_equal(tap_hist_merge(&a, &b), 0);
		check_case(&cases[i], &a);
		tap_hist_release(&a);
		tap_hist_release(&b);
	}
}

/* Buckets follow each other without a gap, and every value lies in its own. */
struct seen {
	uint64_t nr, weight, last_to;
	bool right;
};

static void see(void *ctx, uint64_t from, uint64_t to, uint64_t weight)
{
	struct seen *s = ctx;

	s->right = s->right && from <= to && (!s->nr || from == s->last_to + 1);
	s->right = s->right && (to - from) <= from / 64;
	s->last_to = to;
	s->weight += weight;
	s->nr++;
}

static void test_buckets(void **state)
{
	struct tap_hist h = TAP_HIST_INIT;
	struct seen s = { .right = true };

	(void)state;
	for (uint64_t v = 0; v < 1u << 14; v++)
		assert_int_equal(tap_hist_add(&h, v), 0);
	tap_hist_for_each(&h, see, &s);
	assert_true(s.right);
	assert_int_equal(s.weight, 1u << 14);
	assert_int_equal(s.last_to, (1u << 14) - 1);
	assert_int_equal(s.nr, 64 + 8 * 64); /* 0..63, then 64 for each of 2^6 .. 2^13 */
	tap_hist_release(&h);
}

static void test_buckets_of_few(void **state)
{
	struct tap_hist h = TAP_HIST_INIT;
	struct seen s = { .right = true };

	(void)state;
	for (unsigned int i = 0; i < 6; i++)
		assert_int_equal(tap_hist_add(&h, 101 - i / 2), 0);
	tap_hist_for_each(&h, see, &s);
	assert_true(s.right); /* 99, 100, 101 */
	assert_int_equal(s.nr, 3);
	assert_int_equal(s.weight, 6);
	assert_int_equal(s.last_to, 101);
	tap_hist_release(&h);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_quantile),
		cmocka_unit_test(test_merge),
		cmocka_unit_test(test_buckets),
		cmocka_unit_test(test_buckets_of_few),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("hist", tests, NULL, NULL);
}
