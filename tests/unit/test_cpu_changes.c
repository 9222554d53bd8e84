// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/cpu_changes.h"

#define MAX_STEPS 8
#define START 100u

enum what { UNKNOWN = -2, IDLE = -1 }; /* or the number of a task; from 5 on they are not wanted */

struct step {
	int cpu;
	uint64_t from_ns, to_ns;
	int what;
};

struct changes_case {
	const char *name;
	unsigned int seen; /* bits: CPUs that the timeline knows at the window's start */
	struct step steps[MAX_STEPS];
	/* "time:cpu=what", a "|" where .steps end: changes after it were reported only at the end
	 */
	const char *want;
};

static const struct changes_case cases[] = {
	{
		.name = "changes come in time order, though intervals come as they end",
		.seen = 3,
		.steps = { { 0, 100, 110, 1 },
			   { 0, 110, 120, 2 },
			   { 1, 100, 130, IDLE },
			   { 0, 120, 150, IDLE },
			   { 1, 130, 150, 1 } },
		.want = "100:0=t1 100:1=idle 110:0=t2 120:0=idle 130:1=t1 |",
	},
	{
		.name = "a change waits while another CPU may have an earlier one",
		.seen = 3,
		.steps = { { 0, 100, 110, 1 }, { 0, 110, 120, 2 } },
		.want = "|100:0=t1 110:0=t2 ",
	},
	{
		.name = "at the same time the lower CPU comes first",
		.seen = 7,
		.steps = { { 2, 100, 120, 1 }, { 1, 100, 120, 2 }, { 0, 100, 120, 3 } },
		.want = "100:0=t3 100:1=t2 100:2=t1 |",
	},
	{
		.name = "what a CPU shows already is no change, and unknown is what it shows first",
		.seen = 1,
		.steps = { { 0, 100, 110, UNKNOWN },
			   { 0, 110, 120, 1 },
			   { 0, 120, 130, 1 },
			   { 0, 130, 140, UNKNOWN },
			   { 0, 140, 150, UNKNOWN } },
		.want = "110:0=t1 130:0=unknown |",
	},
	{
		.name = "what takes no time is no change",
		.seen = 1,
		.steps = { { 0, 100, 110, 1 }, { 0, 110, 110, 2 }, { 0, 110, 120, 3 } },
		.want = "100:0=t1 110:0=t3 |",
	},
	{
		.name = "tasks that are not looked for are one",
		.seen = 1,
		.steps = { { 0, 100, 110, 5 }, { 0, 110, 120, 6 }, { 0, 120, 130, 1 } },
		.want = "100:0=other 120:0=t1 |",
	},
	{
		.name = "nothing waits for a CPU that is seen later",
		.seen = 1,
		.steps = { { 0, 100, 110, 1 },
			   { 0, 110, 120, IDLE },
			   { 1, 100, 125, UNKNOWN },
			   { 0, 120, 130, 2 },
			   { 1, 125, 140, 1 } },
		.want = "100:0=t1 110:0=idle 120:0=t2 125:1=t1 |",
	},
};

/* What the changes ask of a timeline. */
struct tap_timeline {
	struct tap_cpu cpus[4];
};

const struct tap_cpu *tap_timeline_cpus(const struct tap_timeline *t, unsigned int *nr)
{
	*nr = 4;
	return t->cpus;
}

struct tap_window tap_timeline_window(const struct tap_timeline *t)
{
	(void)t;
	return (struct tap_window){ START, UINT64_MAX };
}

struct got {
	char text[1024];
};

