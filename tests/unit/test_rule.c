// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <math.h>

#include "analysis/rule/rule.h"

static const struct good_case {
	const char *text, *name, *metric;
	enum tap_rule_op op;
	double limit;
	bool is_median;
	const char *comm, *tid;
} good[] = {
	{ "rule a : latency.waking.p99 < 2ms", "a", "latency.waking.p99", TAP_RULE_LESS, 2e6 },
	{ "rule a:latency.waking.p99<2ms#x", "a", "latency.waking.p99", TAP_RULE_LESS, 2e6 },
	{ "\n# nothing\n \t\r\nrule a.b-c : recording.lost == 0\r\n", "a.b-c", "recording.lost",
	  TAP_RULE_EQUAL, 0 },
	{ "rule a : latency.any.max<=1.5s # more", "a", "latency.any.max", TAP_RULE_AT_MOST,
	  1.5e9 },
	{ "rule a : latency.any.max > 7ns", "a", "latency.any.max", TAP_RULE_MORE, 7 },
	{ "rule a : latency.any.max >= 7us", "a", "latency.any.max", TAP_RULE_AT_LEAST, 7000 },
	{ "rule a : latency.throttled.max == 0", "a", "latency.throttled.max", TAP_RULE_EQUAL, 0 },
	{ "rule a : balance.violation.share != 1%", "a", "balance.violation.share",
	  TAP_RULE_UNEQUAL, 1 },
	{ "rule a : latency.waking.rate > 10", "a", "latency.waking.rate", TAP_RULE_MORE, 10 },
	{ "rule a : frequency.avg >= 1.5GHz", "a", "frequency.avg", TAP_RULE_AT_LEAST, 1.5e6 },
	{ "rule a : frequency.avg >= 800MHz", "a", "frequency.avg", TAP_RULE_AT_LEAST, 8e5 },
	{ "rule a : frequency.avg >= 800kHz", "a", "frequency.avg", TAP_RULE_AT_LEAST, 800 },
	{ "rule a : pelt.util_est.error.share < 50%", "a", "pelt.util_est.error.share",
	  TAP_RULE_LESS, 50 },
	{ "rule a : critical.between.all.p99 < 5ms", "a", "critical.between.all.p99", TAP_RULE_LESS,
	  5e6 },
	{ "rule a : latency.waking.rate > 10/s", "a", "latency.waking.rate", TAP_RULE_MORE, 10 },
	{ "rule a : median latency.waking.p50 < 1s", "a", "latency.waking.p50", TAP_RULE_LESS, 1e9,
	  true },
	{ "rule a : latency.waking.p50 -c 'a b#' -t 7 < 1s", "a", "latency.waking.p50",
	  TAP_RULE_LESS, 1e9, false, "a b#", "7" },
	{ "rule a : latency.waking.p50 -c kworker/0:1 < 1s", "a", "latency.waking.p50",
	  TAP_RULE_LESS, 1e9, false, "kworker/0:1" },
	{ "rule rule : latency.waking.p50 -c \"it's\" < 1s", "rule", "latency.waking.p50",
	  TAP_RULE_LESS, 1e9, false, "it's" },
};

static void test_good(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
		const struct good_case *want = &good[i];
		struct tap_rules rules = { 0 };
		struct tap_err err = { 0 };
		const struct tap_rule *r;

		print_message("# %s\n", want->text);
		assert_int_equal(tap_rules_parse(&rules, "f", want->text, strlen(want->text), &err),
				 0);
		assert_int_equal(rules.nr, 1);
		r = rules.v;
		assert_string_equal(r->name, want->name);
		assert_string_equal(r->metric, want->metric);
		assert_int_equal(r->op, want->op);
		assert_true(r->limit == want->limit);
		assert_int_equal(r->is_median, want->is_median);
		assert_int_equal(r->by[TAP_RULE_BY_COMM].nr, want->comm != NULL);
		if (want->comm)
			assert_string_equal(r->by[TAP_RULE_BY_COMM].v[0], want->comm);
		assert_int_equal(r->by[TAP_RULE_BY_TID].nr, want->tid != NULL);
		tap_rules_release(&rules);
	}
}

