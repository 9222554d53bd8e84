// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Which rows of a recording's lists are of which life of a tid. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/buf.h"
#include "timeline/run/identity.h"
#include "main_of_cases.h"
#include "steps.h"

/* A birth seen by the fork alone, one that has a task_newtask as well, and a death. */
#define FORK "100 0 fork 60 10; 101 0 new 10 by 60; "
#define BIRTH "100 0 newtask 60 10; 100 0 fork 60 10; 101 0 new 10 by 60; "
#define THREAD "100 0 newtask 60 10 thread; 101 0 new 10 by 60; "
#define RUNS "110 0 switch 60 S 10; "
#define DIES "120 0 switch 10 X 60; "
#define AGAIN "130 0 fork 60 10; 131 0 new 10 by 60; 140 0 switch 60 S 10; "

static const struct identity_case {
	const char *name, *rows, *steps;
	const char *want; /* "tgid:cgroup" of each life of task 10, "-" where it is not known */
} cases[] = {
	{ "no source knows it", "", RUNS, "-:-" },
	{ "a row is of who is there all along", "[10, 99, 'a', 5, 'both']", RUNS, "99:5" },
	{ "no event of the task", "[10, 99, 'a', 5, 'both']", "", "99:5" },
	{ "read when it began, of who is there", "[10, 99, 'a', 5, 'began']", RUNS, "99:5" },
	{ "read when it began, and dies then", "[10, 99, 'a', 5, 'began']", RUNS DIES, "99:5" },
	{ "read when it began, of a task born later", "[10, 99, 'a', 5, 'began']", FORK RUNS,
	  "-:-" },
	{ "read when it began, of a task born later with task_newtask", "[10, 99, 'a', 5, 'began']",
	  BIRTH RUNS, "10:-" },
	{ "read when it ended, of who is there", "[10, 99, 'a', 5, 'ended']", RUNS, "99:5" },
	{ "read when it ended, of who was born", "[10, 99, 'a', 5, 'ended']", FORK RUNS, "99:5" },
	{ "a birth goes before what was read", "[10, 99, 'a', 5, 'ended']", BIRTH RUNS, "10:5" },
	{ "read when it ended, of who was dead", "[10, 99, 'a', 5, 'ended']", FORK RUNS DIES,
	  "-:-" },
	{ "given out again: read when it began", "[10, 99, 'a', 5, 'began']", RUNS DIES AGAIN,
	  "99:5 -:-" },
	{ "given out again: read when it ended", "[10, 99, 'a', 5, 'ended']", RUNS DIES AGAIN,
	  "-:- 99:5" },
	{ "given out again: read both times, and another",
	  "[10, 99, 'a', 5, 'began'], [10, 98, 'b', 6, 'ended']", RUNS DIES AGAIN, "99:5 98:6" },
	{ "in any order", "[10, 98, 'b', 6, 'ended'], [10, 99, 'a', 5, 'began']", RUNS DIES AGAIN,
	  "99:5 98:6" },
	{ "given out again, unseen", "[10, 99, 'a', 5, 'began'], [10, 98, 'b', 6, 'ended']",
	  RUNS DIES "140 0 switch 60 S 10", "99:5 98:6" },
	{ "whose death is not yet seen has the first",
	  "[10, 99, 'a', 5, 'began'], [10, 98, 'b', 6, 'ended']", RUNS, "99:5" },
	{ "it moved meanwhile", "[10, 99, 'a', 5, 'began'], [10, 99, 'a', 6, 'ended']", RUNS,
	  "99:6" },
	{ "it moved, or another did: it is dead",
	  "[10, 99, 'a', 5, 'began'], [10, 99, 'a', 6, 'ended']", RUNS DIES, "99:5" },
	{ "no cgroup", "[10, 99, 'a', null, 'both']", RUNS, "99:-" },
	{ "an older recording: the first life", "[10, 99, 'a', 5]", RUNS DIES AGAIN, "99:5 -:-" },
	{ "an older recording: also if it was born", "[10, 99, 'a', 5]", FORK RUNS, "99:5" },
	{ "a thread of whom a row is of", "[60, 99, 'a', 5, 'began']", THREAD, "99:5" },
	{ "a thread of whom no row is of any more", "[60, 99, 'a', 5, 'ended']",
	  "90 0 fork 1 60; " THREAD "105 0 switch 60 X 10", "-:-" },
	{ "a thread of a dead one's tid", "[60, 99, 'a', 5, 'began']",
	  "80 0 switch 60 X 1; 90 0 fork 1 60; " THREAD, "-:-" },
	{ "a thread whose own row is of another life", "[60, 98, 'a', 5, 'both'], [10, 99, 'a', 5]",
	  THREAD, "98:5" },
	{ "who executes a program leads its process", "[10, 99, 'a', 5, 'both']",
	  RUNS "120 0 exec 10 10", "10:5" },
	{ "who ran is no longer new: its tid is given out again, unseen", "",
	  "80 0 switch 60 S 61; 90 0 switch 61 S 60; 100 0 newtask 60 10; 100 0 fork 60 10; " RUNS
	  "120 0 new 10 by 60",
	  "10:- -:-" },
	{ "rows that are none", "[10], 7, [10, -1, 'a', -1, 7], ['10', 99]", RUNS, "-:-" },
};

static json_t *make_meta(const char *rows)
{
	struct tap_buf text = { 0 };
	json_t *meta;

	tap_buf_printf(&text, "{\"tasks\": [%s]}", rows);
	for (char *s = text.data; *s; s++)
		*s = *s == '\'' ? '"' : *s;
	meta = json_loads(tap_buf_str(&text), 0, NULL);
	assert_non_null(meta);
	tap_buf_release(&text);
	return meta;
}

static void put(struct tap_buf *b, const struct tap_task *task)
{
	tap_buf_puts(b, b->len ? " " : "");
	if (tap_task_tgid(task) >= 0)
		tap_buf_printf(b, "%d", tap_task_tgid(task));
	else
		tap_buf_puts(b, "-");
	if (task->cgroup)
		tap_buf_printf(b, ":%d", (int)task->cgroup);
	else
		tap_buf_puts(b, ":-");
}

static void check(const struct identity_case *c, bool lives_only)
{
	struct tap_timeline_opts opts = { .window = TAP_WINDOW_ALL, .lives_only = lives_only };
	struct tap_task *const *tasks;
	struct tap_buf got = { 0 };
	struct tap_identities ids;
	json_t *meta = make_meta(c->rows);
	struct steps steps;
	unsigned int nr;

	steps_parse(&steps, c->steps);
	assert_int_equal(tap_identities_init(&ids, NULL, meta), 0);
	opts.lists = &ids.lists;
	assert_int_equal(tap_timeline_new(&opts, &ids.timeline), 0);
	for (unsigned int i = 0; i < steps.nr; i++)
		assert_int_equal(tap_timeline_event(ids.timeline, &steps.ev[i]), 0);
	tasks = tap_timeline_tasks(ids.timeline, &nr);
	for (unsigned int i = 0; i < nr; i++)
		if (tasks[i]->tid == 10)
			put(&got, tasks[i]);
	if (!tap_timeline_task(ids.timeline, 10))
		put(&got, tap_identity(&ids, 10));
	assert_string_equal(tap_buf_str(&got), c->want);
	tap_buf_release(&got);
	tap_timeline_free(ids.timeline);
	tap_identities_release(&ids);
	json_decref(meta);
	steps_release();
}

static void run_case(void **state)
{
	check(*state, false);
	check(*state, true);
}

MAIN_OF_CASES(cases, run_case)
