// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "analysis/latency.h"

#define TABLE(t) (sizeof(t) / sizeof((t)[0]))
#define MAX_STEPS 8
#define MAX_TASKS 4
#define MAX_WORST 2
#define NR_COLUMNS 3

/* From its table a test prints the name of the case that fails. */
#define check(name, cond)                                                                          \
	do {                                                                                       \
		if (!(cond))                                                                       \
			fail_msg("%s: %s", name, #cond);                                           \
	} while (0)

enum { IDLE = -1, UNKNOWN = -2 };

/* An interval of a task, or, where .state is TAP_STATE_RUNNING, of a CPU: then .task may be IDLE.
 */
struct step {
	enum tap_state state;
	int task;
	uint64_t from_ns, to_ns;
	int cpu; /* where it runs then */
	enum tap_state next;
	bool cut; /* not whole */
	int run_cpu; /* where it ran before, plus one; 0: on the same */
};

#define WAIT(task, from, to, cpu, ...)                                                             \
	{                                                                                          \
		TAP_STATE_WAKING, task, from, to, cpu, TAP_STATE_RUNNING, __VA_ARGS__              \
	}
#define RAN(task, from, to, cpu)                                                                   \
	{                                                                                          \
		TAP_STATE_RUNNING, task, from, to, cpu                                             \
	}

struct want {
	uint64_t count, sum_ns, max_ns, max_at_ns;
	int max_cpu;
	uint64_t censored, same_cnt, same_sum_ns, migrated_cnt, migrated_max_ns;
};

static const struct latency_case {
	const char *name;
	struct step steps[MAX_STEPS];
	struct want all, task1;
	bool preempted;
} cases[] = {
	{ "nothing", {}, { .max_cpu = -1 }, { .max_cpu = -1 } },
	{ "waits of two tasks",
	  { WAIT(1, 100, 110, 0), WAIT(2, 100, 150, 3), WAIT(1, 200, 230, 2) },
	  { 3, 90, 50, 150, 3, 0, 3, 90 },
	  { 2, 40, 30, 230, 2, 0, 2, 40 } },
	{ "of equally long ones the first",
	  { WAIT(2, 100, 150, 3), WAIT(1, 80, 130, 1), WAIT(1, 200, 250, 2) },
	  { 3, 150, 50, 130, 1, 0, 3, 150 },
	  { 2, 100, 50, 130, 1, 0, 2, 100 } },
	{ "and of the tasks that wait so long, too",
	  { WAIT(1, 100, 150, 3), WAIT(2, 80, 130, 1) },
	  { 2, 100, 50, 130, 1, 0, 2, 100 },
	  { 1, 50, 50, 150, 3, 0, 1, 50 } },
	{ "a wait of no time is one",
	  { WAIT(1, 100, 100, 2) },
	  { 1, 0, 0, 100, 2, 0, 1 },
	  { 1, 0, 0, 100, 2, 0, 1 } },
	{ "another CPU than before",
	  { WAIT(1, 100, 120, 0, .run_cpu = 2), WAIT(1, 200, 210, 0),
	    WAIT(1, 300, 330, 5, .run_cpu = 1) },
	  { 3, 60, 30, 330, 5, 0, 1, 10, 2, 30 },
	  { 3, 60, 30, 330, 5, 0, 1, 10, 2, 30 } },
	{ "where it ran before is not known",
	  { WAIT(1, 100, 120, 0, .run_cpu = -1) },
	  { 1, 20, 20, 120, 0 },
	  { 1, 20, 20, 120, 0 } },
	{ "what is not whole is censored",
	  { WAIT(1, 100, 120, 0, .cut = true) },
	  { .max_cpu = -1, .censored = 1 },
	  { .max_cpu = -1, .censored = 1 } },
	{ "a wait after which nothing is known",
	  { { TAP_STATE_WAKING, 1, 100, 150, 0, TAP_STATE_UNKNOWN } },
	  { .max_cpu = -1, .censored = 1 },
	  { .max_cpu = -1, .censored = 1 } },
	{ "a wait that goes on at the window's end",
	  { { TAP_STATE_WAKING, 1, 100, 200, -1, TAP_STATE_WAKING, .cut = true } },
	  { .max_cpu = -1, .censored = 1 },
	  { .max_cpu = -1, .censored = 1 } },
	{ "a wait that becomes unknown is one, not two",
	  { { TAP_STATE_WAKING, 1, 100, 150, -1, TAP_STATE_UNKNOWN, .cut = true },
	    { TAP_STATE_UNKNOWN, 1, 150, 200, 0, TAP_STATE_RUNNING, .cut = true } },
	  { .max_cpu = -1, .censored = 1 },
	  { .max_cpu = -1, .censored = 1 } },
	{ "but the next one is another",
	  { { TAP_STATE_WAKING, 1, 100, 150, -1, TAP_STATE_UNKNOWN, .cut = true },
	    { TAP_STATE_UNKNOWN, 1, 150, 200, 0, TAP_STATE_SLEEPING, .cut = true },
	    { TAP_STATE_UNKNOWN, 1, 250, 300, 0, TAP_STATE_RUNNING, .cut = true } },
	  { .max_cpu = -1, .censored = 2 },
	  { .max_cpu = -1, .censored = 2 } },
	{ "who runs after something unknown has waited",
	  { { TAP_STATE_UNKNOWN, 1, 100, 150, 0, TAP_STATE_RUNNING, .cut = true },
	    { TAP_STATE_UNKNOWN, 2, 100, 150, 0, TAP_STATE_SLEEPING, .cut = true } },
	  { .max_cpu = -1, .censored = 1 },
	  { .max_cpu = -1, .censored = 1 } },
	{ "a wait of the other kind is none, nor is what follows it unknown",
	  { { TAP_STATE_PREEMPTED, 1, 100, 110, 0, TAP_STATE_RUNNING },
	    { TAP_STATE_PREEMPTED, 1, 200, 210, 0, TAP_STATE_UNKNOWN, .cut = true },
	    { TAP_STATE_UNKNOWN, 1, 210, 220, 0, TAP_STATE_RUNNING, .cut = true } },
	  { .max_cpu = -1 },
	  { .max_cpu = -1 } },
	{ "preempted waits",
	  { { TAP_STATE_PREEMPTED, 1, 100, 110, 0, TAP_STATE_RUNNING },
	    WAIT(1, 200, 230, 0),
	    WAIT(1, 300, 330, 0, .cut = true) },
	  { 1, 10, 10, 110, 0, 0, 1, 10 },
	  { 1, 10, 10, 110, 0, 0, 1, 10 },
	  .preempted = true },
};

static struct tap_task tasks[MAX_TASKS] = {
	{ .index = 0, .tid = 100 },
	{ .index = 1, .tid = 101 },
	{ .index = 70, .tid = 102 },
	{ .index = 3, .tid = 103 },
};

static int run_cpu_step(struct tap_latency *l, const struct step *s)
{
	struct tap_cpu_interval c = { .cpu = s->cpu, .from_ns = s->from_ns, .to_ns = s->to_ns };

	if (s->task >= 0) {
		c.what = TAP_CPU_RUN;
		c.task = &tasks[s->task];
	} else {
		c.what = s->task == IDLE ? TAP_CPU_IDLE : TAP_CPU_UNKNOWN;
	}
	return tap_latency_past_ops.cpu(l, NULL, &c);
}

static int run_step(struct tap_latency *l, const struct tap_timeline *t, const struct step *s)
{
	struct tap_interval w = { .state = s->state,
				  .next = s->next,
				  .whole = !s->cut,
				  .from_ns = s->from_ns,
				  .to_ns = s->to_ns,
				  .cpu = s->cpu,
				  .next_cpu = s->cpu };

	if (s->state == TAP_STATE_RUNNING)
		return run_cpu_step(l, s);
	w.task = &tasks[s->task];
	w.task->run_cpu = s->run_cpu > 0 ? s->run_cpu - 1 : s->run_cpu ? -1 : s->cpu;
	return tap_latency_ops.interval(l, t, &w);
}

static void run_steps(struct tap_latency *l, const struct tap_timeline *t, const struct step *s)
{
	for (unsigned int i = 0; i < MAX_STEPS && s[i].to_ns; i++)
		assert_int_equal(run_step(l, t, &s[i]), 0);
}

static void check_stat(const char *name, const struct tap_latency_stat *s, const struct want *w)
{
	check(name, s->waits.count == w->count);
	check(name, s->waits.sum == w->sum_ns);
	check(name, s->waits.max == w->max_ns);
	check(name, s->max_at_ns == w->max_at_ns);
	check(name, s->max_cpu == w->max_cpu);
	check(name, s->censored == w->censored);
	check(name, s->same_cpu.count == w->same_cnt && s->same_cpu.sum_ns == w->same_sum_ns);
	check(name, s->migrated.count == w->migrated_cnt);
	check(name, s->migrated.max_ns == w->migrated_max_ns);
}

static int new_timeline(void **state)
{
	const struct tap_timeline_opts opts = { .window = TAP_WINDOW_ALL, .nr_cpus = 2 };

	return tap_timeline_new(&opts, (struct tap_timeline **)state);
}

static int free_timeline(void **state)
{
	tap_timeline_free(*state);
	return 0;
}

static void test_stats(void **state)
{
	static const struct tap_latency_stat none = { .max_cpu = -1 };

	for (size_t i = 0; i < TABLE(cases); i++) {
		const struct latency_case *c = &cases[i];
		struct tap_latency l;

		assert_int_equal(
			tap_latency_init(&l, c->preempted ? TAP_STATE_PREEMPTED : TAP_STATE_WAKING,
					 0),
			0);
		run_steps(&l, *state, c->steps);
		assert_int_equal(tap_latency_ops.end(&l, *state), 0);
		check_stat(c->name, &l.all, &c->all);
		check_stat(c->name, l.nr_tasks ? &l.tasks[1] : &none, &c->task1);
		tap_latency_release(&l);
	}
}

struct want_worst {
	uint64_t from_ns, to_ns;
	struct {
		int task;
		uint64_t ns;
	} ran[TAP_LATENCY_RAN];
	uint64_t idle_ns, unknown_ns;
	bool is_part;
};

static const struct worst_case {
	const char *name;
	struct step steps[MAX_STEPS];
	struct want_worst want[MAX_WORST];
} worst_cases[] = {
	{ "the longest first, the shortest is forgotten",
	  { RAN(2, 50, 400, 0), WAIT(1, 100, 110, 0), WAIT(1, 200, 240, 0), WAIT(1, 300, 320, 0) },
	  { { 200, 240, { { 2, 40 } } }, { 300, 320, { { 2, 20 } } } } },
	{ "what ran, the longest first, and nothing from before",
	  { RAN(0, 0, 100, 0), RAN(2, 100, 130, 0), RAN(3, 130, 180, 0), RAN(2, 180, 190, 0),
	    RAN(IDLE, 190, 195, 0), RAN(UNKNOWN, 195, 200, 0), WAIT(1, 110, 200, 0) },
	  { { 110, 200, { { 3, 50 }, { 2, 30 } }, 5, 5 } } },
	{ "another CPU is another matter",
	  { RAN(2, 0, 200, 0), RAN(3, 0, 200, 1), WAIT(1, 150, 200, 1) },
	  { { 150, 200, { { 3, 50 } } } } },
	{ "its beginning is not known",
	  { RAN(2, 150, 200, 0), WAIT(1, 100, 200, 0) },
	  { { 100, 200, { { 2, 50 } }, .is_part = true } } },
	{ "a CPU of which nothing is known",
	  { WAIT(1, 100, 200, 7) },
	  { { 100, 200, .is_part = true } } },
};

static void check_worst(const char *name, const struct tap_latency *l,
			const struct want_worst *want)
{
	for (unsigned int i = 0; i < MAX_WORST && want[i].to_ns; i++) {
		const struct tap_latency_worst *w = &l->worst[i];

		check(name, i < l->nr_worst);
		check(name, w->task == &tasks[1]);
		check(name, w->from_ns == want[i].from_ns && w->to_ns == want[i].to_ns);
		check(name, w->idle_ns == want[i].idle_ns);
		check(name, w->unknown_ns == want[i].unknown_ns);
		check(name, w->is_part == want[i].is_part);
		for (unsigned int k = 0; k < TAP_LATENCY_RAN; k++) {
			check(name, (k < w->nr_ran) == (want[i].ran[k].ns != 0));
			check(name,
			      k >= w->nr_ran || (w->ran[k].task == &tasks[want[i].ran[k].task] &&
						 w->ran[k].ns == want[i].ran[k].ns));
		}
	}
}

static void test_worst(void **state)
{
	for (size_t i = 0; i < TABLE(worst_cases); i++) {
		struct tap_latency l;

		assert_int_equal(tap_latency_init(&l, TAP_STATE_WAKING, MAX_WORST), 0);
		run_steps(&l, *state, worst_cases[i].steps);
		check_worst(worst_cases[i].name, &l, worst_cases[i].want);
		tap_latency_release(&l);
	}
}

/* Five tasks and more than the ring holds: the least of them are others, the oldest forgotten. */
static void test_long_wait(void **state)
{
	static struct tap_task many[6];
	struct tap_latency l;
	struct step wait = WAIT(1, 0, 20000, 0);
	uint64_t sum = 0;

	assert_int_equal(tap_latency_init(&l, TAP_STATE_WAKING, 1), 0);
	for (unsigned int i = 0; i < 10000; i++) {
		struct tap_cpu_interval c = { .what = TAP_CPU_RUN,
					      .task = &many[i % 6],
					      .from_ns = 2 * i,
					      .to_ns = 2 * i + 2 };

		many[i % 6].index = i % 6;
		assert_int_equal(tap_latency_past_ops.cpu(&l, NULL, &c), 0);
	}
	assert_int_equal(run_step(&l, *state, &wait), 0);
	assert_int_equal(l.nr_worst, 1);
	assert_true(l.worst[0].is_part);
	assert_int_equal(l.worst[0].nr_others, 2);
	for (unsigned int i = 0; i < TAP_LATENCY_RAN; i++)
		sum += l.worst[0].ran[i].ns;
	assert_int_equal(sum + l.worst[0].others_ns, 2 * TAP_LATENCY_PAST);
	tap_latency_release(&l);
}

/* Of 100 to 200, 200 to 300 and 300 to 400, of which 190 to 210 is not known. */
static const struct time_case {
	const char *name;
	struct step steps[MAX_STEPS];
	uint64_t counts[NR_COLUMNS], censored[NR_COLUMNS];
} time_cases[] = {
	{ "a wait is in the column in which it ends, and one that ends with the window in the last",
	  { WAIT(1, 110, 199, 0), WAIT(1, 150, 200, 0), WAIT(1, 299, 300, 0),
	    WAIT(1, 310, 400, 0) },
	  { 1, 1, 2 },
	  {} },
	{ "one that becomes unknown is in that in which the unknown ends",
	  { { TAP_STATE_WAKING, 1, 100, 190, -1, TAP_STATE_UNKNOWN, .cut = true },
	    { TAP_STATE_UNKNOWN, 1, 190, 250, 0, TAP_STATE_RUNNING, .cut = true } },
	  {},
	  { 0, 1 } },
	{ "also if its end was not seen",
	  { { TAP_STATE_WAKING, 1, 100, 190, -1, TAP_STATE_UNKNOWN, .cut = true },
	    { TAP_STATE_UNKNOWN, 1, 190, 250, 0, TAP_STATE_SLEEPING, .cut = true } },
	  {},
	  { 0, 1 } },
	{ "or it did not before the window's end",
	  { { TAP_STATE_WAKING, 1, 100, 190, -1, TAP_STATE_UNKNOWN, .cut = true },
	    { TAP_STATE_UNKNOWN, 1, 190, 400, 0, TAP_STATE_UNKNOWN, .cut = true } },
	  {},
	  { 0, 0, 1 } },
	{ "of the other kind it is none",
	  { { TAP_STATE_PREEMPTED, 1, 100, 190, -1, TAP_STATE_UNKNOWN, .cut = true },
	    { TAP_STATE_UNKNOWN, 1, 190, 250, 0, TAP_STATE_RUNNING, .cut = true } },
	  {},
	  {} },
};

static void test_over_time(void **state)
{
	static struct tap_hole hole = { 190, 210 };
	static const struct tap_survey survey = { .holes = &hole, .nr_holes = 1 };
	static const struct tap_window window = { 100, 400 };

	for (size_t i = 0; i < TABLE(time_cases); i++) {
		const struct time_case *c = &time_cases[i];
		struct tap_latency l;

		assert_int_equal(tap_latency_init(&l, TAP_STATE_WAKING, 0), 0);
		assert_int_equal(tap_latency_split(&l, &window, &survey, NR_COLUMNS), 0);
		run_steps(&l, *state, c->steps);
		assert_int_equal(tap_latency_ops.end(&l, *state), 0);
		for (unsigned int k = 0; k < NR_COLUMNS; k++) {
			check(c->name, l.columns[k].from_ns == 100 * (k + 1) &&
					       l.columns[k].to_ns == 100 * (k + 2));
			check(c->name, l.columns[k].waits.count == c->counts[k]);
			check(c->name, l.columns[k].censored == c->censored[k]);
			check(c->name, l.columns[k].unknown_ns == (k < 2 ? 10 : 0));
		}
		tap_latency_release(&l);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stats),
		cmocka_unit_test(test_worst),
		cmocka_unit_test(test_long_wait),
		cmocka_unit_test(test_over_time),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("latency", tests, new_timeline, free_timeline);
}
