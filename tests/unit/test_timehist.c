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

#include "analysis/timehist.h"

#define MAX_STEPS 10
#define MAX_LOSSES 3
#define START 100u /* the window: [100, 1000] */
#define END 1000u

enum step_kind { NOTHING, LEAVES, CPU_IS, WAKES, MOVES };

/*
 * { LEAVES, from, to, task, state, next, cpu, end }; not whole where .cut.
 * { CPU_IS, from, to, .cpu, .cpu_is } { WAKES, at, at, task, .cpu } { MOVES, at, at, task }: 0 to 1
 */
struct step {
	enum step_kind kind;
	uint64_t from_ns, to_ns;
	unsigned int task;
	enum tap_state state, next;
	int cpu;
	const char *end;
	bool cut;
	int cpu_is;
};

struct timehist_case {
	const char *name;
	struct step steps[MAX_STEPS];
	struct tap_loss losses[MAX_LOSSES];
	/* "what from-to cpu", of slices also: end, the waits but 0, "<waker", "@from cpu" */
	const char *want;
};

#define W TAP_STATE_WAKING
#define P TAP_STATE_PREEMPTED
#define S TAP_STATE_SLEEPING
#define D TAP_STATE_BLOCKED
#define R TAP_STATE_RUNNING
#define U TAP_STATE_UNKNOWN