static const struct bad_case {
	const char *text, *says;
} bad[] = {
	{ "", "f: the rules file contains no rules" },
	{ "# rule a : recording.lost == 0\n", "f: the rules file contains no rules" },
	{ "rule", "f:1:1: expected 'rule NAME" },
	{ "\n  ruler a : recording.lost == 0", "f:2:3: expected 'rule NAME" },
	{ "rule  : recording.lost == 0", "f:1:7: expected the rule's name" },
	{ "rule a recording.lost == 0", "f:1:8: expected ':'" },
	{ "rule a", "f:1:7: expected ':'" },
	{ "rule a :", "f:1:9: expected a metric" },
	{ "rule a : median < 1", "f:1:17: expected a metric" },
	{ "rule a : latency.wakin.p99 < 1ms",
	  "f:1:10: no metric 'latency.wakin.p99'; the nearest is 'latency.waking.p99'" },
	{ "rule a : xyzzy < 1ms", "f:1:10: no metric 'xyzzy'; `schedtap check --list`" },
	{ "rule a : recording.lost", "f:1:24: expected one of" },
	{ "rule a : recording.lost = 0", "f:1:25: expected one of" },
	{ "rule a : recording.lost <> 0", "f:1:25: expected one of" },
	{ "rule a : recording.lost ==", "f:1:27: expected a number" },
	{ "rule a : recording.lost == -1", "f:1:28: expected a number" },
	{ "rule a : recording.lost == nan", "f:1:28: expected a number" },
	{ "rule a : recording.lost == 1.2.3", "f:1:28: '1.2.3' is not a number" },
	{ "rule a : recording.lost == .", "f:1:28: '.' is not a number" },
	{ "rule a : recording.lost == 11111111111111111111111111111111",
	  "f:1:28: expected a number" },
	{ "rule a : recording.lost == 1ms", "f:1:29: the unit of recording.lost is none, not ms" },
	{ "rule a : latency.any.max < 1",
	  "f:1:29: the unit of latency.any.max is ns, us, ms or s" },
	{ "rule a : latency.any.max < 1%",
	  "f:1:29: the unit of latency.any.max is ns, us, ms or s, not %" },
	{ "rule a : balance.violation.share < 1ms",
	  "f:1:37: the unit of balance.violation.share is %, not ms" },
	{ "rule a : recording.lost == 1 2", "f:1:30: the unit of recording.lost is none, not 2" },
	{ "rule a : latency.any.max < 1 ms 2", "f:1:33: unexpected text" },
	{ "rule a : latency.any.max -c < 1", "f:1:31: expected one of" },
	{ "rule a : latency.any.max -c", "f:1:26: expected -c" },
	{ "rule a : latency.any.max -c ", "f:1:29: expected a value" },
	{ "rule a : latency.any.max -c 'x < 1s", "f:1:29: unterminated quote" },
	{ "rule a : latency.any.max -x 1 < 1s", "f:1:26: expected -c" },
	{ "rule a : latency.any.max -", "f:1:26: expected -c" },
	{ "rule a : recording.lost == 0\nrule a : recording.lost == 0",
	  "f:2:6: duplicate rule 'a'" },
};

static void test_bad(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct tap_rules rules = { 0 };
		struct tap_err err = { 0 };

		print_message("# %s\n", bad[i].text);
		assert_int_equal(
			tap_rules_parse(&rules, "f", bad[i].text, strlen(bad[i].text), &err),
			-EINVAL);
		print_message("#   %s\n", err.text);
		assert_non_null(strstr(err.text, bad[i].says));
		tap_rules_release(&rules);
	}
}

static void test_nul(void **state)
{
	static const char text[] = "rule a : recording.lost == 0\0";
	struct tap_rules rules = { 0 };
	struct tap_err err = { 0 };

	(void)state;
	assert_int_equal(tap_rules_parse(&rules, "f", text, sizeof(text), &err), -EINVAL);
	assert_non_null(strstr(err.text, "NUL"));
	tap_rules_release(&rules);
}

/* The limit is 5. */
static const struct judge_case {
	const char *name;
	double low, high;
	enum tap_rule_verdict less, at_most, more, at_least, equal, unequal;
} judged[] = {
#define P TAP_RULE_PASSED
#define F TAP_RULE_FAILED
#define U TAP_RULE_UNDECIDED
	{ "below", 3, 4, P, P, F, F, F, P },
	{ "above", 6, 7, F, F, P, P, F, P },
	{ "on it", 5, 5, F, P, F, P, P, F },
	{ "around it", 4, 6, U, U, U, U, U, U },
	{ "up to it", 4, 5, U, P, F, U, U, U },
	{ "from it on", 5, 6, F, U, U, P, U, U },
	{ "the value is unknown", -INFINITY, INFINITY, U, U, U, U, U, U },
	{ "more than it", 6, INFINITY, F, F, P, P, F, P },
#undef P
#undef F
#undef U
};

static void test_judge(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(judged) / sizeof(*judged); i++) {
		const struct judge_case *j = &judged[i];
		const enum tap_rule_verdict want[] = { j->less,	    j->at_most, j->more,
						       j->at_least, j->equal,	j->unequal };

		print_message("# %s\n", j->name);
		for (enum tap_rule_op op = TAP_RULE_LESS; op <= TAP_RULE_UNEQUAL; op++)
			assert_int_equal(
				tap_rule_judge(&(const struct tap_rule){ .op = op, .limit = 5 },
					       j->low, j->high),
				want[op]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good),
		cmocka_unit_test(test_bad),
		cmocka_unit_test(test_nul),
		cmocka_unit_test(test_judge),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
