// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "timeline/run/pick.h"
#include "timeline/run/time_option.h"
#include "main_of_cases.h"
#include "sched_events.h"

/* 31 and 32 are threads of 30, 31 in a group of its own; 41's process is not known. */
static const char meta[] = "{\"tasks\": [[30, 30, \"app\"], [31, 30, \"app-a\", 6], [32, 30, "
			   "\"app-b\", -6], [\"bad\", 1], 7, [50], [0, 30, \"app\"]], \"cgroups\": "
			   "[[5, \"/user\"], [6, \"/user/bob\"], [7, \"/username\"], [8], [9, 9]]}";

/* clang-format off */
#define WORDS(...) { (const char *[]){ __VA_ARGS__ }, sizeof((const char *[]){ __VA_ARGS__ }) / \
	sizeof(char *) }
/* clang-format on */

struct pick_case {
	const char *name;
	struct tap_select_words words;
	struct step step;
	int want; /* of tap_pick_init() if below 0, else of tap_pick_match() */
	const char *window;
};

static const struct pick_case cases[] = {
	{ "without options all is picked", {}, { SWITCH, 5, 0, 1, 2 }, 1 },

	{ "-e NAME", { .events = WORDS("sched_switch") }, { SWITCH, 5 }, 1 },
	{ "-e NAME is no other event", { .events = WORDS("sched_switch") }, { WAKING, 5 }, 0 },
	{ "-e NAME is whole", { .events = WORDS("sched_wakeup") }, { WAKEUP_NEW, 5 }, 0 },
	{ "-e glob", { .events = WORDS("sched_wak*") }, { WAKEUP_NEW, 5 }, 1 },
	{ "-e SYSTEM:glob", { .events = WORDS("sched:*") }, { WAKING, 5 }, 1 },
	{ "-e SYSTEM:glob keeps to the system", { .events = WORDS("sched:*") }, { PELT, 5 }, 0 },
	{ "-e glob:NAME", { .events = WORDS("s*p:sched_pelt_cfs") }, { PELT, 5 }, 1 },
	{ "-e group", { .events = WORDS("pelt") }, { PELT, 5 }, 1 },
	{ "-e group is not the others", { .events = WORDS("pelt") }, { SWITCH, 5 }, 0 },
	{ "-e twice: either", { .events = WORDS("pelt", "sched_switch") }, { SWITCH, 5 }, 1 },
	{ "-e that no event matches", { .events = WORDS("sched_switch", "nope") }, {}, -ENODATA },
	{ "-e with an endless system",
	  { .events = WORDS(
		    "012345678901234567890123456789012345678901234567890123456789012345678901234567"
		    "89012345678901234567890123456789012345678901234567890123456789:x") },
	  {},
	  -ENODATA },

	{ "-t: the running task", { .tids = WORDS("1") }, { SWITCH, 5, 0, 1, 2 }, 1 },
	{ "-t: the next task", { .tids = WORDS("2") }, { SWITCH, 5, 0, 1, 2 }, 1 },
	{ "-t: a child", { .tids = WORDS("2") }, { FORK, 5, 0, 1, 2 }, 1 },
	{ "-t: another", { .tids = WORDS("3") }, { SWITCH, 5, 0, 1, 2 }, 0 },
	{ "-t twice: either", { .tids = WORDS("3", "2") }, { SWITCH, 5, 0, 1, 2 }, 1 },
	{ "-t 0 is idle", { .tids = WORDS("0") }, { SWITCH, 5, 0, 0, 2 }, 1 },
	{ "-t of a negative number", { .tids = WORDS("-1") }, {}, -EINVAL },
	{ "-t of a word", { .tids = WORDS("bash") }, {}, -EINVAL },
	{ "-t above all tids", { .tids = WORDS("2147483648") }, {}, -EINVAL },

	{ "-p: a thread of it", { .tgids = WORDS("30") }, { WAKING, 5, 0, 31 }, 1 },
	{ "-p: not its thread", { .tgids = WORDS("31") }, { WAKING, 5, 0, 31 }, 0 },
	{ "-p: a task whose process is unknown is its own",
	  { .tgids = WORDS("41") },
	  { WAKING, 5, 0, 41 },
	  1 },
	{ "-p of a word", { .tgids = WORDS("") }, {}, -EINVAL },

	{ "-c: the name in the event", { .comms = WORDS("t2") }, { SWITCH, 5, 0, 1, 2 }, 1 },
	{ "-c: the saved name of who runs", { .comms = WORDS("app*") }, { PELT, 5, 0, 31 }, 1 },
	{ "-c: idle goes by no other name", { .comms = WORDS("<idle>") }, { PELT, 5, 0, 0 }, 1 },
	{ "-c: another", { .comms = WORDS("t3") }, { SWITCH, 5, 0, 1, 2 }, 0 },
	{ "-c: no name is no match", { .comms = WORDS("*") }, { PELT, 5, 0, 41 }, 0 },
	{ "-t and -c of one task",
	  { .tids = WORDS("2"), .comms = WORDS("t2") },
	  { SWITCH, 5, 0, 1, 2 },
	  1 },
	{ "-t and -c of two tasks",
	  { .tids = WORDS("2"), .comms = WORDS("t1") },
	  { SWITCH, 5, 0, 1, 2 },
	  0 },

	{ "-g: the group", { .cgroups = WORDS("/user") }, { PELT, 5, 0, 5 }, 1 },
	{ "-g: below it", { .cgroups = WORDS("/user") }, { PELT, 5, 0, 6 }, 1 },
	{ "-g: not one that begins alike", { .cgroups = WORDS("/user") }, { PELT, 5, 0, 7 }, 0 },
	{ "-g: glob", { .cgroups = WORDS("/x", "*bob") }, { PELT, 5, 0, 6 }, 1 },
	{ "-g: an id without a path", { .cgroups = WORDS("*") }, { PELT, 5, 0, 8 }, 0 },
	{ "-g: an event without a cgroup", { .cgroups = WORDS("*") }, { SWITCH, 5, 0, 1, 2 }, 0 },

	{ "-g: an event of a task in it",
	  { .cgroups = WORDS("/user") },
	  { SWITCH, 5, 0, 31, 2 },
	  1 },
	{ "-g: an event about a task in it",
	  { .cgroups = WORDS("*bob") },
	  { SWITCH, 5, 0, 1, 31 },
	  1 },
	{ "-g: of a task in another",
	  { .cgroups = WORDS("/username") },
	  { SWITCH, 5, 0, 31, 2 },
	  0 },
	{ "-g: of a task in a group with a bad id",
	  { .cgroups = WORDS("*") },
	  { SWITCH, 5, 0, 32, 2 },
	  0 },
	{ "-g: what the event says counts", { .cgroups = WORDS("*bob") }, { PELT, 5, 0, 31 }, 0 },
	{ "-g and -t of one task",
	  { .cgroups = WORDS("*bob"), .tids = WORDS("31") },
	  { SWITCH, 5, 0, 31, 2 },
	  1 },
	{ "-g and -t of two tasks",
	  { .cgroups = WORDS("*bob"), .tids = WORDS("2") },
	  { SWITCH, 5, 0, 31, 2 },
	  0 },

	{ "-C: of the list", { .cpus = "0-1,3" }, { PELT, 5, 3 }, 1 },
	{ "-C: not of the list", { .cpus = "0-1,3" }, { PELT, 5, 2 }, 0 },
	{ "-C: no list", { .cpus = "1-" }, {}, -EINVAL },

	{ "--time: its borders are inside", {}, { PELT, 5 }, 1, "0.000000005,0.000000005" },
	{ "--time: before", {}, { PELT, 5 }, 0, "0.000000006," },
	{ "--time: after", {}, { PELT, 5 }, 0, ",0.000000004" },
	{ "--time: open at both ends", {}, { PELT, 5 }, 1, "," },

	{ "a loss is picked whatever is asked for",
	  { .events = WORDS("pelt"),
	    .tids = WORDS("9"),
	    .comms = WORDS("x"),
	    .cgroups = WORDS("x"),
	    .cpus = "7" },
	  { LOST, 5, 0, 4 },
	  1 },
	{ "a loss that reaches into the window", {}, { LOST, 5, 0, 4 }, 1, ",0.000000004" },
	{ "a loss after the window", {}, { LOST, 5, 0, 4 }, 0, ",0.000000003" },
	{ "a loss before the window", {}, { LOST, 5, 0, 4 }, 0, "0.000000006," },
};

