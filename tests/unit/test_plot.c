// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "show/out/plot.h"

#define COLUMNS 6

struct plot_case {
	const char *name;
	bool ascii, color;
	uint64_t top;
	struct tap_plot_column columns[COLUMNS];
	const char *want;
};

static const struct plot_case cases[] = {
	{
		.name = "solid to the average, shaded to the maximum; 0: a line; unknown: empty",
		.top = 1024,
		.columns = { { true, 1024, 1024 },
			     { true, 512, 1024 },
			     { true, 0, 0 },
			     { false },
			     { true, 64, 64 },
			     { true, 640, 640 } },
		.want = "   1024 │█░   ▂\n"
			"      0 │██▁ ▁█\n",
	},
	{
		.name = "the same in ASCII",
		.ascii = true,
		.top = 1024,
		.columns = { { true, 1024, 1024 },
			     { true, 512, 1024 },
			     { true, 0, 0 },
			     { false },
			     { true, 64, 64 },
			     { true, 256, 640 } },
		.want = "   1024 |#:\n"
			"      0 |##_ _#\n",
	},
	{
		.name = "what is above the top is cut, and a wide scale keeps its seven columns",
		.top = 50000000,
		.columns = { { true, 1e9, 1e9 }, { true, 25e6, 25e6 } },
		.want = "  5e+07 │█\n"
			"      0 │██\n",
	},
	{
		.name = "a second series is a line, in the eighth where its average is, also where "
			"the first is not known",
		.top = 1024,
		.columns = { { true, 1024, 1024, .has_line = true, .line = 1024 },
			     { true, 1024, 1024, .has_line = true, .line = 512 },
			     { .has_line = true, .line = 576 },
			     { .has_line = true, .line = 768 },
			     { true, 128, 128, .has_line = true },
			     { .has_line = true, .line = 1e9 } },
		.want = "   1024 │⎺█⎽─ ⎺\n"
			"      0 │█⎺  ⎽\n",
	},
	{
		.name = "in ASCII and in colours",
		.ascii = true,
		.color = true,
		.top = 1024,
		.columns = { { true, 1024, 1024, .has_line = true, .line = 1024 },
			     { true, 1024, 1024, .has_line = true, .line = 512 },
			     { false },
			     { .has_line = true, .line = 768 },
			     { true, 128, 128 } },
		.want = "   1024 |\033[35mo\033[36m# \033[35mo\033[m\n"
			"      0 |\033[36m#\033[35mo  \033[36m_\033[m\n",
	},
};

static void strip(void **state)
{
	const struct plot_case *c = *state;
	const struct tap_plot p = {
		.columns = COLUMNS, .rows = 2, .ascii = c->ascii, .color = c->color
	};
	struct tap_buf b = { 0 };

	tap_plot_strip(&b, &p, c->columns, c->top);
	assert_string_equal(tap_buf_str(&b), c->want);
	tap_buf_release(&b);
}

static void axis(void **state)
{
	static const struct tap_plot p = {
		.columns = 42, .rows = 2, .ascii = true, .window = { 1000000000, 85000000000 }
	};
	struct tap_buf b = { 0 };

	(void)state;
	tap_plot_axis(&b, &p);
	assert_string_equal(tap_buf_str(&b), "        ++-------------------+-------------------+-\n"
					     "         1.000               41.000 s\n");
	tap_buf_release(&b);
}

/* Sixteen to the power of 0, 1/4, 1/2 and 3/4; of two, what fewer shades say. */
static void heat(void **state)
{
	static const struct tap_plot ascii = { .columns = 7, .ascii = true },
				     blocks = { .columns = 7, .color = true };
	static const uint64_t counts[] = { 0, 1, 2, 4, 8, 16, 0 };
	uint64_t from[TAP_PLOT_SHADES];
	struct tap_buf b = { 0 };

	(void)state;
	tap_plot_shades(16, from);
	tap_plot_shades_text(&b, &ascii, from);
	tap_buf_char(&b, '\n');
	tap_plot_heat(&b, &ascii, "     us", counts, from);
	tap_plot_heat(&b, &blocks, "     us", counts, from);
	tap_plot_unknown(&b, &ascii, counts);
	tap_plot_unknown(&b, &blocks, counts);
	tap_plot_shades(2, from);
	tap_plot_shades_text(&b, &blocks, from);
	assert_string_equal(tap_buf_str(&b), "  . 1+  : 2+  * 4+  # 8+\n"
					     "     us | .:*##\n"
					     "     us │ \033[36m░▒▓██\033[m\n"
					     "unknown | ?????\n"
					     "unknown │ \033[33m?????\033[m\n"
					     "  ▓ 1+  █ 2+");
	tap_buf_release(&b);
}

static void top(void **state)
{
	static const uint64_t pairs[][2] = {
		{ 0, 1 },	{ 1, 1 },	{ 2, 2 },
		{ 3, 5 },	{ 5, 5 },	{ 6, 10 },
		{ 1001, 2000 }, { 2001, 5000 }, { UINT64_MAX, UINT64_C(5000000000000000000) },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(pairs) / sizeof(*pairs); i++)
		assert_int_equal(tap_plot_top(pairs[i][0]), pairs[i][1]);
}

int main(void)
{
	enum { NR_CASES = sizeof(cases) / sizeof(*cases) };
	struct CMUnitTest tests[NR_CASES + 3];

	for (size_t i = 0; i < NR_CASES; i++)
		tests[i] = (struct CMUnitTest){ .name = cases[i].name,
						.test_func = strip,
						.initial_state = (void *)&cases[i] };
	tests[NR_CASES] =
		(struct CMUnitTest){ .name = "times stand where they fit", .test_func = axis };
	tests[NR_CASES + 1] =
		(struct CMUnitTest){ .name = "a scale is 1, 2 or 5 x 10^n", .test_func = top };
	tests[NR_CASES + 2] =
		(struct CMUnitTest){ .name = "the more the darker", .test_func = heat };
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
