// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <time.h>

#include "analysis/condition/watch.h"
#include "growing_spool.h"

#define MAX_CONDITIONS 100
#define MAX_PARTS 4
/* This condition fires once all earlier ones have been reported; its step is "TIME 3 exit 999". */
#define SENTINEL "sched_process_exit if pid == 999"

struct watch_case {
	const char *name;
	const char *conditions[4];
	struct {
		const char *steps;
		uint64_t until_ns;
		const char *want; /* " TIME:CONDITION:TID:COMM" */
	} parts[MAX_PARTS];
};

/* From a state that is known: all run once on CPU 0. Task 1 is on it at 100, 2 and 3 sleep. */
#define BEGIN "10 0 switch 0 R 2; 20 0 switch 2 S 3; 30 0 switch 3 S 1; 5 1 switch 4 S 0\n"

static const struct watch_case cases[] = {
	{
		.name = "a wait is reported while it goes on, once it has lasted so long",
		.conditions = { "waking > 50ns" },
		.parts = {
			{ BEGIN "100 0 waking 2 by 1", 150, "" },
			{ "", 151, " 150:0:2:t2" },
			{ "", 300, "" },
			{ "400 0 switch 1 S 2", 500, "" },
		},
	},
	{
		.name = "a wait that ends before is not reported, nor one that ends just then",
		.conditions = { "waking > 50ns" },
		.parts = {
			{ BEGIN "100 0 waking 2 by 1; 140 0 switch 1 S 2", 300, "" },
			{ "310 0 waking 3 by 2; 360 0 switch 2 S 3", 500, "" },
			{ "510 0 waking 2 by 3; 561 0 switch 3 S 2", 600, " 560:0:2:t2" },
		},
	},
	{
		.name = "the next wait of the same task is another",
		.conditions = { "waking > 50ns" },
		.parts = {
			{ BEGIN "100 0 waking 2 by 1; 160 0 switch 1 S 2; 170 0 switch 2 S 0; 180 0 waking 2 by 0", 231,
			  " 150:0:2:t2 230:0:2:t2" },
			{ "240 0 switch 0 R 2; 250 0 switch 2 S 0; 260 0 waking 2 by 0", 400, " 310:0:2:t2" },
		},
	},
	{
		.name = "two short waits are no long one",
		.conditions = { "waking > 50ns" },
		.parts = {
			{ BEGIN "100 0 waking 2 by 1; 110 0 switch 1 S 2; 120 0 switch 2 S 0; 130 0 waking 2 by 0", 180, "" },
			{ "", 181, " 180:0:2:t2" },
		},
	},
	{
		.name = "each limit of a wait is reported, also of a wait that began while a longer one was awaited",
		.conditions = { "waking > 200ns", "waking > 50ns", "waking > 50ns if tid == 3" },
		.parts = {
			{ BEGIN "100 0 waking 2 by 1; 160 0 switch 1 S 2; 165 0 switch 2 S 0; 170 0 waking 2 by 0", 221,
			  " 150:1:2:t2 220:1:2:t2" },
			{ "", 500, " 370:0:2:t2" },
			{ "510 0 switch 0 R 2; 520 0 waking 3 by 2", 1000, " 570:1:3:t3 570:2:3:t3 720:0:3:t3" },
		},
	},
	{
		.name = "preempted, sleeping, blocked and stopped",
		.conditions = { "preempted > 10ns", "sleeping > 20ns if tid == 1", "blocked > 30ns", "stopped > 40ns" },
		.parts = {
			{ BEGIN "100 0 switch 1 R 5; 200 0 switch 5 R+ 1; 210 0 switch 1 S 5; 300 0 switch 5 D 6;400 0 switch 6 T 0", 800, " 110:0:1:t1 230:1:1:t1 330:2:5:t5 440:3:6:t6" },
		},
	},
	{
		.name = "running, by what is known of the task",
		.conditions = { "running > 100ns if comm ~ \"t*\" && prio == 7 && cpu == 1 && pid == 8", "running > 150ns if tgid == 70" },
		.parts = {
			{ "10 0 switch 0 R 9; 10 1 switch 0 R 8!7", 200, " 110:0:8:t8" },
			{ "200 0 switch 9 S 7", 1000, " 350:1:7:t7" },
		},
	},
	{
		.name = "a fork's first wait",
		.conditions = { "waking > 50ns" },
		.parts = { { BEGIN "100 0 newtask 1 12; 100 0 fork 1 12; 101 0 new 12 by 1", 300, " 151:0:12:t12" } },
	},
	{
		.name = "a waking that came as its task was about to sleep: it waits since then",
		.conditions = { "waking > 500ns" },
		.parts = {
			{ BEGIN "100 1 waking 1 by 0; 110 0 switch 1 S 0; 200 1 wakeup 1 by 0", 600, "" },
			{ "", 800, " 610:0:1:t1" },
		},
	},
	{
		.name = "a wait that a hole touches is not certain, and not reported",
		.conditions = { "waking > 50ns", "lost > 2" },
		.parts = {
			{ BEGIN "100 0 waking 2 by 1; 140 1 lost 120 2", 300, "" },
			{ "310 0 switch 1 S 3; 320 1 lost 315 2; 330 0 waking 2 by 3", 600, " 320:1:-1:" },
		},
	},
	{
		.name = "losses add up until they are reported",
		.conditions = { "lost > 2", "lost > 0" },
		.parts = {
			{ BEGIN "140 1 lost 120 2", 200, " 140:1:-1:" },
			{ "240 1 lost 220 0", 300, " 240:0:-1: 240:1:-1:" },
			{ "340 1 lost 320 2", 400, " 340:1:-1:" },
		},
	},
	{
		.name = "events, by their filters",
		.conditions = { "sched_process_exit if pid == 2", "sched:sched_switch if next_comm ~ \"t3\"" },
		.parts = { { BEGIN "100 0 exit 2; 110 0 exit 3", 300, " 20:1:2:t2 100:0:2:t2" } },
	},
	{
		.name = "an idle CPU where a task might run that waits for another",
		.conditions = { "violation > 50ns if tid == 2", "waking > 1us" },
		.parts = {
			{ "5 1 switch 0 R 2; 10 1 switch 2 S 0; 10 0 switch 0 R 1; 100 0 waking 2 by 1 to 0", 150, "" },
			{ "", 200, " 150:0:2:t2" },
			{ "210 0 switch 1 S 2; 220 0 switch 2 S 1; 230 0 waking 2 by 1 to 0; 260 1 switch 0 R 9", 400, "" },
			{ "410 1 switch 9 S 0", 500, " 460:0:2:t2" },
		},
	},
};

