// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "timeline/timeline.h"
#include "sched_events.h"

#define MAX_STEPS 12
#define MAX_CPUS 3
#define MAX_TASKS 5

struct want_task {
	int tid;
	const char *comm; /* NULL: not looked at */
	uint64_t run_ns, slices, wakeups, sum_ns, max_ns, max_at_ns;
};

struct timeline_case {
	const char *name;
	uint64_t window[2]; /* {0, 0}: from the first event to the last */
	struct step steps[MAX_STEPS];
	struct tap_timeline_cpu cpus[MAX_CPUS];
	struct want_task tasks[MAX_TASKS];
};

static const struct timeline_case cases[] = {
	{
		.name = "slices between switches belong to the task switched in",
		.window = { 100, 200 },
		.steps = { { SWITCH, 100, 0, 9, 1 }, { SWITCH, 130, 0, 1, 2 },
			   { SWITCH, 150, 0, 2, 1 }, { SWITCH, 200, 0, 1, 2 } },
		.cpus = { { true, 100, 0, 0, 4 } },
		.tasks = { { 1, "t1", 80, 2 }, { 2, "t2", 20, 2 }, { 9, "t9" } },
	},
	{
		.name = "before the first switch the time is unknown, after the last it is charged",
		.window = { 100, 200 },
		.steps = { { SWITCH, 140, 0, 9, 1 } },
		.cpus = { { true, 60, 0, 40, 1 } },
		.tasks = { { 1, "t1", 60, 1 }, { 9 } },
	},
	{
		.name = "idle is no task",
		.window = { 100, 200 },
		.steps = { { SWITCH, 100, 0, 1, 0 }, { SWITCH, 160, 0, 0, 1 },
			   { SWITCH, 170, 0, 1, 0 } },
		.cpus = { { true, 10, 90, 0, 3 } },
		.tasks = { { 1, "t1", 10, 1 } },
	},
	{
		.name = "a broken chain makes the time since the last switch unknown",
		.window = { 100, 200 },
		.steps = { { SWITCH, 100, 0, 9, 1 }, { SWITCH, 130, 0, 5, 2 },
			   { SWITCH, 150, 0, 2, 0 } },
		.cpus = { { true, 20, 50, 30, 3, 1 } },
		.tasks = { { 2, "t2", 20, 1 }, { 1 }, { 5 }, { 9 } },
	},
	{
		.name = "a loss on one CPU leaves the others alone",
		.window = { 100, 200 },
		.steps = { { SWITCH, 100, 0, 9, 1 }, { SWITCH, 100, 1, 9, 2 },
			   { LOST, 150, 0, 120, 7 }, { SWITCH, 160, 0, 1, 0 },
			   { SWITCH, 170, 1, 2, 0 } },
		.cpus = { { true, 20, 40, 40, 2, 0, 7 }, { true, 70, 30, 0, 2 } },
		.tasks = { { 2, "t2", 70, 1 }, { 1, "t1", 20, 1 }, { 9 } },
	},
	{
		.name = "after a loss a switch is no broken chain",
		.window = { 100, 200 },
		.steps = { { SWITCH, 100, 0, 9, 1 }, { LOST, 150, 0, 120 },
			   { SWITCH, 160, 0, 5, 0 } },
		.cpus = { { true, 20, 40, 40, 2 } },
		.tasks = { { 1, "t1", 20, 1 }, { 5 }, { 9 } },
	},
	{
		.name = "a loss at the end leaves the last slice open from there on",
		.window = { 100, 200 },
		.steps = { { SWITCH, 100, 0, 9, 1 }, { LOST, 190, 0, 180, 3 } },
		.cpus = { { true, 80, 0, 20, 1, 0, 3 } },
		.tasks = { { 1, "t1", 80, 1 }, { 9 } },
	},
	{
		.name = "a loss nobody knows the CPU of is on all of them",
		.window = { 100, 200 },
		.steps = { { SWITCH, 100, 0, 9, 1 }, { SWITCH, 100, 1, 9, 2 },
			   { LOST, 160, -1, 150, 7 } },
		.cpus = { { true, 50, 0, 50, 1 }, { true, 50, 0, 50, 1 } },
		.tasks = { { 1, "t1", 50, 1 }, { 2, "t2", 50, 1 }, { 9 } },
	},
	{
		.name = "a loss in a buffer without scheduler events says nothing about tasks",
		.window = { 100, 200 },
		.steps = { { SWITCH, 100, 0, 9, 1 }, { LOST, 150, 0, 120, 7, .buffer = 1 } },
		.cpus = { { true, 100, 0, 0, 1, 0, 7 } },
		.tasks = { { 1, "t1", 100, 1 }, { 9 } },
	},
	{
		.name = "a loss that says it begins after its end is taken from its end",
		.steps = { { SWITCH, 100, 0, 9, 1 }, { LOST, 150, 0, 900, 7 } },
		.cpus = { { true, 50, 0, 0, 1, 0, 7 } },
		.tasks = { { 1, "t1", 50, 1 }, { 9 } },
	},
	{
		.name = "slices are cut at the window's borders",
		.window = { 100, 200 },
		.steps = { { SWITCH, 50, 0, 9, 3 }, { SWITCH, 60, 0, 3, 1 },
			   { SWITCH, 150, 0, 1, 2 }, { SWITCH, 250, 0, 2, 4 },
			   { SWITCH, 260, 0, 4, 1 } },
		.cpus = { { true, 100, 0, 0, 1 } },
		.tasks = { { 1, "t1", 50, 1 }, { 2, "t2", 50, 1 }, { 3 }, { 4 }, { 9 } },
	},
	{
		.name = "breaks and wakeups outside the window do not count",
		.window = { 100, 200 },
		.steps = { { SWITCH, 50, 0, 9, 3 }, { SWITCH, 60, 0, 4, 0 }, { WAKING, 70, 0, 1 },
			   { SWITCH, 80, 0, 0, 1 }, { SWITCH, 190, 0, 1, 0 } },
		.cpus = { { true, 90, 10, 0, 1 } },
		.tasks = { { 1, "t1", 90, 1 }, { 3 }, { 4 }, { 9 } },
	},
	{
		.name = "without a window it begins where a first loss begins",
		.steps = { { LOST, 110, 0, 100 }, { SWITCH, 120, 0, 9, 1 }, { PELT, 150, 0 } },
		.cpus = { { true, 30, 0, 20, 1 } },
		.tasks = { { 1, "t1", 30, 1 }, { 9 } },
	},
	{
		.name = "a switch-in before its wakeup has no latency",
		.window = { 100, 200 },
		.steps = { { WAKING, 150, 0, 1 }, { SWITCH, 140, 0, 0, 1 } },
		.cpus = { { true, 60, 0, 40, 1 } },
		.tasks = { { 1, "t1", 60, 1 } },
	},
	{
		.name = "a window may be open at its start",
		.window = { 0, 130 },
		.steps = { { SWITCH, 100, 0, 9, 1 }, { SWITCH, 150, 0, 1, 2 } },
		.cpus = { { true, 30, 0, 0, 1 } },
		.tasks = { { 1, "t1", 30, 1 }, { 2 }, { 9 } },
	},
	{
		.name = "a window may be open at its end",
		.window = { 110, 0 },
		.steps = { { SWITCH, 100, 0, 9, 1 }, { SWITCH, 150, 0, 1, 2 } },
		.cpus = { { true, 40, 0, 0, 1 } },
		.tasks = { { 1, "t1", 40, 1 }, { 2, "t2", 0, 1 }, { 9 } },
	},
	{
		.name = "a loss that reaches into the window counts",
		.window = { 100, 200 },
		.steps = { { LOST, 90, 0, 80, 1 }, { LOST, 110, 0, 95, 2 },
			   { LOST, 250, 0, 190, 4 }, { LOST, 270, 0, 260, 8 } },
		.cpus = { { true, 0, 0, 100, 0, 0, 6 } },
	},
	{
		.name = "without a window it is from the first event to the last",
		.steps = { { WAKING, 100, 0, 1 }, { SWITCH, 110, 0, 0, 1 }, { PELT, 150, 0 } },
		.cpus = { { true, 40, 0, 10, 1 } },
		.tasks = { { 1, "t1", 40, 1, 1, 10, 10, 110 } },
	},
	{
		.name = "a CPU without a switch is unknown, and one without events is not seen",
		.window = { 100, 200 },
		.steps = { { PELT, 150, 1 } },
		.cpus = { { false }, { true, 0, 0, 100 } },
	},
	{
		.name = "latency is from the first stamp of a wakeup to the switch-in",
		.window = { 0, 200 },
		.steps = { { SWITCH, 0, 0, 9, 0 }, { WAKING, 100, 1, 1 }, { WAKEUP, 110, 0, 1 },
			   { WAKING, 115, 1, 1 }, { SWITCH, 130, 0, 0, 1 },
			   { SWITCH, 140, 0, 1, 0 }, { WAKING, 150, 1, 1 },
			   { SWITCH, 160, 0, 0, 1 } },
		.cpus = { { true, 50, 150, 0, 4 }, { true, 0, 0, 200 } },
		.tasks = { { 1, "t1", 50, 2, 2, 40, 30, 130 }, { 9 } },
	},
	{
		.name = "of two equal latencies the later is the worst",
		.window = { 100, 140 },
		.steps = { { WAKING, 100, 0, 1 }, { SWITCH, 110, 0, 0, 1 },
			   { SWITCH, 120, 0, 1, 0 }, { WAKING, 125, 0, 1 },
			   { SWITCH, 135, 0, 0, 1 } },
		.cpus = { { true, 15, 15, 10, 3 } },
		.tasks = { { 1, "t1", 15, 2, 2, 20, 10, 135 } },
	},
	{
		.name = "a wakeup counts where no waking was seen",
		.window = { 100, 200 },
		.steps = { { WAKEUP, 100, 0, 1 }, { SWITCH, 130, 0, 0, 1 } },
		.cpus = { { true, 70, 0, 30, 1 } },
		.tasks = { { 1, "t1", 70, 1, 1, 30, 30, 130 } },
	},
	{
		.name = "the waking of a running task does not count",
		.window = { 100, 200 },
		.steps = { { SWITCH, 100, 0, 0, 1 }, { WAKING, 110, 1, 1 },
			   { SWITCH, 120, 0, 1, 0 }, { SWITCH, 150, 0, 0, 1 } },
		.cpus = { { true, 70, 30, 0, 3 }, { true, 0, 0, 100 } },
		.tasks = { { 1, "t1", 70, 2 } },
	},
	{
		.name = "the waking of a task that turns out to run does not count",
		.window = { 100, 200 },
		.steps = { { WAKING, 110, 1, 1 }, { SWITCH, 120, 0, 1, 0 },
			   { SWITCH, 150, 0, 0, 1 } },
		.cpus = { { true, 50, 30, 20, 2 }, { true, 0, 0, 100 } },
		.tasks = { { 1, "t1", 50, 1 } },
	},
	{
		.name = "a wakeup ends at its switch-in, also where the chain breaks after it",
		.window = { 100, 200 },
		.steps = { { WAKING, 100, 0, 1 }, { SWITCH, 110, 0, 0, 1 }, { WAKING, 112, 0, 1 },
			   { SWITCH, 120, 0, 5, 0 }, { SWITCH, 150, 0, 0, 1 } },
		.cpus = { { true, 50, 30, 20, 3, 1 } },
		.tasks = { { 1, "t1", 50, 1, 1, 10, 10, 110 }, { 5 } },
	},
	{
		.name = "a task that enters two CPUs was woken once",
		.window = { 100, 200 },
		.steps = { { WAKING, 100, 0, 1 }, { SWITCH, 110, 0, 0, 1 },
			   { SWITCH, 120, 1, 0, 1 } },
		.cpus = { { true, 90, 0, 10, 1 }, { true, 80, 0, 20, 1 } },
		.tasks = { { 1, "t1", 170, 2, 1, 10, 10, 110 } },
	},
	{
		.name = "a preempted task has no wakeup",
		.window = { 100, 200 },
		.steps = { { SWITCH, 100, 0, 0, 1 }, { SWITCH, 110, 0, 1, 2 },
			   { SWITCH, 120, 0, 2, 1 } },
		.cpus = { { true, 100, 0, 0, 3 } },
		.tasks = { { 1, "t1", 90, 2 }, { 2, "t2", 10, 1 } },
	},
	{
		.name = "a loss on any CPU ends every wakeup that is under way",
		.window = { 100, 200 },
		.steps = { { SWITCH, 100, 0, 9, 0 }, { WAKING, 110, 0, 1 },
			   { LOST, 120, 1, 115, 1 }, { SWITCH, 130, 0, 0, 1 } },
		.cpus = { { true, 70, 30, 0, 2 }, { true, 0, 0, 100, 0, 0, 1 } },
		.tasks = { { 1, "t1", 70, 1 }, { 9 } },
	},
	{
		.name = "a broken chain on any CPU ends every wakeup that is under way",
		.window = { 100, 200 },
		.steps = { { SWITCH, 100, 0, 9, 0 }, { SWITCH, 100, 1, 9, 2 },
			   { WAKING, 110, 0, 1 }, { SWITCH, 120, 1, 3, 2 },
			   { SWITCH, 130, 0, 0, 1 } },
		.cpus = { { true, 70, 30, 0, 2 }, { true, 80, 0, 20, 2, 1 } },
		.tasks = { { 2, "t2", 80, 1 }, { 1, "t1", 70, 1 }, { 3 }, { 9 } },
	},
	{
		.name = "a wakeup after the loss counts from its own stamp",
		.window = { 100, 200 },
		.steps = { { WAKING, 110, 0, 1 }, { LOST, 120, 1, 115, 1 },
			   { WAKING, 125, 0, 1 }, { SWITCH, 130, 0, 0, 1 } },
		.cpus = { { true, 70, 0, 30, 1 }, { true, 0, 0, 100, 0, 0, 1 } },
		.tasks = { { 1, "t1", 70, 1, 1, 5, 5, 130 } },
	},
	{
		.name = "a task is charged until it is switched out for good, past its exit",
		.window = { 100, 200 },
		.steps = { { SWITCH, 100, 0, 0, 1 }, { EXIT, 150, 0, 1 },
			   { SWITCH, 160, 0, 1, 0 } },
		.cpus = { { true, 60, 40, 0, 2 } },
		.tasks = { { 1, "t1", 60, 1 } },
	},
	{
		.name = "a tid given out again by fork is another task",
		.window = { 100, 200 },
		.steps = { { SWITCH, 100, 0, 0, 1 }, { SWITCH, 130, 0, 1, 0 },
			   { WAKING, 132, 0, 1 }, { FORK, 140, 0, 7, 1 },
			   { WAKEUP_NEW, 150, 0, 1 }, { SWITCH, 160, 0, 0, 1 } },
		.cpus = { { true, 70, 30, 0, 3 } },
		.tasks = { { 1, "t1", 40, 1, 1, 10, 10, 160 }, { 1, "t1", 30, 1 } },
	},
	{
		.name = "a tid given out again by wakeup_new alone is another task",
		.window = { 100, 200 },
		.steps = { { SWITCH, 100, 0, 0, 1 }, { SWITCH, 130, 0, 1, 0 },
			   { WAKEUP_NEW, 150, 0, 1 }, { SWITCH, 160, 0, 0, 1 } },
		.cpus = { { true, 70, 30, 0, 3 } },
		.tasks = { { 1, "t1", 40, 1, 1, 10, 10, 160 }, { 1, "t1", 30, 1 } },
	},
	{
		.name = "a new task inherits no wakeup of one that never ran",
		.window = { 100, 200 },
		.steps = { { WAKING, 100, 0, 1 }, { WAKEUP_NEW, 150, 0, 1 },
			   { SWITCH, 160, 0, 0, 1 } },
		.cpus = { { true, 40, 0, 60, 1 } },
		.tasks = { { 1, "t1", 40, 1, 1, 10, 10, 160 } },
	},
	{
		.name = "a task may leave one CPU and enter a lower one at the same time",
		.window = { 100, 200 },
		.steps = { { SWITCH, 100, 0, 9, 0 }, { SWITCH, 100, 1, 9, 1 },
			   { SWITCH, 150, 0, 0, 1 }, { SWITCH, 150, 1, 1, 0 },
			   { WAKING, 160, 1, 1 }, { SWITCH, 170, 0, 5, 0 },
			   { SWITCH, 180, 0, 0, 1 } },
		.cpus = { { true, 20, 60, 20, 4, 1 }, { true, 50, 50, 0, 2 } },
		.tasks = { { 1, "t1", 70, 2 }, { 5 }, { 9 } },
	},
	{
		.name = "stamps that go back charge nothing twice",
		.window = { 100, 200 },
		.steps = { { SWITCH, 150, 0, 9, 1 }, { SWITCH, 120, 0, 1, 2 } },
		.cpus = { { true, 50, 0, 50, 2 } },
		.tasks = { { 2, "t2", 50, 1 }, { 1, "t1", 0, 1 }, { 9 } },
	},
	{
		.name = "CPU numbers that no machine has are passed over",
		.window = { 100, 200 },
		.steps = { { SWITCH, 150, TAP_TIMELINE_MAX_CPUS, 9, 1 },
			   { SWITCH, 150, -1, 9, 1 } },
	},
};