static int on_change(void *ctx, const struct tap_cpu_change *c)
{
	static const char *const what[] = {
		[TAP_CPU_SHOWS_UNKNOWN] = "unknown",
		[TAP_CPU_SHOWS_IDLE] = "idle",
		[TAP_CPU_SHOWS_RUN] = "t",
		[TAP_CPU_SHOWS_OTHER] = "other",
	};
	char *text = ((struct got *)ctx)->text, number[16] = "";
	size_t len = strlen(text);

	if (c->task)
		snprintf(number, sizeof(number), "%d", c->task->tid);
	snprintf(text + len, 1024 - len, "%u:%d=%s%s ", (unsigned int)c->ts_ns, c->cpu,
		 what[c->what], number);
	return 0;
}

static bool wants(void *ctx, const struct tap_task *task)
{
	(void)ctx;
	return task->tid < 5;
}

static void run_case(void **state)
{
	const struct changes_case *c = *state;
	struct got got = { "" };
	struct tap_cpu_changes w = { .wants = wants, .change = on_change, .ctx = &got };
	struct tap_timeline t = { 0 };
	struct tap_task tasks[8];

	for (int i = 0; i < 4; i++)
		t.cpus[i].seen = c->seen >> i & 1;
	for (int i = 0; i < 8; i++)
		tasks[i] = (struct tap_task){ .tid = i };
	for (const struct step *s = c->steps; s < c->steps + MAX_STEPS && s->to_ns; s++) {
		struct tap_cpu_interval interval = {
			.cpu = s->cpu,
			.from_ns = s->from_ns,
			.to_ns = s->to_ns,
			.what = s->what == UNKNOWN ? TAP_CPU_UNKNOWN
				: s->what == IDLE  ? TAP_CPU_IDLE
						   : TAP_CPU_RUN,
			.task = s->what >= 0 ? &tasks[s->what] : NULL,
		};

		assert_int_equal(tap_cpu_changes_ops.cpu(&w, &t, &interval), 0);
	}
	strcat(got.text, "|");
	assert_int_equal(tap_cpu_changes_ops.end(&w, &t), 0);
	tap_cpu_changes_release(&w);
	assert_string_equal(got.text, c->want);
}

/* Many intervals in a mixed-up order of their starts come out in order. */
static int in_order(void *ctx, const struct tap_cpu_change *c)
{
	uint64_t *last_ns = ctx;

	assert_true(c->ts_ns >= *last_ns);
	*last_ns = c->ts_ns;
	return 0;
}

static void a_thousand_changes_stay_in_order(void **state)
{
	uint64_t last_ns = 0, from[4] = { START, START, START, START };
	struct tap_cpu_changes w = { .wants = wants, .change = in_order, .ctx = &last_ns };
	const struct tap_timeline t = {
		{ { .seen = true }, { .seen = true }, { .seen = true }, { .seen = true } }
	};
	struct tap_task tasks[2] = { { .tid = 1 }, { .tid = 2 } };

	(void)state;
	for (uint64_t i = 1; i <= 1000; i++) {
		int cpu = i % 100 ? (int)(i % 3) : 3; /* one CPU seldom switches */
		struct tap_cpu_interval s = { .cpu = cpu,
					      .what = TAP_CPU_RUN,
					      .task = &tasks[i & 1],
					      .from_ns = from[cpu],
					      .to_ns = START + 10 * i };

		assert_int_equal(tap_cpu_changes_ops.cpu(&w, &t, &s), 0);
		from[cpu] = s.to_ns;
	}
	assert_int_equal(tap_cpu_changes_ops.end(&w, &t), 0);
	assert_int_equal(last_ns, START + 10 * 996); /* where the 999th began */
	tap_cpu_changes_release(&w);
}

/*
 * CPU 3 runs task 3 all the time and turns out unknown at the end. Keep its first change in kept[1]
 * and the latest in kept[2]; count them in kept[0].cpu.
 */
static int keep_of_3(void *ctx, const struct tap_cpu_change *c)
{
	struct tap_cpu_change *kept = ctx;

	if (c->cpu == 3)
		kept[kept[0].cpu++ ? 2 : 1] = *c;
	return 0;
}

static bool wants_all(void *ctx, const struct tap_task *task)
{
	(void)ctx;
	(void)task;
	return true;
}

