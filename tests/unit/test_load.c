// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Each load for a moment: that its numbers arrive, and agree with each other. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>

#include "record/load/load.h"

static const struct tap_load_opts few = {
	.threads = 2,
	.messengers = 2,
	.duration_ns = 60000000,
	.warm_up_ns = 10000000,
	.products = 1,
	.matrix = 16,
};
static const volatile sig_atomic_t goes_on, stopped = 1;

static void test_counts_agree(void **state)
{
	static const unsigned int wakeups[TAP_NR_LOADS] = {
		[TAP_LOAD_MESSAGES] = 1,
		[TAP_LOAD_PIPE] = 2,
		[TAP_LOAD_FORK] = 1,
		[TAP_LOAD_MIXED] = 1,
	};

	(void)state;
	for (enum tap_load_kind k = 0; k < TAP_LOAD_GROUPS; k++) {
		struct tap_load_result r = TAP_LOAD_RESULT_INIT;
		struct tap_load_opts o = few;
		struct tap_err err = { 0 };

		o.kind = k;
		print_message("load %d\n", k);
		assert_int_equal(tap_load_run(&o, &goes_on, &r, &err), 0);
		assert_int_equal(r.request.count, r.operations);
		assert_int_equal(r.wakeup.count, wakeups[k] * r.operations);
		assert_true(r.to_ns - r.from_ns >= o.duration_ns);
		assert_int_equal(r.rate.count, 1);
		assert_int_equal(r.nr_cpu_ns, k == TAP_LOAD_HOG ? o.threads : 0);
		tap_load_result_release(&r);
	}
}

static void test_groups_send_all(void **state)
{
	struct tap_load_result r = TAP_LOAD_RESULT_INIT;
	struct tap_load_opts o = few;
	struct tap_err err = { 0 };

	(void)state;
	o.kind = TAP_LOAD_GROUPS;
	assert_int_equal(tap_load_run(&o, &goes_on, &r, &err), 0);
	assert_int_equal(r.operations, 2 * 2 * 2 * 100); /* groups, senders, receivers, messages */
	assert_true(r.to_ns > r.from_ns);
	tap_load_result_release(&r);
}

static void test_a_stopped_load_is_killed(void **state)
{
	struct tap_load_result r = TAP_LOAD_RESULT_INIT;
	struct tap_load_opts o = few;
	struct tap_err err = { 0 };

	(void)state;
	o.duration_ns = UINT64_C(100000000000);
	assert_int_equal(tap_load_run(&o, &stopped, &r, &err), -EINTR);
	tap_load_result_release(&r);
}

static void test_calibration_is_proportional(void **state)
{
	uint64_t one = tap_load_calibrate(16, 1000000), ten = tap_load_calibrate(16, 10000000);

	(void)state;
	assert_true(one >= 1);
	assert_true(ten > 2 * one && ten < 50 * one); /* other tasks disturb it */
	assert_int_equal(tap_load_calibrate(16, 0), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counts_agree),
		cmocka_unit_test(test_groups_send_all),
		cmocka_unit_test(test_a_stopped_load_is_killed),
		cmocka_unit_test(test_calibration_is_proportional),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
