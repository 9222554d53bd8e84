// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Verdicts: of values that are written down here, and how often they are wrong, or missed, on ones
 * drawn by lot. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "unit/sanitized.h"
#include "base/stats/bootstrap.h"
#include "analysis/compare/compare.h"

#define MAX 12

/* ---- written down ---- */

struct verdict_case {
	const char *name;
	enum tap_metric_better better;
	double a[MAX], b[MAX]; /* end with a 0 */
	double min_effect;
	enum tap_compare_verdict want;
	unsigned int more;
};

#define LOW 100, 101, 102, 103, 104, 105
#define HIGH 120, 121, 122, 123, 124, 125
static const struct verdict_case cases[] = {
	{ "less is better, and it is more",
	  TAP_BETTER_LESS,
	  { LOW },
	  { HIGH },
	  0.02,
	  TAP_COMPARE_WORSE },
	{ "less is better, and it is less",
	  TAP_BETTER_LESS,
	  { HIGH },
	  { LOW },
	  0.02,
	  TAP_COMPARE_BETTER },
	{ "more is better, and it is more",
	  TAP_BETTER_MORE,
	  { LOW },
	  { HIGH },
	  0.02,
	  TAP_COMPARE_BETTER },
	{ "more is better, and it is less",
	  TAP_BETTER_MORE,
	  { HIGH },
	  { LOW },
	  0.02,
	  TAP_COMPARE_WORSE },
	{ "neither is better", TAP_BETTER_NEITHER, { HIGH }, { LOW }, 0.02, TAP_COMPARE_CHANGED },
	{ "the same values", TAP_BETTER_LESS, { LOW }, { LOW }, 0.1, TAP_COMPARE_SAME },
	{ "a sure shift that does not matter",
	  TAP_BETTER_LESS,
	  { LOW },
	  { HIGH },
	  0.5,
	  TAP_COMPARE_SAME },
	{ "a sure shift that may not matter",
	  TAP_BETTER_LESS,
	  { LOW },
	  { HIGH },
	  0.19,
	  TAP_COMPARE_UNCLEAR,
	  190 },
	{ "the same values, more exact than they are",
	  TAP_BETTER_LESS,
	  { LOW },
	  { LOW },
	  0.001,
	  TAP_COMPARE_UNCLEAR,
	  0 },
	{ "four are enough",
	  TAP_BETTER_LESS,
	  { 1, 2, 3, 4 },
	  { 5, 6, 7, 8 },
	  0,
	  TAP_COMPARE_WORSE },
	{ "three are not",
	  TAP_BETTER_LESS,
	  { 1, 2, 3, 4 },
	  { 50, 60, 70 },
	  0,
	  TAP_COMPARE_UNCLEAR,
	  1 },
	{ "one and one", TAP_BETTER_LESS, { 1 }, { 2 }, 0.02, TAP_COMPARE_UNCLEAR, 3 },
	{ "one and many", TAP_BETTER_LESS, { 1 }, { LOW, HIGH - 1 }, 0.02, TAP_COMPARE_UNCLEAR, 3 },
};

/* Each value of a metric as of a recording that has it alone. */
static void compare_values(const double *a, unsigned int nr_a, const double *b, unsigned int nr_b,
			   enum tap_metric_better better, double min_effect,
			   struct tap_comparison *out, struct tap_metrics *metrics)
{
	const struct tap_compare_opts opts = { .min_effect = min_effect };
	const struct tap_metrics *all[2 * MAX];

	for (unsigned int i = 0; i < nr_a + nr_b; i++) {
		metrics[i] = (struct tap_metrics){ 0 };
		assert_int_equal(tap_metrics_add(&metrics[i], TAP_METRIC_NS, better,
						 i < nr_a ? a[i] : b[i - nr_a], "x"),
				 0);
		all[i] = &metrics[i];
	}
	assert_int_equal(tap_compare(all, nr_a, all + nr_a, nr_b, &opts, out), 0);
}

static unsigned int count(const double *v)
{
	unsigned int nr = 0;

	while (nr < MAX && v[nr])
		nr++;
	return nr;
}

static void test_verdicts(void **state)
{
	(void)state;
	for (const struct verdict_case *c = cases; c < cases + sizeof(cases) / sizeof(*cases);
	     c++) {
		struct tap_metrics metrics[2 * MAX];
		unsigned int nr_a = count(c->a), nr_b = count(c->b);
		struct tap_comparison out;

		compare_values(c->a, nr_a, c->b, nr_b, c->better, c->min_effect, &out, metrics);
		assert_int_equal(out.nr, 1);
		if (out.v[0].verdict != c->want || out.v[0].more != c->more)
			fail_msg("%s: %s, %u more", c->name,
				 tap_compare_verdict_name(out.v[0].verdict), out.v[0].more);
		tap_comparison_release(&out);
		for (unsigned int i = 0; i < nr_a + nr_b; i++)
			tap_metrics_release(&metrics[i]);
	}
}

