// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* schedtap diff: compare two sets of recordings. */
#include <errno.h>
#include <unistd.h>

#include "cli/cmd_diff.h"
#include "cli/cmd_report.h"
#include "cli/screen.h"

int tap_cmd_compare(const struct tap_diff_opts *opts, const struct tap_diff_sides *sides)
{
	struct tap_progress progress = { 0 };
	const struct tap_screen screen = {
		.fd = STDOUT_FILENO,
		.columns = tap_screen_columns(),
		.color = tap_screen_color(NULL),
		.begin = tap_cmd_output_begins,
		.listener = tap_cmd_listener(&progress),
	};
	struct tap_err err = { 0 };
	bool usage;

	return tap_diff_run(opts, sides, &screen, &usage, &err) ? tap_cmd_fail(&err, usage)
								: TAP_EXIT_OK;
}

/* Read the operands: "A... -- B...", or two recordings. */
static int read_sides(const struct tap_strings *operands, char **rest, struct tap_diff_sides *s,
		      struct tap_err *err)
{
	s->a = operands->v;
	s->nr_a = operands->nr;
	s->b = (const char *const *)rest;
	while (rest && rest[s->nr_b]) {
		if (rest[s->nr_b][0] == '-' && rest[s->nr_b][1])
			return tap_err_set(err, -EINVAL,
					   "'%.100s': options must come before '--': only the "
					   "recordings of side B may follow '--'",
					   rest[s->nr_b]);
		s->nr_b++;
	}
	if (!rest && operands->nr == 2) {
		s->nr_a = s->nr_b = 1;
		s->b = s->a + 1;
	}
	if (!s->nr_a || !s->nr_b)
		return tap_err_set(err, -EINVAL,
				   "no recordings given for %s: use `schedtap diff A... -- B...`",
				   !s->nr_a ? "side A" : "side B");
	return 0;
}

static int run_diff(void *opts, const struct tap_strings *operands, char **rest)
{
	struct tap_diff_sides sides = { 0 };
	struct tap_err err = { 0 };

	if (read_sides(operands, rest, &sides, &err))
		return tap_cmd_fail(&err, true);
	return tap_cmd_compare(opts, &sides);
}

const struct tap_cmd tap_cmd_diff = {
	.name = "diff",
	.help = "compare two sets of recordings: real change or noise",
	.exits = "0 compared, whatever changed, 1 failed, or nothing to compare, 2 usage error,\n  "
		 "          3 no access or unknown format",
	.operands = "A... -- B...",
	.example = "schedtap diff old.dat -- new.dat",
	.opts = tap_diff_options,
	.opts_size = sizeof(struct tap_diff_opts),
	.defaults = &(const struct tap_diff_opts){ .min_effect = TAP_DIFF_MIN_EFFECT },
	.run = run_diff,
};