struct watching {
	struct growing g;
	struct tap_condition *conditions[MAX_CONDITIONS + 1];
	unsigned int nr;
	struct tap_watch *w;
};

static void add_condition(struct watching *t, const char *text)
{
	struct tap_err err = { 0 };

	assert_int_equal(tap_condition_parse(text, &t->conditions[t->nr++], &err), 0);
}

static void start(struct watching *t)
{
	struct tap_err err = { 0 };

	add_condition(t, SENTINEL);
	if (tap_watch_new(t->conditions, t->nr, t->g.path, NULL, &t->w, &err))
		fail_msg("%s", err.text);
}

static void stop(struct watching *t)
{
	tap_watch_free(t->w);
	while (t->nr)
		tap_condition_free(t->conditions[--t->nr]);
	growing_remove(&t->g);
	steps_release();
}

static unsigned int index_of(const struct watching *t, const struct tap_condition *c)
{
	unsigned int i = 0;

	while (t->conditions[i] != c)
		i++;
	return i;
}

static void check(struct tap_buf *got, const char *want)
{
	assert_string_equal(tap_buf_str(got), want);
	tap_buf_release(got);
}

/* Check all conditions that fire before @until_ns. Some come only after the sentinel: those of
 * waits that go on, which become due a little later. */
static void take_all(struct watching *t, uint64_t until_ns, const char *want)
{
	struct tap_buf got = { 0 };
	struct tap_met met;
	char line[64];

	snprintf(line, sizeof(line), "%llu 3 exit 999", (unsigned long long)until_ns - 1);
	growing_steps(&t->g, line);
	growing_flush(&t->g);
	assert_int_equal(tap_watch_read(t->w, until_ns, NULL), 0);
	while (tap_watch_take(t->w, &met)) {
		if (met.condition != t->conditions[t->nr - 1])
			tap_buf_printf(&got, " %llu:%u:%d:%.16s", (unsigned long long)met.at_ns,
				       index_of(t, met.condition), met.tid, met.comm);
	}
	check(&got, want);
}

static void test_case(void **state)
{
	const struct watch_case *c = *state;
	struct watching t = { 0 };

	growing_make(&t.g);
	for (unsigned int i = 0; i < 4 && c->conditions[i]; i++)
		add_condition(&t, c->conditions[i]);
	start(&t);
	for (unsigned int i = 0; i < MAX_PARTS && c->parts[i].steps; i++) {
		growing_steps(&t.g, c->parts[i].steps);
		take_all(&t, c->parts[i].until_ns, c->parts[i].want);
	}
	stop(&t);
}