static void what_waits_is_bounded(void **state)
{
	struct tap_cpu_change kept[3] = { 0 };
	struct tap_cpu_changes w = { .wants = wants_all, .change = keep_of_3, .ctx = kept };
	struct tap_task third = { .tid = 3 };
	const struct tap_timeline t = {
		{ { .seen = true },
		  { .seen = true },
		  { .seen = true },
		  { .seen = true, .known = true, .task = &third } },
	};
	struct tap_task tasks[2] = { { .tid = 1 }, { .tid = 2 } };
	struct tap_cpu_interval last = { .cpu = 3, .what = TAP_CPU_UNKNOWN, .from_ns = START };
	uint64_t from_ns = 0;

	(void)state;
	for (unsigned int i = 1; i <= 5 * TAP_CPU_CHANGES_MAX; i++) {
		from_ns = START + 10 * (i - 1);
		for (int cpu = 0; cpu < 3; cpu++) {
			struct tap_cpu_interval s = {
				.cpu = cpu,
				.what = TAP_CPU_RUN,
				.task = &tasks[i & 1],
				.from_ns = from_ns,
				.to_ns = START + 10 * i,
			};

			assert_int_equal(tap_cpu_changes_ops.cpu(&w, &t, &s), 0);
			assert_in_range(w.nr, 0, TAP_CPU_CHANGES_MAX + 4);
		}
	}
	from_ns += 10;
	last.to_ns = from_ns;
	assert_int_equal(tap_cpu_changes_ops.cpu(&w, &t, &last), 0);
	last.from_ns = from_ns;
	last.to_ns = from_ns + 1;
	assert_int_equal(tap_cpu_changes_ops.cpu(&w, &t, &last), 0);
	assert_int_equal(tap_cpu_changes_ops.end(&w, &t), 0);
	assert_int_equal(kept[0].cpu, 2);
	assert_int_equal(kept[1].ts_ns, START);
	assert_int_equal(kept[1].what, TAP_CPU_SHOWS_RUN);
	assert_int_equal(kept[1].task->tid, 3);
	assert_int_equal(kept[2].what, TAP_CPU_SHOWS_UNKNOWN);
	assert_in_range(kept[2].ts_ns, START + 10 * 4 * TAP_CPU_CHANGES_MAX, from_ns);
	tap_cpu_changes_release(&w);
}

static void names_are_short_and_given_once(void **state)
{
	static const struct {
		uint64_t n;
		const char *name;
	} want[] = {
		{ 0, "A0" },
		{ 1, "B0" },
		{ 25, "Z0" },
		{ 26, "a0" },
		{ 51, "z0" },
		{ 52, "A1" },
		{ 519, "z9" },
		{ 520, "AA" },
		{ 3223, "zz" },
		{ 3224, "A00" },
		{ 3223 + 52 * 62 * 62, "zzz" },
		{ 3224 + 52 * 62 * 62, "A000" },
	};
	char name[TAP_SHORT_NAME_BYTES];

	(void)state;
	for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++) {
		assert_int_equal(tap_short_name(name, want[i].n), strlen(want[i].name));
		assert_string_equal(name, want[i].name);
	}
	assert_true(tap_short_name(name, UINT32_MAX) < TAP_SHORT_NAME_BYTES);
}

int main(void)
{
	enum { NR = sizeof(cases) / sizeof(*cases) };
	struct CMUnitTest tests[NR + 3] = {
		[NR] = cmocka_unit_test(a_thousand_changes_stay_in_order),
		[NR + 1] = cmocka_unit_test(what_waits_is_bounded),
		[NR + 2] = cmocka_unit_test(names_are_short_and_given_once),
	};

	for (size_t i = 0; i < NR; i++)
		tests[i] = (struct CMUnitTest){ .name = cases[i].name,
						.test_func = run_case,
						.initial_state = (void *)&cases[i] };
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
