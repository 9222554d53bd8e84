// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "analysis/states.h"
#include "main_of_cases.h"

#define MAX_INTERVALS 4
#define MAX_WANT 3

struct states_case {
	const char *name;
	uint64_t start_ns;
	struct {
		unsigned int index;
		enum tap_state state;
		uint64_t from_ns, to_ns;
		enum tap_state back;
		uint64_t back_ns;
	} intervals[MAX_INTERVALS];
	struct {
		unsigned int index;
		enum tap_state state;
		struct tap_longest longest;
	} want[MAX_WANT];
};

static const struct states_case cases[] = {
	{
		.name = "the longest interval of a state counts, not the last",
		.intervals = { { 0, TAP_STATE_SLEEPING, 100, 110 },
			       { 0, TAP_STATE_SLEEPING, 120, 150 },
			       { 0, TAP_STATE_SLEEPING, 160, 170 } },
		.want = { { 0, TAP_STATE_SLEEPING, { 30, 120 } } },
	},
	{
		.name = "of two that are as long the first one counts",
		.intervals = { { 0, TAP_STATE_BLOCKED, 100, 110 },
			       { 0, TAP_STATE_BLOCKED, 120, 130 } },
		.want = { { 0, TAP_STATE_BLOCKED, { 10, 100 } } },
	},
	{
		.name = "states and tasks do not mix",
		.intervals = { { 0, TAP_STATE_RUNNING, 100, 110 },
			       { 0, TAP_STATE_WAKING, 110, 115 },
			       { 1000, TAP_STATE_RUNNING, 115, 117 } },
		.want = { { 0, TAP_STATE_RUNNING, { 10, 100 } },
			  { 0, TAP_STATE_WAKING, { 5, 110 } },
			  { 1000, TAP_STATE_RUNNING, { 2, 115 } } },
	},
	{
		.name = "what lies before the window is cut off",
		.start_ns = 100,
		.intervals = { { 0, TAP_STATE_SLEEPING, 20, 105 },
			       { 0, TAP_STATE_SLEEPING, 110, 120 } },
		.want = { { 0, TAP_STATE_SLEEPING, { 10, 110 } } },
	},
	{
		.name = "an interval that ends before the window is none",
		.start_ns = 100,
		.intervals = { { 0, TAP_STATE_SLEEPING, 20, 100 } },
		.want = { { 0, TAP_STATE_SLEEPING, { 0, 0 } } },
	},
	{
		.name = "a sleep that is taken back is none, and what is unknown is longer",
		.intervals = { { 0, TAP_STATE_SLEEPING, 100, 110 },
			       { 0, TAP_STATE_SLEEPING, 120, 150 },
			       { 0, TAP_STATE_UNKNOWN, 150, 155, TAP_STATE_SLEEPING, 30 } },
		.want = { { 0, TAP_STATE_SLEEPING, { 10, 100 } },
			  { 0, TAP_STATE_UNKNOWN, { 35, 120 } } },
	},
	{
		.name = "a sleep that is taken back was not the longest",
		.intervals = { { 0, TAP_STATE_BLOCKED, 100, 150 },
			       { 0, TAP_STATE_BLOCKED, 160, 170 },
			       { 0, TAP_STATE_UNKNOWN, 175, 180, TAP_STATE_BLOCKED, 10 } },
		.want = { { 0, TAP_STATE_BLOCKED, { 50, 100 } } },
	},
	{
		.name = "a task that never appeared has none",
		.intervals = { { 0, TAP_STATE_RUNNING, 100, 110 } },
		.want = { { 5, TAP_STATE_RUNNING, { 0, 0 } },
			  { 100000, TAP_STATE_RUNNING, { 0, 0 } } },
	},
};

static void run_case(void **state)
{
	const struct states_case *c = *state;
	const struct tap_timeline_opts opts = { .window = { c->start_ns, UINT64_MAX } };
	struct tap_states s = { 0 };
	struct tap_timeline *t;

	assert_int_equal(tap_timeline_new(&opts, &t), 0);
	for (unsigned int i = 0; i < MAX_INTERVALS && c->intervals[i].to_ns; i++) {
		struct tap_task task = { .index = c->intervals[i].index };
		struct tap_interval st = {
			.task = &task,
			.state = c->intervals[i].state,
			.from_ns = c->intervals[i].from_ns,
			.to_ns = c->intervals[i].to_ns,
			.back = c->intervals[i].back,
			.back_ns = c->intervals[i].back_ns,
		};

		assert_int_equal(tap_states_ops.interval(&s, t, &st), 0);
	}
	for (unsigned int i = 0; i < MAX_WANT && (c->want[i].state || c->want[i].longest.ns); i++) {
		struct tap_task task = { .index = c->want[i].index };
		const struct tap_longest *got = &tap_states_longest(&s, &task)[c->want[i].state];

		assert_int_equal(got->ns, c->want[i].longest.ns);
		assert_int_equal(got->at_ns, c->want[i].longest.at_ns);
	}
	tap_states_release(&s);
	tap_timeline_free(t);
}

MAIN_OF_CASES(cases, run_case)