static const struct timehist_case cases[] = {
	{
		.name = "a slice carries the waits since the one before it, each kind by itself",
		.steps = { { LEAVES, 110, 120, 0, R, P, 2, "R+" },
			   { LEAVES, 120, 150, 0, P, R },
			   { LEAVES, 150, 160, 0, R, S, 3, "S" },
			   { LEAVES, 160, 260, 0, S, W },
			   { LEAVES, 260, 265, 0, W, R },
			   { LEAVES, 265, 300, 0, R, D, 2, "D" },
			   { LEAVES, 300, 500, 0, D, W },
			   { LEAVES, 500, 507, 0, W, R },
			   { LEAVES, 507, 510, 0, R, S, 2, "S" } },
		.want = "slice 110-120 cpu 2 R+ @5\n"
			"slice 150-160 cpu 3 S preempted 30 @5\n"
			"slice 265-300 cpu 2 D waking 5 sleeping 100 <7 @5\n"
			"slice 507-510 cpu 2 S waking 7 blocked 200 <7 @5\n",
	},
	{
		.name = "a waker is reported for the slice after the wakeup, not for later ones",
		.steps = { { LEAVES, 200, 210, 0, W, R },
			   { LEAVES, 210, 220, 0, R, P, 0, "R" },
			   { LEAVES, 220, 230, 0, P, R },
			   { LEAVES, 230, 240, 0, R, S, 0, "S" } },
		.want = "slice 210-220 cpu 0 R waking 10 <7 @5\n"
			"slice 230-240 cpu 0 S preempted 10 @5\n",
	},
	{
		.name = "stopped is a kind of its own",
		.steps = { { LEAVES, 110, 120, 0, R, TAP_STATE_STOPPED, 0, "T" },
			   { LEAVES, 120, 150, 0, TAP_STATE_STOPPED, W },
			   { LEAVES, 150, 155, 0, W, R },
			   { LEAVES, 155, 160, 0, R, S, 0, "S" } },
		.want = "slice 110-120 cpu 0 T @5\n"
			"slice 155-160 cpu 0 S waking 5 stopped 30 <7 @5\n",
	},
	{
		.name = "the unknown part of a wait is reported as unknown",
		.steps = { { LEAVES, 110, 120, 0, R, S, 0, "S" },
			   { LEAVES, 120, 150, 0, S, U, .cut = true },
			   { LEAVES, 150, 250, 0, U, W, .cut = true },
			   { LEAVES, 250, 255, 0, W, R },
			   { LEAVES, 255, 260, 0, R, S, 0, "S" } },
		.want = "slice 110-120 cpu 0 S @5\n"
			"slice 255-260 cpu 0 S unknown 100 waking 5 sleeping 30 <7 @5\n",
	},
	{
		.name = "a first slice that began before the window says nothing of its waits",
		.steps = { { LEAVES, 60, 120, 0, R, S, 0, "S" } },
		.want = "slice 60-120 cpu 0 S (waits not known) @5\n",
	},
	{
		.name = "a wakeup before the window hides the sleep before it",
		.steps = { { LEAVES, 60, 120, 0, W, R },
			   { LEAVES, 120, 130, 0, R, S, 0, "S" },
			   { LEAVES, 130, 140, 0, S, W },
			   { LEAVES, 140, 145, 0, W, R },
			   { LEAVES, 145, 150, 0, R, S, 0, "S" } },
		.want = "slice 120-130 cpu 0 S (waits not known) waking 60 <7 @5\n"
			"slice 145-150 cpu 0 S waking 5 sleeping 10 <7 @5\n",
	},
	{
		.name = "a wait that began before the window is whole if it follows a slice",
		.steps = { { LEAVES, 60, 120, 0, S, W },
			   { LEAVES, 120, 122, 0, W, R },
			   { LEAVES, 122, 130, 0, R, S, 0, "S" } },
		.want = "slice 122-130 cpu 0 S waking 2 sleeping 60 <7 @5\n",
	},
	{
		.name = "a newborn waits for its first slice alone",
		.steps = { { LEAVES, 200, 210, 0, W, R }, { LEAVES, 210, 220, 0, R, S, 0, "S" } },
		.want = "slice 210-220 cpu 0 S waking 10 <7 @5\n",
	},
	{
		.name = "a slice whose end was not seen is marked; waits are never rows",
		.steps = { { LEAVES, 110, 900, 0, R, R, 1, "", .cut = true },
			   { LEAVES, 110, 900, 1, S, S, .cut = true } },
		.want = "slice 110-900 cpu 1 >  @5\n",
	},
	{
		.name = "tasks do not share their waits",
		.steps = { { LEAVES, 110, 120, 0, R, P, 0, "R" },
			   { LEAVES, 110, 125, 70, R, P, 1, "R" },
			   { LEAVES, 120, 140, 0, P, R },
			   { LEAVES, 125, 150, 70, P, R },
			   { LEAVES, 140, 160, 0, R, S, 0, "S" },
			   { LEAVES, 150, 165, 70, R, S, 1, "S" } },
		.want = "slice 110-120 cpu 0 R @5\n"
			"slice 110-125 cpu 1 R @5\n"
			"slice 140-160 cpu 0 S preempted 20 @5\n"
			"slice 150-165 cpu 1 S preempted 25 @5\n",
	},
	{
		.name = "only a CPU's unknown time is a row, and not where it has no length",
		.steps = { { CPU_IS, 100, 200, .cpu = 1, .cpu_is = TAP_CPU_UNKNOWN },
			   { CPU_IS, 200, 200, .cpu = 1, .cpu_is = TAP_CPU_UNKNOWN },
			   { CPU_IS, 200, 300, .cpu = 1, .cpu_is = TAP_CPU_IDLE },
			   { CPU_IS, 300, 400, .cpu = 1, .cpu_is = TAP_CPU_RUN } },
		.want = "unknown 100-200 cpu 1\n",
	},
	{
		.name = "losses come in their place, the last ones at the end",
		.steps = { { CPU_IS, 100, 200, .cpu = 1, .cpu_is = TAP_CPU_UNKNOWN },
			   { CPU_IS, 200, 300, .cpu = 1, .cpu_is = TAP_CPU_UNKNOWN } },
		.losses = { { .cpu = 1, .from_ns = 150, .to_ns = 200, .count = 5 },
			    { .cpu = -1, .from_ns = 210, .to_ns = 250, .count = 0 },
			    { .cpu = 0, .from_ns = 990, .to_ns = 1000, .count = 9 } },
		.want = "lost 150-200 cpu 1 count 5\n"
			"unknown 100-200 cpu 1\n"
			"lost 210-250 cpu -1 count 0\n"
			"unknown 200-300 cpu 1\n"
			"lost 990-1000 cpu 0 count 9\n",
	},
	{
		.name = "losses outside the window are no rows, those across its border are",
		.losses = { { .cpu = 0, .from_ns = 10, .to_ns = 99, .count = 1 },
			    { .cpu = 0, .from_ns = 90, .to_ns = 100, .count = 2 },
			    { .cpu = 0, .from_ns = 1001, .to_ns = 1010, .count = 3 } },
		.want = "lost 90-100 cpu 0 count 2\n",
	},
	{
		.name = "wakeups and migrations are moments",
		.steps = { { WAKES, 150, 150, 0, .cpu = 3 }, { MOVES, 151, 151, 0, .cpu = 3 } },
		.want = "wakeup 150-150 cpu 3 t0 <7\n"
			"migration 151-151 cpu 3 t0 0->1\n",
	},
};