static void check_cpus(const struct timeline_case *c, const struct tap_timeline *t)
{
	unsigned int nr, i;
	const struct tap_timeline_cpu *cpus = tap_timeline_cpus(t, &nr);

	for (i = 0; i < MAX_CPUS; i++) {
		struct tap_timeline_cpu none = { 0 };
		const struct tap_timeline_cpu *got = i < nr ? &cpus[i] : &none;

		assert_int_equal(got->seen, c->cpus[i].seen);
		assert_int_equal(got->run_ns, c->cpus[i].run_ns);
		assert_int_equal(got->idle_ns, c->cpus[i].idle_ns);
		assert_int_equal(got->unknown_ns, c->cpus[i].unknown_ns);
		assert_int_equal(got->switches, c->cpus[i].switches);
		assert_int_equal(got->chain_breaks, c->cpus[i].chain_breaks);
		assert_int_equal(got->lost, c->cpus[i].lost);
	}
}

static void check_tasks(const struct timeline_case *c, const struct tap_timeline *t)
{
	unsigned int nr, i;
	const struct tap_timeline_task *tasks = tap_timeline_tasks(t, &nr);

	for (i = 0; i < MAX_TASKS && c->tasks[i].tid; i++) {
		const struct want_task *want = &c->tasks[i];

		assert_in_range(i, 0, nr - 1);
		assert_int_equal(tasks[i].tid, want->tid);
		if (want->comm)
			assert_string_equal(tasks[i].comm, want->comm);
		assert_int_equal(tasks[i].run_ns, want->run_ns);
		assert_int_equal(tasks[i].slices, want->slices);
		assert_int_equal(tasks[i].wakeups, want->wakeups);
		assert_int_equal(tasks[i].latency_sum_ns, want->sum_ns);
		assert_int_equal(tasks[i].latency_max_ns, want->max_ns);
		assert_int_equal(tasks[i].latency_max_at_ns, want->max_at_ns);
	}
	assert_int_equal(nr, i);
}

static void run_case(void **state)
{
	const struct timeline_case *c = *state;
	const struct step *s;
	struct tap_timeline *t;

	assert_int_equal(tap_timeline_new(&t), 0);
	if (c->window[0] || c->window[1])
		tap_timeline_window(t, c->window[0], c->window[1]);
	for (s = c->steps; s < c->steps + MAX_STEPS && (s->ts_ns || s->a || s->b); s++) {
		struct tap_event ev;
		struct rec rec;

		step_event(s, &rec, &ev);
		assert_int_equal(tap_timeline_event(t, &ev), 0);
	}
	assert_int_equal(tap_timeline_end(t), 0);
	check_cpus(c, t);
	check_tasks(c, t);
	tap_timeline_free(t);
}

int main(void)
{
	struct CMUnitTest tests[sizeof(cases) / sizeof(*cases)];

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		tests[i] = (struct CMUnitTest){ .name = cases[i].name, .test_func = run_case,
						.initial_state = (void *)&cases[i] };
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
