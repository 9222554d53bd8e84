// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>

#include "analysis/condition/condition.h"
#include "analysis/condition/parsed.h"

struct parse_case {
	const char *text;
	enum tap_condition_kind kind;
	enum tap_state state;
	uint64_t limit;
	const char *event, *filter;
};

static const struct parse_case good[] = {
	{ "sched_process_exit", TAP_CONDITION_EVENT, .event = "sched_process_exit" },
	{ " sched:sched_switch if prev_pid > 1", TAP_CONDITION_EVENT, .event = "sched:sched_switch",
	  .filter = "prev_pid > 1" },
	{ "waking > 5ms", TAP_CONDITION_STATE, TAP_STATE_WAKING, 5000000 },
	{ "preempted>20us if comm ~ \"nginx*\" && tgid == 5", TAP_CONDITION_STATE,
	  TAP_STATE_PREEMPTED, 20000, NULL, "comm ~ \"nginx*\" && tgid == 5" },
	{ "blocked > 1s if (pid != 4 || cgroup == 9) && prio < 100", TAP_CONDITION_STATE,
	  TAP_STATE_BLOCKED, 1000000000, NULL, "(pid != 4 || cgroup == 9) && prio < 100" },
	{ "throttled > 50ms", TAP_CONDITION_STATE, TAP_STATE_THROTTLED, 50000000 },
	{ "sleeping > 0", TAP_CONDITION_STATE, TAP_STATE_SLEEPING, 0 },
	{ "stopped > 2s", TAP_CONDITION_STATE, TAP_STATE_STOPPED, 2000000000 },
	{ "running > 1m", TAP_CONDITION_STATE, TAP_STATE_RUNNING, 60000000000 },
	{ "violation > 4ms if cpu == 2", TAP_CONDITION_VIOLATION, TAP_STATE_DEAD, 4000000, NULL,
	  "cpu == 2" },
	{ "rate(sched_switch) > 10000/s", TAP_CONDITION_RATE, TAP_STATE_DEAD, 10000,
	  "sched_switch" },
	{ "rate( sched_switch )>1/s if next_pid == 3 ", TAP_CONDITION_RATE, TAP_STATE_DEAD, 1,
	  "sched_switch", "next_pid == 3 " },
	{ "lost > 0", TAP_CONDITION_LOST, TAP_STATE_DEAD, 0 },
	{ "lost > 18446744073709551615", TAP_CONDITION_LOST, TAP_STATE_DEAD, UINT64_MAX },
};

static void test_good(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
		const struct parse_case *want = &good[i];
		struct tap_condition *c;
		struct tap_err err = { 0 };

		print_message("# %s\n", want->text);
		assert_int_equal(tap_condition_parse(want->text, &c, &err), 0);
		assert_string_equal(tap_condition_text(c), want->text);
		assert_int_equal(c->kind, want->kind);
		assert_int_equal(c->limit, want->limit);
		if (c->kind == TAP_CONDITION_STATE)
			assert_int_equal(c->state, want->state);
		if (want->event)
			assert_string_equal(tap_condition_word(c)->text, want->event);
		assert_string_equal(c->filter ? c->filter : "", want->filter ? want->filter : "");
		assert_int_equal(c->of_task != NULL, want->filter && !want->event);
		tap_condition_free(c);
	}
}

struct bad_case {
	const char *text;
	int caret; /* column; -1: the filter's own sentence */
	const char *says;
};

static const struct bad_case bad[] = {
	{ "", 0, "expected an event or a state" },
	{ "  ", 2, "expected an event or a state" },
	{ "> 5", 0, "expected an event or a state" },
	{ "waking", 6, "expected '>'" },
	{ "waking < 5ms", 7, "expected '>'" },
	{ "waking >= 5ms", 8, "expected '>'" },
	{ "waking > 5 ms", 9, "expected a time with its unit" },
	{ "waking > 40", 9, "expected a time with its unit" },
	{ "waking > soon", 9, "expected a time" },
	{ "waking > -1s", 9, "expected a time" },
	{ "waking >", 8, "expected a time" },
	{ "waking > 5ms when x", 13, "expected 'if'" },
	{ "waking > 5ms if", 15, "expected a filter" },
	{ "waking > 5ms if comm", -1, "bad filter for 'condition:waking'" },
	{ "waking > 5ms if waker == 1", -1, "bad filter for 'condition:waking'" },
	{ "waking > 5ms if changed(cpu)", 16, "changed()" },
	{ "dead > 1s", 0, "is not known" },
	{ "sched_switch > 5", 0, "only these can be compared" },
	{ "rate(sched_switch) > 5", 21, "number per second" },
	{ "rate(sched_switch) > 5/m", 21, "number per second" },
	{ "rate(sched_switch) > 5/sec", 21, "number per second" },
	{ "rate(sched_switch > 5/s", 18, "expected ')'" },
	{ "rate() > 5/s", 5, "expected an event" },
	{ "rate > 5/s", 0, "only these can be compared" },
	{ "lost > many", 7, "expected a number" },
	{ "lost > 5ms", 7, "expected a number" },
	{ "lost > 5 if comm == \"x\"", 9, "cannot be filtered" },
};

static void test_bad(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct tap_err err = { 0 };
		struct tap_condition *c;
		const char *shown, *caret;

		print_message("# %s\n", bad[i].text);
		assert_int_equal(tap_condition_parse(bad[i].text, &c, &err), -EINVAL);
		assert_null(c);
		assert_non_null(strstr(err.text, bad[i].says));
		shown = strchr(err.text, '\n');
		assert_non_null(shown);
		caret = strrchr(err.text, '\n');
		assert_string_equal(caret + strlen(caret) - 1, "^");
		if (bad[i].caret < 0)
			continue;
		assert_int_equal(strncmp(shown + 2, bad[i].text, strlen(bad[i].text)), 0);
		assert_int_equal(strlen(caret + 2) - 1, bad[i].caret);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_good),
					    cmocka_unit_test(test_bad) };

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("condition", tests, NULL, NULL);
}
