// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What the words of -e -p -t -c -g -C mean. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "event/select/select.h"

#define LEN(table) (sizeof(table) / sizeof(*(table)))
#define WORDS(...)                                                                                 \
	(const char *[]){ __VA_ARGS__ }, sizeof((const char *[]){ __VA_ARGS__ }) / sizeof(char *)

static struct tap_select *select_of(struct tap_select_opts opts)
{
	struct tap_select *s;
	struct tap_err err = { 0 };

	opts.size = sizeof(opts);
	assert_int_equal(tap_select_new(&opts, &s, &err), 0);
	return s;
}

/* Which of these each word selects, a letter each. */
static const struct tap_select_name events[] = {
	{ "sched", "sched_switch" }, /* a: of the group sched */
	{ "sched", "sched_stat_runtime" }, /* b: of the system alone */
	{ "schedtap", "sched_pelt_cfs" }, /* c: of the group pelt */
	{ "power", "cpu_idle" }, /* d: of the group idle */
	{ "timer", "timer_start" }, /* e */
	{ "timer_migration", "tmigr" }, /* f */
	{ "app", "timer" }, /* g: a program's, called like a system */
	{ "energy", "used" }, /* h: a program's, whose system is called like a group */
	{ "irq", "irq_handler_entry" }, /* i: of the group irq */
	{ "irq", "tasklet_entry" }, /* j: of the system alone */
	{ "a*b", "x" }, /* k */
};

static const struct {
	const char *word, *selected;
} word_cases[] = {
	/* a name */
	{ "sched_switch", "a" },
	{ "sched_switc", "" },
	{ "Sched_switch", "" },
	{ "sched_*", "abc" },
	{ "*", "abcdefghijk" },
	{ "*_entry", "ij" },
	{ "timer_[a-r]*", "" },
	{ "timer_[!a-r]*", "e" },
	{ "timer\\_start", "e" },
	/* a group, called like a system or not */
	{ "sched", "a" },
	{ "irq", "i" },
	{ "pelt", "c" },
	{ "idle", "d" },
	{ "energy", "h" },
	/* a system, by its name alone */
	{ "timer", "eg" },
	{ "schedtap", "c" },
	{ "time", "" },
	{ "timer*", "eg" },
	{ "a*b", "" },
	/* both parts */
	{ "sched:*", "ab" },
	{ "sched:sched_switch", "a" },
	{ "sched*:*", "abc" },
	{ "*:*_s*", "abe" },
	{ "*:timer", "g" },
	{ "timer:*", "e" },
	{ "*:sched", "" },
	{ "energy:*", "h" },
	{ "a\\*b:x", "k" },
	{ "a:b:c", "" },
};

static void test_words(void **state)
{
	(void)state;
	for (size_t i = 0; i < LEN(word_cases); i++) {
		struct tap_select *s = select_of(
			(struct tap_select_opts){ .events = &word_cases[i].word, .nr_events = 1 });
		char selected[LEN(events) + 1] = "";

		for (size_t k = 0; k < LEN(events); k++)
			if (tap_select_event(s, events[k].system, events[k].name))
				snprintf(selected + strlen(selected), 2, "%c", (char)('a' + k));
		if (strcmp(selected, word_cases[i].selected))
			fail_msg("-e '%s' selects '%s', not '%s'", word_cases[i].word, selected,
				 word_cases[i].selected);
		tap_select_free(s);
	}
}

static void test_several_words(void **state)
{
	struct tap_select *s =
		select_of((struct tap_select_opts){ .events = WORDS("timer", "sched") });

	(void)state;
	assert_true(tap_select_event(s, "timer", "timer_start"));
	assert_true(tap_select_event(s, "sched", "sched_switch"));
	assert_false(tap_select_event(s, "irq", "irq_handler_entry"));
	assert_false(tap_select_word_fits(&s->events[0], "sched", "sched_switch"));
	tap_select_free(s);
}

static const struct {
	const char *word, *says;
} near_cases[] = {
	{ "sched_swich", ": did you mean 'sched_switch'?" },
	{ "sched:sched_swich", ": did you mean 'sched_switch'?" },
	{ "tiner", ": did you mean 'timer'?" },
	{ "pelf", ": did you mean 'pelt'?" },
	{ "x:pelf", "" },
	{ "task", ": did you mean 'task:*'?" },
	{ "nothing_like_it", "" },
};

static void test_near(void **state)
{
	static const struct tap_select_name there[] = {
		{ "sched", "sched_switch" },
		{ "timer", "timer_start" },
		{ "schedtap", "sched_pelt_cfs" },
		{ "task", "task_rename" },
	};

	(void)state;
	for (size_t i = 0; i < LEN(near_cases); i++) {
		struct tap_select *s = select_of(
			(struct tap_select_opts){ .events = &near_cases[i].word, .nr_events = 1 });
		struct tap_buf said = { 0 };

		tap_select_suggest(s->events, there, LEN(there), &said);
		assert_string_equal(tap_buf_str(&said), near_cases[i].says);
		tap_buf_release(&said);
		tap_select_free(s);
	}
}