/* Which rows there are: "has" in all recordings, "zero" nowhere else than 0, "some" in one alone,
 * "left" not wanted. */
static bool is_wanted(void *ctx, const char *name)
{
	(void)ctx;
	return strcmp(name, "left");
}

static void test_rows(void **state)
{
	const struct tap_compare_opts opts = { .want = is_wanted };
	struct tap_metrics m[3] = { 0 };
	const struct tap_metrics *all[] = { &m[0], &m[1], &m[2] };
	struct tap_comparison out;
	int ret = 0;

	(void)state;
	for (unsigned int i = 0; i < 3; i++)
		ret = ret ?: tap_metrics_add(&m[i], TAP_METRIC_NS, TAP_BETTER_LESS, 5, "has") ?:
		      tap_metrics_add(&m[i], TAP_METRIC_NS, TAP_BETTER_LESS, 0, "zero") ?:
		      tap_metrics_add(&m[i], TAP_METRIC_NS, TAP_BETTER_LESS, 1, "left") ?:
		      tap_metrics_add(&m[i], TAP_METRIC_NS, TAP_BETTER_LESS, i == 2 ? 1 : NAN, "some");
	assert_int_equal(ret, 0);
	assert_int_equal(tap_compare(all, 2, all + 2, 1, &opts, &out), 0);
	assert_int_equal(out.nr, 1);
	assert_string_equal(out.v[0].name, "has");
	assert_int_equal(out.nr_partial, 1);
	assert_string_equal(out.partial, "some");
	assert_int_equal(out.needs, 4);
	tap_comparison_release(&out);
	for (unsigned int i = 0; i < 3; i++)
		tap_metrics_release(&m[i]);
}

/* ---- drawn by lot ---- */

static uint64_t random_state;

static double uniform(void)
{
	random_state = random_state * 6364136223846793005u + 1442695040888963407u;
	return ((double)(random_state >> 11) + 0.5) / 9007199254740992.0;
}

/* Around 1000, and far above it at times, as the longest waits are. */
static double wait_ns(double spread)
{
	return 1000 * exp(spread * sqrt(-2 * log(uniform())) * cos(2 * M_PI * uniform()));
}

struct lot {
	unsigned int nr; /* recordings a side */
	unsigned int nr_metrics;
	double shift, spread, min_effect;
};

struct found {
	unsigned int up, down, same; /* pairs with such a verdict, of one metric at least */
};

/* Two sides, the metrics of B being @shift times those of A. */
static void draw_pair(const struct lot *lot, struct found *found)
{
	const struct tap_compare_opts opts = { .min_effect = lot->min_effect };
	struct tap_metrics m[2 * MAX] = { 0 };
	const struct tap_metrics *all[2 * MAX];
	struct tap_comparison out;
	bool is[TAP_COMPARE_WORSE + 1] = { 0 };

	for (unsigned int i = 0; i < 2 * lot->nr; i++) {
		for (unsigned int k = 0; k < lot->nr_metrics; k++)
			assert_int_equal(tap_metrics_add(&m[i], TAP_METRIC_NS, TAP_BETTER_LESS,
							 wait_ns(lot->spread) *
								 (i < lot->nr ? 1 : lot->shift),
							 "m%u", k),
					 0);
		all[i] = &m[i];
	}
	assert_int_equal(tap_compare(all, lot->nr, all + lot->nr, lot->nr, &opts, &out), 0);
	assert_int_equal(out.nr, lot->nr_metrics);
	for (unsigned int k = 0; k < out.nr; k++)
		is[out.v[k].verdict] = true;
	found->up += is[TAP_COMPARE_WORSE];
	found->down += is[TAP_COMPARE_BETTER];
	found->same += is[TAP_COMPARE_SAME];
	tap_comparison_release(&out);
	for (unsigned int i = 0; i < 2 * lot->nr; i++)
		tap_metrics_release(&m[i]);
}

static struct found draw(const struct lot *lot, unsigned int pairs)
{
	struct found found = { 0 };

	for (unsigned int i = 0; i < pairs; i++)
		draw_pair(lot, &found);
	return found;
}

#define PAIRS (1000 / sanitized_step())

/*
 * No difference: at most 5 % of the pairs may have a verdict of one. Where any effect matters it is
 * the test alone that says so, and 5 % is what it promises: then chance has three standard
 * deviations of room here.
 */
