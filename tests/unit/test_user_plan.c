// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What -e means where the kernel has no such event: as any user, with and without tracefs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "record/session/choose.h"

#define LEN(table) (sizeof(table) / sizeof(*(table)))

static const struct {
	const char *name;
	const char *pattern, *filter, *backend, *cgroup;
	int ret;
	const char *glob; /* for programs, or NULL */
	const char *says; /* part of the sentence or of the note, or NULL */
} cases[] = {
	{ "a system that the kernel does not have", "zzapp:*", NULL, NULL, NULL, 0, "zzapp:*",
	  "zzapp:*" },
	{ "a name of it", "zzapp:start", NULL, NULL, NULL, 0, "zzapp:start", "zzapp:start" },
	{ "a kernel's event", "sched:sched_switch", NULL, NULL, NULL, 0, NULL, NULL },
	{ "a slip in the system", "schd:sched_switch", NULL, NULL, NULL, 0, "schd:sched_switch",
	  "did you mean the kernel's 'sched'" },
	{ "a letter too many", "scheed:sched_switch", NULL, NULL, NULL, 0, "scheed:sched_switch",
	  "did you mean" },
	{ "another letter", "zched:sched_switch", NULL, NULL, NULL, 0, "zched:sched_switch",
	  "did you mean" },
	{ "two letters are another system", "zzhed:sched_switch", NULL, NULL, NULL, 0,
	  "zzhed:sched_switch", "zzhed" },
	{ "a slip in the name", "sched:sched_swich", NULL, NULL, NULL, -ENODATA, NULL,
	  "did you mean" },
	{ "programs alone", "sched:sched_switch", NULL, "user", NULL, 0, "sched:sched_switch",
	  NULL },
	{ "all of programs", NULL, NULL, "user", NULL, 0, "*:*", NULL },
	{ "a filter, for programs that come", "zzapp:*", "a == 1", NULL, NULL, 0, "zzapp:*",
	  "zzapp:*" },
	{ "a filter, programs alone", "zzapp:*", "a == 1", "user", NULL, 0, "zzapp:*", NULL },
	{ "cgroups", "zzapp:*", NULL, NULL, "/x", -EINVAL, NULL,
	  "cannot be filtered by cgroup (-g)" },
	{ "a kernel's system without events", "kprobes:foo", NULL, NULL, NULL, -ENODATA, NULL,
	  "no event matches" },
	{ "no system", ":sched_switch", NULL, NULL, NULL, -EINVAL, NULL, "NAME or SYSTEM:NAME" },
	{ "no name", "zzapp:", NULL, "user", NULL, -EINVAL, NULL, "NAME or SYSTEM:NAME" },
	{ "BPF alone", "zzapp:*", NULL, "bpf", NULL, -ENODATA, NULL, "no event matches" },
};

/* A misspelt name gets a hint from the known names: without tracefs those of our own definitions.
 */
static void test_cases(void **state)
{
	(void)state;
	for (size_t i = 0; i < LEN(cases); i++) {
		const struct tap_select_opts words = {
			.size = sizeof(words),
			.events = &cases[i].pattern,
			.nr_events = !!cases[i].pattern,
			.filters = &cases[i].filter,
			.nr_filters = !!cases[i].pattern,
			.cgroups = &cases[i].cgroup,
			.nr_cgroups = !!cases[i].cgroup,
		};
		struct tap_session_opts opts = { .backend = cases[i].backend };
		struct tap_select *select;
		struct tap_plan plan = { 0 };
		struct tap_err err = { 0 };
		const char *said = err.text;
		int ret;

		print_message("# %s\n", cases[i].name);
		ret = tap_select_new(&words, &select, &err);
		plan.select = select;
		ret = ret ?: tap_choose_events(&plan, &opts, &err);
		/* without tracefs or root the message says what to do */
		if (err.code == -EOPNOTSUPP || err.code == -EACCES) {
			assert_non_null(
				strstr(said, err.code == -EACCES ? "run as root" : "mount"));
			goto next;
		}
		assert_int_equal(ret, cases[i].ret);
		assert_int_equal(plan.nr_patterns, !!cases[i].glob);
		if (cases[i].glob) {
			assert_string_equal(plan.patterns[0].word ? plan.patterns[0].word->text
								  : "*:*",
					    cases[i].glob);
			said = plan.patterns[0].note;
			assert_int_equal(!!said, !!cases[i].says);
		}
		/* who may not read tracefs hears that instead */
		if (cases[i].says)
			assert_true(strstr(said, cases[i].says) ||
				    strstr(said, "cannot read tracefs"));
next:
		tap_plan_release(&plan);
		tap_select_free(select);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = { cmocka_unit_test(test_cases) };

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("user plan", tests, NULL, NULL);
}