static int match(const struct pick_case *c, struct tap_pick *pick, struct tap_identities *ids)
{
	struct tap_event_kinds kinds = { 0 };
	struct tap_event ev;
	struct rec rec;
	int ret;

	step_event(&c->step, &rec, &ev);
	ret = tap_pick_match(pick, ids, ev.fmt ? tap_event_kind(&kinds, ev.fmt) : NULL, &ev);
	tap_event_kinds_release(&kinds);
	return ret;
}

static void set_window(struct tap_pick *pick, const char *text)
{
	struct tap_time_option w;

	assert_int_equal(tap_time_option_parse(&w, text, NULL), 0);
	assert_int_equal(
		tap_time_option_resolve(&w, NULL, (struct tap_window){ 0 }, &pick->window, NULL),
		0);
}

static void run_case(void **state)
{
	const struct tap_format *fmts[NR_EVENT_KINDS];
	const struct pick_case *c = *state;
	struct tap_err err = { 0 };
	struct tap_pick pick;
	struct tap_identities ids;
	json_t *json = json_loads(meta, 0, NULL);
	int ret;

	for (int i = 0; i < LOST; i++)
		fmts[i] = &formats[i];
	assert_non_null(json);
	assert_int_equal(tap_identities_init(&ids, NULL, json), 0);
	ret = tap_pick_init(&pick, &c->words, fmts, LOST, &err);
	if (!ret) {
		set_window(&pick, c->window);
		ret = match(c, &pick, &ids);
		/* what is remembered from the first time says the same */
		assert_int_equal(match(c, &pick, &ids), ret);
		tap_pick_release(&pick);
	} else {
		assert_int_not_equal(err.text[0], '\0');
	}
	assert_int_equal(ret, c->want);
	tap_identities_release(&ids);
	json_decref(json);
}

MAIN_OF_CASES(cases, run_case)
