/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* For tests that are one table: each row, which has a .name, is a test of its own. */
#ifndef TAP_TESTS_MAIN_OF_CASES_H
#define TAP_TESTS_MAIN_OF_CASES_H

/* @run: takes the row as its *state. */
#define MAIN_OF_CASES(cases, run)                                                                  \
	int main(void)                                                                             \
	{                                                                                          \
		struct CMUnitTest tests[sizeof(cases) / sizeof(*(cases))];                         \
                                                                                                   \
		for (size_t i = 0; i < sizeof(cases) / sizeof(*(cases)); i++)                      \
			tests[i] = (struct CMUnitTest){ .name = (cases)[i].name,                   \
							.test_func = (run),                        \
							.initial_state = (void *)&(cases)[i] };    \
		cmocka_set_message_output(CM_OUTPUT_TAP);                                          \
		return cmocka_run_group_tests(tests, NULL, NULL);                                  \
	}

#endif
