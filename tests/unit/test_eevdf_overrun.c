// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/eevdf_overrun.h"

#define MS 1e6
#define MS_NS 1000000u
#define NICE_0 1048576.0
#define ALL 0, UINT64_MAX
#define UNKNOWN NAN

/*
 * A run of 50 ms by a task of nice 0 with a slice of 3 ms. Its v goes from 0 to 50 ms, and its
 * first deadline is 3 ms. Times are relative to the start of the run, which is at 1 s, in ms; v,
 * deadlines and results too.
 */
#define START_NS UINT64_C(1000000000)

struct waiter {
	uint64_t from, to;
	double v, deadline;
	double weight; /* 0: nice 0 */
	bool is_asleep, may_leave;
};

struct judged {
	const char *name;
	struct waiter waiters[3];
	double start_vtime, vtime;
	double v; /* 0: 50 */
	unsigned int start_nr, nr; /* 0: as the waiters are */
	double least, most;
};

static const struct judged cases[] = {
	{
		.name = "a waiting task that is eligible and has an earlier deadline comes next "
			"after the slice",
		.waiters = { { ALL, .v = 0, .deadline = 3 } },
		.vtime = 25,
		.least = 47,
		.most = 47,
	},
	{
		.name = "a waiting task that is not eligible is no reason to leave",
		.waiters = { { ALL, .v = 60, .deadline = 63 } },
		.start_vtime = 30,
		.vtime = 55,
		.least = 0,
		.most = 0,
	},
	{
		.name = "a waiting task that becomes eligible at 30 is a reason from the end of "
			"that slice on: 33 at the latest",
		.waiters = { { ALL, .v = 30, .deadline = 33 } },
		.start_vtime = 15,
		.vtime = 40,
		.least = 17,
		.most = 20,
	},
	{
		.name = "a task with a later deadline has to wait while the running task is "
			"eligible, up to 10",
		.waiters = { {
				     ALL,
				     .v = -10,
				     .deadline = 90,
			     },
			     { ALL, .v = 30, .deadline = UNKNOWN } },
		.start_vtime = 20 / 3.0,
		.vtime = 70 / 3.0,
		.least = 37,
		.most = 40,
	},
	{
		.name = "a task that came at 20 is a reason from then on",
		.waiters = { { 20, UINT64_MAX, .v = 0, .deadline = 3 } },
		.vtime = 25,
		.least = 26,
		.most = 30,
	},
	{
		.name = "a task that was moved away at 30 was a reason until then",
		.waiters = { { 0, 30, .v = 0, .deadline = 3 } },
		.vtime = 50,
		.least = 27,
		.most = 27,
	},
	{
		.name = "a task that sleeps in the queue is no reason",
		.waiters = { { ALL, .v = 0, .deadline = 3, .is_asleep = true } },
		.vtime = 25,
		.least = 0,
		.most = 0,
	},
	{
		.name = "a sleeping task that left without an event may have held V back until the "
			"end",
		.waiters = { { ALL, .v = 20, .deadline = 21 },
			     { ALL, .v = -40, .deadline = UNKNOWN, .is_asleep = true,
			       .may_leave = true } },
		.start_vtime = -20 / 3.0,
		.vtime = 35,
		.least = 0,
		.most = 30,
	},
	{
		.name = "one unknown v follows from V: it is -30, and that task is eligible, and "
			"the running one is not",
		.waiters = { { ALL, .v = 0, .deadline = 3 },
			     { ALL, .v = UNKNOWN, .deadline = UNKNOWN } },
		.start_vtime = -10,
		.vtime = 20 / 3.0,
		.least = 47,
		.most = 47,
	},
	{
		.name = "two unknown v do not",
		.waiters = { { ALL, .v = UNKNOWN, .deadline = 3 },
			     { ALL, .v = UNKNOWN, .deadline = UNKNOWN } },
		.vtime = 25,
		.least = 0,
		.most = INFINITY,
	},
	{
		.name = "a task of nice 0 that no event names follows from V at both ends",
		.waiters = { { ALL, .v = 0, .deadline = 3 } },
		.start_vtime = 20,
		.vtime = 110 / 3.0,
		.start_nr = 3,
		.nr = 3,
		.least = 47,
		.most = 47,
	},
	{
		.name = "a task whose weight is not that of a nice value does not",
		.waiters = { { ALL, .v = 0, .deadline = 3 } },
		.start_vtime = 20,
		.vtime = 30,
		.start_nr = 3,
		.nr = 3,
		.least = 0,
		.most = INFINITY,
	},
	{
		.name = "a V that the known tasks do not give is not trusted",
		.waiters = { { ALL, .v = 0, .deadline = 3 } },
		.vtime = 24,
		.least = 0,
		.most = INFINITY,
	},
	{
		.name = "a v that rose by more than the task ran is not trusted",
		.waiters = { { ALL, .v = 0, .deadline = 3 } },
		.v = 80,
		.vtime = 40,
		.least = 0,
		.most = INFINITY,
	},
};

static struct tap_eevdf_waiter waiter_of(const struct waiter *w)
{
	return (struct tap_eevdf_waiter){
		.from_ns = w->from ? START_NS + w->from * MS_NS : 0,
		.to_ns = w->to == UINT64_MAX ? w->to : START_NS + w->to * MS_NS,
		.v = w->v * MS,
		.deadline = w->deadline * MS,
		.weight = w->weight > 0 ? w->weight : NICE_0,
		.is_asleep = w->is_asleep,
		.may_leave = w->may_leave,
	};
}

static struct tap_eevdf_overrun judge(const struct judged *c)
{
	struct tap_eevdf_waiter waiters[4];
	struct tap_eevdf_run run = {
		.from_ns = START_NS,
		.to_ns = START_NS + 50 * MS_NS,
		.weight = NICE_0,
		.slice_ns = 3 * MS,
		.deadline = 3 * MS,
		.v = (c->v > 0 ? c->v : 50) * MS,
		.start_vtime = c->start_vtime * MS,
		.vtime = c->vtime * MS,
		.start_nr_queued = c->start_nr,
		.nr_queued = c->nr,
		.waiters = waiters,
	};

	for (; run.nr_waiters < 3 && c->waiters[run.nr_waiters].to; run.nr_waiters++)
		waiters[run.nr_waiters] = waiter_of(&c->waiters[run.nr_waiters]);
	run.start_nr_queued = c->start_nr ? c->start_nr : 1 + run.nr_waiters;
	run.nr_queued = c->nr ? c->nr : 1 + run.nr_waiters;
	return tap_eevdf_judge(&run);
}

static bool is_near(double got_ns, double want_ms)
{
	return isinf(want_ms) ? isinf(got_ns) : fabs(got_ns - want_ms * MS) < 1000;
}

static void run_case(void **state)
{
	const struct judged *c = *state;
	struct tap_eevdf_overrun o = judge(c);

	if (!is_near(o.least_ns, c->least) || !is_near(o.most_ns, c->most))
		fail_msg("%f to %f ms, wanted %f to %f", o.least_ns / MS, o.most_ns / MS, c->least,
			 c->most);
}

int main(void)
{
	enum { NR = sizeof(cases) / sizeof(*cases) };
	struct CMUnitTest tests[NR];

	for (size_t i = 0; i < NR; i++)
		tests[i] = (struct CMUnitTest){ .name = cases[i].name,
						.test_func = run_case,
						.initial_state = (void *)&cases[i] };
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