static const struct {
	const char *name;
	struct tap_select_opts opts;
	struct tap_select_task task;
	bool want;
} task_cases[] = {
	{ "no options: all tasks", {}, { 5, -1 }, true },
	{ "-t", { .tids = WORDS("7", "5") }, { 5, -1 }, true },
	{ "-t of another", { .tids = WORDS("7") }, { 5, 7 }, false },
	{ "-t 0: idle", { .tids = WORDS("0") }, { 0, 0 }, true },
	{ "-t 0 is no task that is not known", { .tids = WORDS("0") }, { -1, -1 }, false },
	{ "-t: the greatest number", { .tids = WORDS("4194304") }, { 4194304, 1 }, true },
	{ "-p", { .tgids = WORDS("7") }, { 5, 7 }, true },
	{ "-p of another", { .tgids = WORDS("5") }, { 5, 7 }, false },
	{ "-p: a process that is not known is called like the task",
	  { .tgids = WORDS("5") },
	  { 5, -1 },
	  true },
	{ "-c", { .comms = WORDS("x", "ap?*") }, { 5, 5, "apple", 5 }, true },
	{ "-c: all of the name", { .comms = WORDS("app") }, { 5, 5, "apple", 5 }, false },
	{ "-c: no more than the name", { .comms = WORDS("app") }, { 5, 5, "apple", 3 }, true },
	{ "-c: up to its NUL", { .comms = WORDS("app") }, { 5, 5, "app", 16 }, true },
	{ "-c: a name that is not known", { .comms = WORDS("*") }, { 5, 5 }, false },
	{ "-c: an empty name", { .comms = WORDS("*") }, { 5, 5, "", 0 }, false },
	{ "-c: more than an automaton holds",
	  { .comms = WORDS("123456789012345678901234567890", "223456789012345678901234567890",
			   "a") },
	  { 5, 5, "a", 1 },
	  true },
	{ "-c: longer than an automaton",
	  { .comms = WORDS("1234567890123456789012345678901234567890123456789012345678901234") },
	  { 5, 5, "1234567890", 10 },
	  false },
	{ "-g", { .cgroups = WORDS("/user") }, { 5, 5, .cgroup = "/user" }, true },
	{ "-g: below", { .cgroups = WORDS("/user") }, { 5, 5, .cgroup = "/user/bob/x" }, true },
	{ "-g: beside", { .cgroups = WORDS("/user") }, { 5, 5, .cgroup = "/user.x" }, false },
	{ "-g: above", { .cgroups = WORDS("/user/bob") }, { 5, 5, .cgroup = "/user" }, false },
	{ "-g: without the first slash, and with a last one",
	  { .cgroups = WORDS("user/") },
	  { 5, 5, .cgroup = "/user/bob" },
	  true },
	{ "-g: a glob, below",
	  { .cgroups = WORDS("*/b?b") },
	  { 5, 5, .cgroup = "/user/bob/x" },
	  true },
	{ "-g: a glob", { .cgroups = WORDS("*bob") }, { 5, 5, .cgroup = "/bob" }, true },
	{ "-g /: all", { .cgroups = WORDS("/") }, { 5, 5, .cgroup = "/user" }, true },
	{ "-g /: the root too", { .cgroups = WORDS("/") }, { 5, 5, .cgroup = "/" }, true },
	{ "-g *: the root too", { .cgroups = WORDS("*") }, { 5, 5, .cgroup = "/" }, true },
	{ "-g: one that is not known", { .cgroups = WORDS("*") }, { 5, 5 }, false },
	{ "-g: a folder's path",
	  { .cgroups = WORDS("/mnt/cg/user"), .cgroup_mount = "/mnt/cg" },
	  { 5, 5, .cgroup = "/user/bob" },
	  true },
	{ "-g: the mount itself",
	  { .cgroups = WORDS("/mnt/cg/"), .cgroup_mount = "/mnt/cg" },
	  { 5, 5, .cgroup = "/user" },
	  true },
	{ "-g: a folder beside the mount",
	  { .cgroups = WORDS("/mnt/cg2/user"), .cgroup_mount = "/mnt/cg" },
	  { 5, 5, .cgroup = "/2/user" },
	  false },
	{ "two options, both fit",
	  { .tids = WORDS("5"), .comms = WORDS("a") },
	  { 5, 5, "a", 1 },
	  true },
	{ "two options, one fits",
	  { .tids = WORDS("5"), .comms = WORDS("b") },
	  { 5, 5, "a", 1 },
	  false },
};

static void test_tasks(void **state)
{
	(void)state;
	for (size_t i = 0; i < LEN(task_cases); i++) {
		struct tap_select *s = select_of(task_cases[i].opts);

		if (tap_select_task(s, &task_cases[i].task) != task_cases[i].want)
			fail_msg("%s", task_cases[i].name);
		tap_select_free(s);
	}
}