static void test_false_verdicts(void **state)
{
	static const struct lot lots[] = {
		{ 4, 1, 1, 0.3, 0.02 },	 { 5, 1, 1, 1, 0.02 },	  { 8, 1, 1, 0.3, 0.02 },
		{ 10, 1, 1, 0.1, 0.02 }, { 6, 20, 1, 0.1, 0.02 }, { 10, 20, 1, 0.1, 0.02 },
		{ 4, 1, 1, 0.3, 0 },	 { 8, 1, 1, 2, 0 },	  { 7, 10, 1, 0.3, 0 },
	};
	const double room = 3 * sqrt(0.05 * 0.95 / PAIRS);

	(void)state;
	random_state = 17;
	for (size_t i = 0; i < sizeof(lots) / sizeof(*lots); i++) {
		struct found f = draw(&lots[i], PAIRS);

		print_message("# %u recordings a side, %u metrics, %g %% matters: %.1f %% false "
			      "verdicts\n",
			      lots[i].nr, lots[i].nr_metrics, 100 * lots[i].min_effect,
			      100.0 * (f.up + f.down) / PAIRS);
		if (f.up + f.down > PAIRS * (0.05 + (lots[i].min_effect ? 0 : room)))
			fail_msg("lot %zu: %u of %u pairs", i, f.up + f.down, PAIRS);
	}
}

/* A difference that is there is found, in its direction; one that is not is said to be none, if
 * recordings are alike. */
static void test_power(void **state)
{
	const struct lot more = { 6, 1, 1.2, 0.05, 0.02 }, less = { 6, 1, 0.8, 0.05, 0.02 },
			 many = { 8, 20, 1.2, 0.05, 0.02 }, none = { 8, 1, 1, 0.005, 0.02 };
	struct found f;

	(void)state;
	random_state = 17;
	f = draw(&more, PAIRS);
	print_message("# 6 a side, +20 %% where recordings are 5 %% apart: %.1f %% found\n",
		      100.0 * f.up / PAIRS);
	assert_true(f.up > PAIRS * 0.95 && !f.down);
	f = draw(&less, PAIRS);
	assert_true(f.down > PAIRS * 0.95 && !f.up);
	f = draw(&many, PAIRS / 10);
	assert_true(f.up > PAIRS / 10 * 0.95 && !f.down);
	f = draw(&none, PAIRS);
	print_message("# 8 a side, no difference where they are 0.5 %% apart: %.1f %% the same\n",
		      100.0 * f.same / PAIRS);
	assert_true(f.same > PAIRS * 0.95);
}

/* ---- within two runs ---- */

#define BLOCKS 40u

/* Times that are busy and times that are not: waits of a block are alike. */
static void draw_blocks(struct tap_hist *blocks, double scale)
{
	for (unsigned int i = 0; i < BLOCKS; i++) {
		double busy = uniform() < 0.3 ? 3 : 1;

		blocks[i] = (struct tap_hist)TAP_HIST_INIT;
		for (unsigned int k = 0; k < 20; k++)
			assert_int_equal(
				tap_hist_add(&blocks[i], (uint64_t)(wait_ns(0.3) * busy * scale)),
				0);
	}
}

static void release_blocks(struct tap_hist *blocks)
{
	for (unsigned int i = 0; i < BLOCKS; i++)
		tap_hist_release(&blocks[i]);
}

/* Pairs whose interval has 0 in it. */
static unsigned int covers_zero(double scale, unsigned int pairs)
{
	const double part = 0.5;
	struct tap_hist a[BLOCKS], b[BLOCKS];
	struct tap_confidence interval;
	unsigned int nr = 0;

	for (unsigned int i = 0; i < pairs; i++) {
		draw_blocks(a, 1);
		draw_blocks(b, scale);
		assert_int_equal(tap_bootstrap_quantiles((struct tap_blocks){ a, BLOCKS },
							 (struct tap_blocks){ b, BLOCKS }, &part, 1,
							 &interval),
				 0);
		nr += interval.low <= 0 && interval.high >= 0;
		release_blocks(a);
		release_blocks(b);
	}
	return nr;
}

static void test_within(void **state)
{
	unsigned int same, other;

	(void)state;
	random_state = 17;
	same = covers_zero(1, 200);
	other = covers_zero(2, 50);
	print_message("# blocks: 0 is in %.1f %% of the intervals without a difference, in %u %% "
		      "of those with one\n",
		      same / 2.0, 2 * other);
	assert_true(same >= 200 * 0.92 && other <= 2);
}

static void test_few_blocks(void **state)
{
	const double part = 0.5;
	struct tap_hist a[BLOCKS];
	struct tap_confidence interval = { 1, 1 };

	(void)state;
	draw_blocks(a, 1);
	assert_int_equal(tap_bootstrap_quantiles((struct tap_blocks){ a, TAP_BOOTSTRAP_MIN - 1 },
						 (struct tap_blocks){ a, BLOCKS }, &part, 1,
						 &interval),
			 0);
	assert_true(isnan(interval.low) && isnan(interval.high));
	release_blocks(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_verdicts),       cmocka_unit_test(test_rows),
		cmocka_unit_test(test_false_verdicts), cmocka_unit_test(test_power),
		cmocka_unit_test(test_within),	       cmocka_unit_test(test_few_blocks),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
