/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The options of all commands that read a recording (`dump` and reports), and how they open it. */
#ifndef TAP_RUN_INPUT_H
#define TAP_RUN_INPUT_H

#include "base/cmd.h"
#include "timeline/run/run.h"
#include "show/out/page.h"

/* Options as typed. A command's own options struct begins with this struct. */
struct tap_input_opts {
	struct tap_strings input; /* paths; several are files of one recorder */
	const char *clock, *window, *color;
	struct tap_select_words select; /* only dump and timehist have -e */
	const struct tap_style *style; /* NULL means text */
};

/*
 * Rows for the command's table of options. The macro's arguments are further filter options (-C,
 * -e), shown next to the task filters.
 */
extern const struct tap_opt tap_input_task_options[], tap_input_style_options[];
#define TAP_INPUT_OPTIONS(...)                                                                     \
	TAP_OPT_ROWS(tap_input_task_options), ##__VA_ARGS__, TAP_OPT_ROWS(tap_input_style_options)

static inline const struct tap_style *tap_input_style(const struct tap_input_opts *opts)
{
	return opts->style ? opts->style : &tap_style_text;
}

/*
 * Check the options, open the recording, and find the window. @opts: borrowed until the run is
 * closed.
 * Return: 0; -errno with a sentence, and @usage says whether the options are to blame. Close @run
 * in either case.
 */
int tap_run_input(struct tap_run *run, const struct tap_input_opts *opts,
		  const struct tap_listener *listener, bool *usage, struct tap_err *err);
/*
 * Like tap_run_input(), but read @group (file/group.h) instead of @opts->input, unless it is NULL.
 * The run takes @group's reader, unless the options are wrong.
 */
int tap_run_input_group(struct tap_run *run, const struct tap_input_opts *opts,
			struct tap_reader_group *group, const struct tap_listener *listener,
			bool *usage, struct tap_err *err);

#endif
