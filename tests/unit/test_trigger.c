// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What --trigger takes, and what it refuses, with which word. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "record/trigger.h"

#define LEN(table) (sizeof(table) / sizeof(*(table)))
#define NO TAP_TRIGGER_UNLIMITED

static const struct good {
	const char *text, *system, *name;
	enum tap_trigger_action action;
	const char *words, *of_system, *of_name;
	int64_t count;
	const char *filter;
} good[] = {
	{ "e: traceoff", NULL, "e", TAP_TRIGGER_TRACEOFF, "traceoff", NULL, NULL, NO, NULL },
	{ "s:e: traceon", "s", "e", TAP_TRIGGER_TRACEON, "traceon", NULL, NULL, NO, NULL },
	{ "e: traceoff:5", NULL, "e", TAP_TRIGGER_TRACEOFF, "traceoff", NULL, NULL, 5, NULL },
	{ "e: traceoff:0", NULL, "e", TAP_TRIGGER_TRACEOFF, "traceoff", NULL, NULL, 0, NULL },
	{ "  e:\ttraceoff:1  if  a == 1", NULL, "e", TAP_TRIGGER_TRACEOFF, "traceoff", NULL, NULL,
	  1, "a == 1" },
	{ "e: enable_event:s:f", NULL, "e", TAP_TRIGGER_ENABLE, "enable_event:s:f", "s", "f", NO,
	  NULL },
	{ "e: disable_event:s:f:3 if x == \" if \"", NULL, "e", TAP_TRIGGER_DISABLE,
	  "disable_event:s:f", "s", "f", 3, "x == \" if \"" },
	{ "e: stacktrace:2 if a", NULL, "e", TAP_TRIGGER_KERNELS, "stacktrace:2", NULL, NULL, NO,
	  "a" },
	{ "e: hist:keys=a:onmax(b).save(c, d) if a", NULL, "e", TAP_TRIGGER_KERNELS,
	  "hist:keys=a:onmax(b).save(c, d)", NULL, NULL, NO, "a" },
};

static const struct {
	const char *text, *says;
} bad[] = {
	{ "", "EVENT: ACTION" },
	{ "e", "EVENT: ACTION" },
	{ ": traceoff", "EVENT: ACTION" },
	{ "s:e:traceoff", "EVENT: ACTION" },
	{ "a:b:c: traceoff", "NAME or SYSTEM:NAME" },
	{ ":e: traceoff", "NAME or SYSTEM:NAME" },
	{ "../e: traceoff", "NAME or SYSTEM:NAME" },
	{ "e: ", "unknown action ''" },
	{ "e: if a == 1", "if FILTER" },
	{ "e: trace", "unknown action 'trace'" },
	{ "e: !traceoff", "no trigger to remove" },
	{ "e: traceoff:", "the count must be" },
	{ "e: traceoff:x", "the count must be" },
	{ "e: traceoff:-1", "the count must be" },
	{ "e: traceoff:1:2", "the count must be" },
	{ "e: traceoff:99999999999", "the count must be" },
	{ "e: traceoff a == 1", "if FILTER" },
	{ "e: traceoff if", "if FILTER" },
	{ "e: traceoff if ", "no filter" },
	{ "e: enable_event", "this action needs an event" },
	{ "e: enable_event:f", "this action needs an event" },
	{ "e: enable_event::f", "this action needs an event" },
	{ "e: enable_event:s:f:x", "the count must be" },
};

static void same(const char *what, const char *of, const char *a, const char *b)
{
	if (a == b || (a && b && !strcmp(a, b)))
		return;
	fail_msg("'%s': %s is '%s', not '%s'", of, what, a ? a : "(none)", b ? b : "(none)");
}

static void takes(void **state)
{
	(void)state;
	for (size_t i = 0; i < LEN(good); i++) {
		const struct good *g = &good[i];
		struct tap_err err = { 0 };
		struct tap_trigger t;

		if (tap_trigger_parse(g->text, &t, &err))
			fail_msg("'%s': %s", g->text, err.text);
		same("the system", g->text, t.system, g->system);
		same("the name", g->text, t.name, g->name);
		same("the action", g->text, t.words, g->words);
		same("the target's system", g->text, t.of_system, g->of_system);
		same("the target's name", g->text, t.of_name, g->of_name);
		same("the filter", g->text, t.filter, g->filter);
		assert_int_equal(t.action, g->action);
		assert_int_equal(t.count, g->count);
		tap_trigger_release(&t);
	}
}

static void refuses(void **state)
{
	(void)state;
	for (size_t i = 0; i < LEN(bad); i++) {
		struct tap_err err = { 0 };
		struct tap_trigger t;

		if (tap_trigger_parse(bad[i].text, &t, &err) != -EINVAL)
			fail_msg("'%s' is taken", bad[i].text);
		if (!strstr(err.text, bad[i].says))
			fail_msg("'%s': '%s' is not in: %s", bad[i].text, bad[i].says, err.text);
		assert_null(t.text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(takes),
		cmocka_unit_test(refuses),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
