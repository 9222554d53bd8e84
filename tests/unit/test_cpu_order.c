// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analysis/cpu_order.h"

#define MAX_STEPS 6

struct order_case {
	const char *name;
	struct {
		unsigned int cpu;
		uint64_t ns;
	} steps[MAX_STEPS]; /* up to a time of 0 */
	int oldest;
	uint64_t oldest_ns;
};

static const struct order_case cases[] = {
	{ "no CPU has a time", { { 0 } }, -1, UINT64_MAX },
	{ "the only one", { { 200, 5 } }, 200, 5 },
	{ "the first of several", { { 3, 5 }, { 0, 6 }, { 7, 9 } }, 3, 5 },
	{ "the oldest goes on", { { 3, 5 }, { 0, 6 }, { 7, 9 }, { 3, 10 } }, 0, 6 },
	{ "another one goes on", { { 3, 5 }, { 0, 6 }, { 7, 9 }, { 0, 10 } }, 3, 5 },
	{ "the last goes on", { { 3, 5 }, { 0, 6 }, { 0, 7 }, { 3, 8 } }, 0, 7 },
	{ "one that comes late is the oldest", { { 3, 5 }, { 0, 6 }, { 7, 2 } }, 7, 2 },
	{ "one that comes late is between", { { 3, 5 }, { 0, 9 }, { 7, 7 }, { 3, 10 } }, 7, 7 },
	{ "all have gone on",
	  { { 0, 1 }, { 1, 2 }, { 2, 3 }, { 0, 4 }, { 1, 5 }, { 2, 6 } },
	  0,
	  4 },
};

static void run_case(void **state)
{
	const struct order_case *c = *state;
	struct tap_cpu_order o = { 0 };

	for (unsigned int i = 0; i < MAX_STEPS && c->steps[i].ns; i++) {
		assert_int_equal(tap_cpu_order_set(&o, c->steps[i].cpu, c->steps[i].ns), 0);
		assert_int_equal(tap_cpu_order_ns(&o, c->steps[i].cpu), c->steps[i].ns);
	}
	assert_int_equal(tap_cpu_order_oldest(&o), c->oldest);
	assert_int_equal(tap_cpu_order_oldest_ns(&o), c->oldest_ns);
	assert_int_equal(tap_cpu_order_ns(&o, 300), 0);
	tap_cpu_order_release(&o);
}

#define NR_CASES (sizeof(cases) / sizeof(*cases))

int main(void)
{
	struct CMUnitTest tests[NR_CASES];

	for (size_t i = 0; i < NR_CASES; i++)
		tests[i] = (struct CMUnitTest){ .name = cases[i].name,
						.test_func = run_case,
						.initial_state = (void *)&cases[i] };
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("cpu order", tests, NULL, NULL);
}
