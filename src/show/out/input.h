/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What all commands that read a recording begin with, `dump` and reports: their common options, and
 * what these do. */
#ifndef TAP_RUN_INPUT_H
#define TAP_RUN_INPUT_H

#include "base/cmd.h"
#include "timeline/run/run.h"
#include "show/out/page.h"

/* As typed. Their own options structs begin with it. */
struct tap_input_opts {
	struct tap_strings input; /* paths: several are files of one recorder */
	const char *clock, *window, *color;
	struct tap_select_words select; /* -e is for dump and timehist alone */
	const struct tap_style *style; /* NULL: text */
};

/* Rows in the table of such a command. @...: rows of its own that go with these: -C, -e. */
extern const struct tap_opt tap_input_task_options[], tap_input_style_options[];
#define TAP_INPUT_OPTIONS(...)                                                                     \
	TAP_OPT_ROWS(tap_input_task_options), ##__VA_ARGS__, TAP_OPT_ROWS(tap_input_style_options)

static inline const struct tap_style *tap_input_style(const struct tap_input_opts *opts)
{
	return opts->style ? opts->style : &tap_style_text;
}

/*
 * Checks the options, opens the recording, and finds the window. @opts: borrowed until the close.
 * Return: 0; -errno with a sentence, and @usage says whether the options are to blame. Close in
 * either case.
 */
int tap_run_input(struct tap_run *run, const struct tap_input_opts *opts,
		  const struct tap_listener *listener, bool *usage, struct tap_err *err);

#endif
