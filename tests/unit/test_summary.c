// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "analysis/summary.h"
#include "sched_events.h"

#define MAX_STEPS 8
#define MAX_KINDS 3
#define REC sizeof(struct rec)

struct summary_case {
	const char *name;
	uint64_t window[2];
	struct step steps[MAX_STEPS];
	struct tap_summary want; /* of .kinds only .nr_kinds */
	struct {
		const char *name;
		uint64_t count;
	} kinds[MAX_KINDS];
};

static const struct summary_case cases[] = {
	{
		.name = "nothing is a summary too",
		.want = { .events = 0 },
	},
	{
		.name = "events are counted by kind, the most frequent first",
		.steps = { { WAKING, 100, 0, 1 }, { SWITCH, 110, 0, 0, 1 }, { SWITCH, 120, 0, 1 } },
		.want = { .start_ns = 100, .end_ns = 120, .events = 3, .bytes = 3 * REC,
			  .nr_kinds = 2 },
		.kinds = { { "sched_switch", 2 }, { "sched_waking", 1 } },
	},
	{
		.name = "kinds as frequent as each other are in order of their names",
		.steps = { { PELT, 100 }, { WAKING, 100, 0, 1 }, { SWITCH, 110, 0, 0, 1 } },
		.want = { .start_ns = 100, .end_ns = 110, .events = 3, .bytes = 3 * REC,
			  .nr_kinds = 3 },
		.kinds = { { "sched_switch", 1 }, { "sched_waking", 1 }, { "sched_pelt_cfs", 1 } },
	},
	{
		.name = "what is outside the window is not counted, its borders are inside",
		.window = { 100, 200 },
		.steps = { { PELT, 99 }, { PELT, 100 }, { PELT, 200 }, { PELT, 201 } },
		.want = { .start_ns = 100, .end_ns = 200, .events = 2, .bytes = 2 * REC,
			  .nr_kinds = 1 },
		.kinds = { { "sched_pelt_cfs", 2 } },
	},
	{
		.name = "losses add up and are no events",
		.steps = { { LOST, 110, 0, 100, 5 }, { LOST, 130, -1, 120, 7 } },
		.want = { .start_ns = 100, .end_ns = 130, .lost = 12, .loss_intervals = 2 },
	},
	{
		.name = "one loss without a count makes the sum a lower bound",
		.steps = { { LOST, 110, 0, 100, 5 }, { LOST, 130, 1, 120, 0 } },
		.want = { .start_ns = 100, .end_ns = 130, .lost = 5, .loss_intervals = 2,
			  .lost_unknown = true },
	},
	{
		.name = "a sum of losses does not wrap",
		.steps = { { LOST, 110, 0, 100, UINT64_MAX }, { LOST, 130, 0, 120, 2 } },
		.want = { .start_ns = 100, .end_ns = 130, .lost = UINT64_MAX, .loss_intervals = 2 },
	},
	{
		.name = "a loss outside the window is not counted",
		.window = { 100, 200 },
		.steps = { { LOST, 90, 0, 80, 5 }, { LOST, 220, 0, 210, 5 } },
		.want = { .start_ns = 100, .end_ns = 200 },
	},
};

static void check(const struct summary_case *c, const struct tap_summary *s)
{
	assert_int_equal(s->start_ns, c->want.start_ns);
	assert_int_equal(s->end_ns, c->want.end_ns);
	assert_int_equal(s->events, c->want.events);
	assert_int_equal(s->bytes, c->want.bytes);
	assert_int_equal(s->lost, c->want.lost);
	assert_int_equal(s->lost_unknown, c->want.lost_unknown);
	assert_int_equal(s->loss_intervals, c->want.loss_intervals);
	assert_int_equal(s->nr_kinds, c->want.nr_kinds);
	for (unsigned int i = 0; i < s->nr_kinds; i++) {
		assert_string_equal(s->kinds[i].fmt->name, c->kinds[i].name);
		assert_int_equal(s->kinds[i].count, c->kinds[i].count);
	}
}

static void run_case(void **state)
{
	const struct summary_case *c = *state;
	const struct step *step;
	struct tap_summary *s;

	assert_int_equal(tap_summary_new(c->window[0], c->window[1], &s), 0);
	for (step = c->steps; step < c->steps + MAX_STEPS && step->ts_ns; step++) {
		struct tap_event ev;
		struct rec rec;

		step_event(step, &rec, &ev);
		assert_int_equal(tap_summary_event(s, &ev), 0);
	}
	assert_int_equal(tap_summary_end(s), 0);
	check(c, s);
	tap_summary_free(s);
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
