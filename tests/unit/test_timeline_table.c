// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * docs/timeline.md contains the table of timeline/transitions.h. With the argument "print" this
 * test prints the table as it must stand there; else it compares.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "timeline/transitions.h"

static const char *const phases[TAP_NR_PHASES + 1] = {
	[TAP_PHASE_UNSEEN] = "unseen",
	[TAP_PHASE_LOST] = "lost",
	[TAP_PHASE_RUNNING] = "running",
	[TAP_PHASE_RUNNING_WOKEN] = "running, woken",
	[TAP_PHASE_RUNNING_UNSEEN] = "running, unseen",
	[TAP_PHASE_RUNNING_UNSEEN_WOKEN] = "running, unseen, woken",
	[TAP_PHASE_PREEMPTED] = "preempted",
	[TAP_PHASE_WAKING] = "waking",
	[TAP_PHASE_WAKING_INFERRED] = "waking, inferred",
	[TAP_PHASE_ASLEEP] = "asleep",
	[TAP_PHASE_ASLEEP_DOUBTFUL] = "asleep, doubtful",
	[TAP_PHASE_ASLEEP_WOKEN] = "asleep, woken",
	[TAP_PHASE_ASLEEP_WOKEN_EARLY] = "asleep, woken early",
	[TAP_PHASE_THROTTLED] = "throttled",
	[TAP_PHASE_DEAD] = "dead",
	[TAP_PHASE_BY_EVENT] = "(1)",
};

static const char *const signs[TAP_NR_SIGNS] = {
	[TAP_SIGN_IN] = "switched in",
	[TAP_SIGN_OUT] = "switched out",
	[TAP_SIGN_WAKING] = "sched_waking",
	[TAP_SIGN_WAKEUP] = "sched_wakeup",
	[TAP_SIGN_MOVED] = "sched_migrate_task",
	[TAP_SIGN_THROTTLED] = "sched_throttle",
	[TAP_SIGN_UNTHROTTLED] = "sched_unthrottle",
};

static const char *const amendments[] = {
	[TAP_AMEND_NOTHING] = "",
	[TAP_AMEND_LOSE] = "lost",
	[TAP_AMEND_WAKE_LATE] = "waking, inferred (2)",
	[TAP_AMEND_BREAK] = "lost (3)",
};

static bool says_something(const struct tap_rule *rule)
{
	return rule->next || rule->amend;
}

static void put_row(struct tap_buf *b, enum tap_sign sign, enum tap_phase phase)
{
	const struct tap_rule *rule = &tap_rules[sign][phase];
	const char *end = rule->fits					? "now"
			  : rule->ends || rule->amend == TAP_AMEND_LOSE ? "earlier"
									: "";

	tap_buf_printf(b, "| %s | %s | %s | %s | %s | %s |\n", signs[sign], phases[phase],
		       amendments[rule->amend], rule->next ? phases[rule->next] : "", end,
		       rule->plain ? "yes" : "");
}

static void put_table(struct tap_buf *b)
{
	tap_buf_puts(b, "| event | phase | first becomes | becomes | its state ended | plain "
			"|\n|---|---|---|---|---|---|\n");
	for (int sign = 0; sign < TAP_NR_SIGNS; sign++)
		for (int phase = 0; phase < TAP_NR_PHASES; phase++)
			if (says_something(&tap_rules[sign][phase]))
				put_row(b, (enum tap_sign)sign, (enum tap_phase)phase);
}

static void test_document(void **state)
{
	static char text[1 << 16];
	struct tap_buf b = { 0 };
	FILE *f = fopen("docs/timeline.md", "re");
	size_t len;

	(void)state;
	assert_non_null(f);
	len = fread(text, 1, sizeof(text) - 1, f);
	text[len] = '\0';
	fclose(f);
	put_table(&b);
	if (!strstr(text, tap_buf_str(&b)))
		print_message("# docs/timeline.md must contain what "
			      "'build/tests/unit/test_timeline_table print' prints\n");
	assert_non_null(strstr(text, tap_buf_str(&b)));
	tap_buf_release(&b);
}

/* What fast_path.h and docs/timeline.md say of every row. */
static void test_rows(void **state)
{
	(void)state;
	for (int sign = 0; sign < TAP_NR_SIGNS; sign++)
		for (int phase = 0; phase < TAP_NR_PHASES; phase++) {
			const struct tap_rule *rule = &tap_rules[sign][phase];

			assert_true(!rule->plain || (rule->fits && !rule->amend));
			assert_true(!rule->fits || rule->ends);
			assert_true(!rule->ends || rule->next);
			assert_true(phase != TAP_PHASE_DEAD || !says_something(rule));
		}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_document),
	};
	struct tap_buf b = { 0 };

	if (argc == 2 && !strcmp(argv[1], "print")) {
		put_table(&b);
		fputs(tap_buf_str(&b), stdout);
		tap_buf_release(&b);
		return 0;
	}
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