/* More than 4 within a second: reported once, and again after they have been fewer. */
static void test_rate(void **state)
{
	static const unsigned int at_ms[] = { 1,    300,  600,	900,  1200, 1500, 1600, 1650,
					      1700, 1800, 4000, 4001, 4002, 4003, 4004 };
	struct watching t = { 0 };

	(void)state;
	growing_make(&t.g);
	add_condition(&t, "rate(sched_process_exit) > 4/s if pid == 1");
	start(&t);
	for (unsigned int i = 0; i < sizeof(at_ms) / sizeof(*at_ms); i++) {
		char line[64];

		snprintf(line, sizeof(line), "%llu 0 exit 1", at_ms[i] * 1000000ull);
		growing_steps(&t.g, line);
	}
	take_all(&t, 5000000000, " 1650000000:0:1:t1 4004000000:0:1:t1");
	stop(&t);
}

/* A hundred conditions on one wait. */
static void test_hundred(void **state)
{
	struct watching t = { 0 };
	struct tap_buf want = { 0 };

	(void)state;
	growing_make(&t.g);
	for (unsigned int i = 0; i < MAX_CONDITIONS; i++) {
		char text[64];

		snprintf(text, sizeof(text), "waking > %uns", 1000 - 10 * i);
		add_condition(&t, text);
		tap_buf_printf(&want, " %u:%u:2:t2", 110 + 10 * i, MAX_CONDITIONS - 1 - i);
	}
	start(&t);
	growing_steps(&t.g, BEGIN "100 0 waking 2 by 1");
	take_all(&t, 2000, tap_buf_str(&want));
	tap_buf_release(&want);
	stop(&t);
}

/* The queue is full of one condition: its repeats are counted, another's first is not lost. */
static void test_full(void **state)
{
	unsigned int of[3] = { 0 };
	struct watching t = { 0 };
	struct tap_met met;

	(void)state;
	growing_make(&t.g);
	add_condition(&t, "sched_process_exit if pid == 1");
	add_condition(&t, "sched_process_exit if pid == 2");
	start(&t);
	for (unsigned int i = 0; i < 1000; i++)
		growing_steps(&t.g, "100 0 exit 1");
	growing_steps(&t.g, "200 0 exit 2; 300 0 exit 999");
	growing_flush(&t.g);
	assert_int_equal(tap_watch_read(t.w, 301, NULL), 0);
	while (tap_watch_take(t.w, &met))
		of[index_of(&t, met.condition)]++;
	assert_int_equal(of[0], 256);
	assert_int_equal(of[1], 1);
	assert_int_equal(of[2], 1);
	assert_int_equal(tap_watch_dropped(t.w), 744);
	stop(&t);
}

struct refused_case {
	const char *condition, *says;
};

static const struct refused_case refused[] = {
	{ "sched_migrated", "not recorded" },
	{ "sched_switch if next_word == \"x\"", "bad filter for 'sched:sched_switch'" },
	{ "sched_switch if changed(next_pid)", "changed()" },
};

static void test_refused(void **state)
{
	struct growing g;

	(void)state;
	growing_make(&g);
	for (size_t i = 0; i < sizeof(refused) / sizeof(*refused); i++) {
		struct tap_condition *c;
		struct tap_err err = { 0 };
		struct tap_watch *w;

		assert_int_equal(tap_condition_parse(refused[i].condition, &c, &err), 0);
		assert_int_equal(tap_watch_new(&c, 1, g.path, NULL, &w, &err), -EINVAL);
		assert_null(w);
		assert_non_null(strstr(err.text, refused[i].says));
		tap_condition_free(c);
	}
	growing_remove(&g);
	steps_release();
}

int main(void)
{
	const size_t nr = sizeof(cases) / sizeof(*cases);
	struct CMUnitTest tests[sizeof(cases) / sizeof(*cases) + 4] = {
		cmocka_unit_test(test_rate),
		cmocka_unit_test(test_hundred),
		cmocka_unit_test(test_full),
		cmocka_unit_test(test_refused),
	};

	for (size_t i = 0; i < nr; i++)
		tests[4 + i] = (struct CMUnitTest){ .name = cases[i].name,
						    .test_func = test_case,
						    .initial_state = (void *)&cases[i] };
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return _cmocka_run_group_tests("watch", tests, nr + 4, NULL, NULL);
}