static void test_one_option(void **state)
{
	struct tap_select *s =
		select_of((struct tap_select_opts){ .tids = WORDS("5"), .comms = WORDS("b") });
	const struct tap_select_task task = { 5, 5, "a", 1 };

	(void)state;
	assert_true(tap_select_task_by(s, TAP_SELECT_TIDS, &task));
	assert_false(tap_select_task_by(s, TAP_SELECT_COMMS, &task));
	assert_true(tap_select_task_by(s, TAP_SELECT_CGROUPS, &task));
	assert_int_equal(s->by, TAP_SELECT_TIDS | TAP_SELECT_COMMS);
	tap_select_free(s);
}

static void test_cpus(void **state)
{
	struct tap_select *all = select_of((struct tap_select_opts){ 0 });
	struct tap_select *some = select_of((struct tap_select_opts){ .cpus = "0,2-3" });

	(void)state;
	assert_true(tap_select_cpu(all, 70000) && tap_select_cpu(all, -1));
	assert_true(tap_select_cpu(some, 0) && tap_select_cpu(some, 3));
	assert_false(tap_select_cpu(some, 1) || tap_select_cpu(some, 4) ||
		     tap_select_cpu(some, -1));
	tap_select_free(all);
	tap_select_free(some);
}

static const struct {
	struct tap_select_opts opts;
	const char *says;
} bad_cases[] = {
	{ { .events = WORDS("") }, "-e: '' is not an event: expected NAME or SYSTEM:NAME" },
	{ { .events = WORDS("sched", ":x") },
	  "-e: ':x' is not an event: expected NAME or SYSTEM:NAME" },
	{ { .events = WORDS("x:") }, "-e: 'x:' is not an event: expected NAME or SYSTEM:NAME" },
	{ { .tgids = WORDS("cc1") },
	  "-p: 'cc1' is not a process or thread ID: use -c to select by name" },
	{ { .tgids = WORDS("1", "") },
	  "-p: '' is not a process or thread ID: use -c to select by name" },
	{ { .tids = WORDS("-1") },
	  "-t: '-1' is not a process or thread ID: use -c to select by name" },
	{ { .tids = WORDS("4194305") },
	  "-t: '4194305' is not a process or thread ID: use -c to select by name" },
	{ { .cpus = "1-" }, "-C: '1-' is not a list of CPUs: expected a list such as 0-3,8" },
	{ { .cpus = "" }, "-C: '' is not a list of CPUs: expected a list such as 0-3,8" },
};

static void test_bad(void **state)
{
	struct tap_select *s;

	(void)state;
	for (size_t i = 0; i < LEN(bad_cases); i++) {
		struct tap_select_opts opts = bad_cases[i].opts;
		struct tap_err err = { 0 };

		opts.size = sizeof(opts);
		assert_int_equal(tap_select_new(&opts, &s, &err), -EINVAL);
		assert_string_equal(err.text, bad_cases[i].says);
		assert_null(s);
	}
	tap_select_free(NULL);
}

/* What was built with an older header has less; with a newer one more, which must be zero. */
static void test_sizes(void **state)
{
	struct {
		struct tap_select_opts known;
		size_t more;
	} opts = { .known = { .size = offsetof(struct tap_select_opts, cpus), .cpus = "no list" } };
	struct tap_select *s;

	(void)state;
	assert_int_equal(tap_select_new(&opts.known, &s, NULL), 0);
	assert_true(tap_select_cpu(s, 5));
	tap_select_free(s);
	opts.known = (struct tap_select_opts){ .size = sizeof(opts), .cpus = "1" };
	assert_int_equal(tap_select_new(&opts.known, &s, NULL), 0);
	assert_false(tap_select_cpu(s, 5));
	tap_select_free(s);
	opts.more = 1;
	assert_int_equal(tap_select_new(&opts.known, &s, NULL), -EINVAL);
	opts.known.size = 0;
	assert_int_equal(tap_select_new(&opts.known, &s, NULL), -EINVAL);
	assert_null(s);
}

/* What it was made of may go. */
static void test_copies(void **state)
{
	char event[] = "app:x", tid[] = "5", comm[] = "a", cgroup[] = "/g", cpus[] = "1";
	const char *words[] = { event, tid, comm, cgroup };
	struct tap_select *s = select_of((struct tap_select_opts){ .events = words,
								   1,
								   .tids = words + 1,
								   1,
								   .comms = words + 2,
								   1,
								   .cgroups = words + 3,
								   1,
								   .cpus = cpus });

	(void)state;
	memset(event, 'z', 5);
	memset(words, 0, sizeof(words));
	*tid = *comm = *cgroup = *cpus = 'z';
	assert_true(tap_select_event(s, "app", "x"));
	assert_string_equal(s->events[0].text, "app:x");
	assert_true(tap_select_task(s, &(struct tap_select_task){ 5, 5, "a", 1, "/g" }));
	assert_string_equal(s->tids.text.v[0], "5");
	assert_string_equal(s->comms.v[0], "a");
	assert_string_equal(s->cgroups.v[0], "/g");
	assert_string_equal(s->cpu_list, "1");
	tap_select_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_words),	   cmocka_unit_test(test_several_words),
		cmocka_unit_test(test_near),	   cmocka_unit_test(test_tasks),
		cmocka_unit_test(test_one_option), cmocka_unit_test(test_cpus),
		cmocka_unit_test(test_bad),	   cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_copies),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
