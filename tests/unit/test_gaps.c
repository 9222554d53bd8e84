// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/gaps.h"

#define TABLE(t) (sizeof(t) / sizeof((t)[0]))
#define START 100u
#define END 200u
#define HIDDEN 7
#define SEEN 8

static const struct gaps_case {
	const char *name;
	struct tap_loss losses[2];
	struct tap_break breaks[3];
	struct {
		int cpu;
		uint64_t from_ns, to_ns;
		bool offline;
	} unknown[4];
	const char *want; /* names and ns */
} cases[] = {
	{
		.name = "before the first switch",
		.unknown = { { 0, 100, 130 } },
		.want = "start 30",
	},
	{
		.name = "before the first one of a CPU that was offline",
		.unknown = { { 0, 110, 150, true }, { 0, 150, 155 } },
		.want = "start 5",
	},
	{
		.name = "a CPU that has none",
		.unknown = { { 3, 100, 200 } },
		.want = "silent 100",
	},
	{
		.name = "from a loss to the next switch, on the loss's CPU",
		.losses = { { 120, 140, 0, 0, 5 } },
		.unknown = { { 0, 120, 150 }, { 1, 100, 125 } },
		.want = "start 25 lost 30",
	},
	{
		.name = "a loss on an unknown CPU counts for all",
		.losses = { { 120, 140, -1, 0, 5 } },
		.unknown = { { 0, 120, 150 }, { 1, 120, 130 } },
		.want = "lost 40",
	},
	{
		.name = "what the start of the recording lost",
		.losses = { { 0, 110, 0, 0, 0 } },
		.unknown = { { 0, 100, 120 } },
		.want = "lost 20",
	},
	{
		.name = "a loss in a buffer without task events is not counted",
		.losses = { { 100, 140, 0, 1, 5 } },
		.unknown = { { 0, 100, 130 } },
		.want = "start 30",
	},
	{
		.name = "breaks: after a hidden task, and after another",
		.breaks = { { 110, 120, 0, HIDDEN }, { 115, 118, 1, SEEN }, { 150, 160, 0, SEEN } },
		.unknown = { { 1, 115, 118 }, { 0, 110, 120 }, { 0, 150, 160 } },
		.want = "hidden 10 broken 13",
	},
	{
		.name = "what follows is of the same cause",
		.breaks = { { 110, 120, 0, HIDDEN } },
		.unknown = { { 0, 110, 120 }, { 0, 120, 125 }, { 0, 150, 151 } },
		.want = "hidden 15 broken 1",
	},
	{
		.name = "a break that begins before the window",
		.breaks = { { 50, 120, 0, HIDDEN } },
		.unknown = { { 0, 100, 120 } },
		.want = "hidden 20",
	},
};

/* How many of the array are given: the rest is 0. */
static unsigned int nr_losses(const struct gaps_case *c)
{
	return c->losses[0].to_ns ? 1 + (c->losses[1].to_ns != 0) : 0;
}

static unsigned int nr_breaks(const struct gaps_case *c)
{
	unsigned int nr = 0;

	while (nr < TABLE(c->breaks) && c->breaks[nr].to_ns)
		nr++;
	return nr;
}

static void run_case(const struct gaps_case *c, struct tap_survey_tid *tids, char *got, size_t size)
{
	struct tap_survey survey = {
		.losses = (struct tap_loss *)c->losses,
		.nr_kept_losses = nr_losses(c),
		.breaks = (struct tap_break *)c->breaks,
		.nr_breaks = nr_breaks(c),
		.tids[0] = tids,
	};
	struct tap_gaps g = { .survey = &survey, .window = { START, END } };
	size_t len = 0;

	for (size_t i = 0; i < TABLE(c->unknown) && c->unknown[i].to_ns; i++) {
		struct tap_cpu_interval s = {
			.cpu = c->unknown[i].cpu,
			.what = c->unknown[i].offline ? TAP_CPU_OFFLINE : TAP_CPU_UNKNOWN,
			.from_ns = c->unknown[i].from_ns,
			.to_ns = c->unknown[i].to_ns,
		};

		assert_int_equal(tap_gaps_ops.cpu(&g, NULL, &s), 0);
		s.what = TAP_CPU_IDLE; /* is no gap */
		assert_int_equal(tap_gaps_ops.cpu(&g, NULL, &s), 0);
	}
	for (unsigned int i = 0; i < TAP_NR_GAPS; i++)
		if (g.ns[i])
			len += (size_t)snprintf(got + len, size - len, "%s%s %ju", len ? " " : "",
						tap_gap_name(i), (uintmax_t)g.ns[i]);
	tap_gaps_release(&g);
}

static void test_causes(void **state)
{
	struct tap_survey_tid *tids = calloc(TAP_SURVEY_TIDS, sizeof(*tids));

	(void)state;
	assert_non_null(tids);
	tids[HIDDEN].hidden = true;
	for (size_t i = 0; i < TABLE(cases); i++) {
		char got[200] = "";

		run_case(&cases[i], tids, got, sizeof(got));
		if (strcmp(got, cases[i].want))
			fail_msg("%s: got '%s', want '%s'", cases[i].name, got, cases[i].want);
	}
	free(tids);
}

int main(void)
{
	static const struct CMUnitTest tests[] = { cmocka_unit_test(test_causes) };

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("gaps", tests, NULL, NULL);
}