static void say(char *to, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void say(char *to, const char *fmt, ...)
{
	size_t len = strlen(to);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(to + len, 4096 - len, fmt, ap);
	va_end(ap);
}

static void say_slice(char *to, const struct tap_row *r)
{
	static const char *const kinds[TAP_NR_STATES] = {
		[U] = "unknown",
		[R] = "running",
		[P] = "preempted",
		[W] = "waking",
		[S] = "sleeping",
		[D] = "blocked",
		[TAP_STATE_STOPPED] = "stopped",
		[TAP_STATE_DEAD] = "dead",
	};

	say(to, " %s%s%s", r->whole ? "" : "> ", r->end,
	    r->waits_known ? "" : " (waits not known)");
	for (int i = 0; i < TAP_NR_STATES; i++)
		if (r->wait_ns[i])
			say(to, " %s %u", kinds[i], (unsigned int)r->wait_ns[i]);
	if (r->waker_tid != -1)
		say(to, " <%d", r->waker_tid);
	if (r->from_cpu != -1)
		say(to, " @%d", r->from_cpu);
}

static int on_row(void *ctx, const struct tap_row *r)
{
	static const char *const what[] = { "slice", "unknown", "lost", "wakeup", "migration" };
	char *to = ctx;

	say(to, "%s %u-%u cpu %d", what[r->what], (unsigned int)r->from_ns, (unsigned int)r->to_ns,
	    r->cpu);
	if (r->what == TAP_ROW_SLICE)
		say_slice(to, r);
	else if (r->what == TAP_ROW_LOST)
		say(to, " count %u", (unsigned int)r->lost_cnt);
	else if (r->what == TAP_ROW_WAKEUP)
		say(to, " t%u <%d", r->task->index, r->waker_tid);
	else if (r->what == TAP_ROW_MIGRATION)
		say(to, " t%u %d->%d", r->task->index, r->from_cpu, r->to_cpu);
	say(to, "\n");
	return 0;
}

static int feed(struct tap_timehist *h, const struct step *s, struct tap_task *task)
{
	struct tap_task waker = { .tid = 7 };
	struct tap_interval interval = {
		.task = task,
		.state = s->state,
		.next = s->next,
		.whole = !s->cut,
		.cpu = s->cpu,
		.from_ns = s->from_ns,
		.to_ns = s->to_ns,
		.end = s->end ? s->end : "",
	};
	struct tap_cpu_interval cpu = {
		.cpu = s->cpu,
		.what = s->cpu_is,
		.from_ns = s->from_ns,
		.to_ns = s->to_ns,
	};
	struct tap_wakeup wakeup = {
		.task = task,
		.waker = &waker,
		.cpu = s->cpu,
		.ts_ns = s->from_ns,
	};
	struct tap_migration move = {
		.task = task,
		.from = 0,
		.to = 1,
		.cpu = s->cpu,
		.ts_ns = s->from_ns,
	};

	switch (s->kind) {
	case LEAVES:
		return tap_timehist_ops.interval(h, NULL, &interval);
	case CPU_IS:
		return tap_timehist_ops.cpu(h, NULL, &cpu);
	case WAKES:
		return tap_timehist_wakeups_ops.wakeup(h, NULL, &wakeup);
	default:
		return tap_timehist_migrations_ops.migration(h, NULL, &move);
	}
}

static void run_case(void **state)
{
	const struct timehist_case *c = *state;
	struct tap_survey survey = { .losses = (struct tap_loss *)c->losses };
	char got[4096] = "";
	struct tap_timehist h = {
		.window = { START, END }, .survey = &survey, .row = on_row, .ctx = got
	};

	while (survey.nr_kept_losses < MAX_LOSSES && c->losses[survey.nr_kept_losses].to_ns)
		survey.nr_kept_losses++;
	for (const struct step *s = c->steps; s < c->steps + MAX_STEPS && s->kind; s++) {
		struct tap_task task = {
			.tid = 50, .index = s->task, .waker_tid = 7, .from_cpu = 5
		};

		assert_int_equal(feed(&h, s, &task), 0);
	}
	assert_int_equal(tap_timehist_ops.end(&h, NULL), 0);
	tap_timehist_release(&h);
	assert_string_equal(got, c->want);
}

static int refuse(void *ctx, const struct tap_row *row)
{
	(void)row;
	++*(int *)ctx;
	return -EPIPE;
}

static void a_row_nobody_takes_stops(void **state)
{
	struct tap_loss losses[] = { { .cpu = 0, .from_ns = 110, .to_ns = 120, .count = 1 },
				     { .cpu = 0, .from_ns = 130, .to_ns = 140, .count = 1 } };
	struct tap_survey survey = { .losses = losses, .nr_kept_losses = 2 };
	struct tap_task task = { .tid = 1 };
	int calls = 0;
	struct tap_timehist h = {
		.window = { START, END }, .survey = &survey, .row = refuse, .ctx = &calls
	};
	struct step step = { LEAVES, 110, 150, 0, R, S, 0, "S" };

	(void)state;
	assert_int_equal(feed(&h, &step, &task), -EPIPE);
	assert_int_equal(calls, 1);
	tap_timehist_release(&h);
}

/* What a sum says of slices 10, 30 and a cut one of 5, of which 2 lie before the window. */
static void slices_add_up(void **state)
{
	struct tap_task lazy = { .index = 3 }, busy = { .index = 80 };
	struct tap_row rows[] = {
		{ .task = &busy, .from_ns = 200, .to_ns = 230, .whole = true },
		{ .task = &busy, .from_ns = 300, .to_ns = 310, .whole = true },
		{ .task = &busy, .from_ns = 98, .to_ns = 103 },
		{ .task = &lazy, .from_ns = 90, .to_ns = 120, .whole = true },
		{ .what = TAP_ROW_WAKEUP, .task = &lazy, .from_ns = 100, .to_ns = 100 },
	};
	struct tap_slices_sum sum = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		assert_int_equal(tap_slices_add(&sum, &rows[i], START), 0);
	tap_slices_sort(&sum);
	assert_int_equal(sum.nr, 2);
	assert_ptr_equal(sum.tasks[0].task, &busy);
	assert_int_equal(sum.tasks[0].run_ns, 43);
	assert_int_equal(sum.tasks[0].slices, 2);
	assert_int_equal(sum.tasks[0].censored, 1);
	assert_int_equal(sum.tasks[0].min_ns, 10);
	assert_int_equal(sum.tasks[0].max_ns, 30);
	assert_int_equal(sum.tasks[0].sum_ns, 40);
	assert_int_equal(sum.tasks[1].run_ns, 20);
	assert_int_equal(sum.tasks[1].censored, 0);
	assert_int_equal(sum.tasks[1].sum_ns, 30);
	tap_slices_release(&sum);
}

int main(void)
{
	enum { NR = sizeof(cases) / sizeof(*cases) };
	struct CMUnitTest tests[NR + 2] = {
		[NR] = cmocka_unit_test(a_row_nobody_takes_stops),
		[NR + 1] = cmocka_unit_test(slices_add_up),
	};

	for (size_t i = 0; i < NR; i++)
		tests[i] = (struct CMUnitTest){ .name = cases[i].name,
						.test_func = run_case,
						.initial_state = (void *)&cases[i] };
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
