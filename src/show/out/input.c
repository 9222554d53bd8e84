// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "show/out/input.h"

#include <errno.h>
#include <string.h>

#define OPTS struct tap_input_opts

const struct tap_opt tap_input_task_options[] = { TAP_OPT_INPUT(OPTS, input),
						  TAP_OPT_PIDS(OPTS, select.tgids),
						  TAP_OPT_TIDS(OPTS, select.tids),
						  TAP_OPT_COMMS(OPTS, select.comms),
						  TAP_OPT_CGROUPS(OPTS, select.cgroups),
						  { 0 } };

#define TAP_STYLE(name, help) TAP_STYLE_OPTION(OPTS, style, name, help)
const struct tap_opt tap_input_style_options[] = {
	TAP_OPT_WINDOW(OPTS, window),
	TAP_OPT_CLOCK(OPTS, clock),
	TAP_OPTION(OPTS, color, "color", 0, "WHEN", TAP_OPT_STRING,
		   "colours in text: always, never, or auto (only on a terminal) [auto]"),
#include "show/out/styles.h"
	{ 0 }
};

static int check_color(const char *when, struct tap_err *err)
{
	if (!when || !strcmp(when, "always") || !strcmp(when, "never") || !strcmp(when, "auto"))
		return 0;
	return tap_err_set(err, -EINVAL, "--color: '%.100s' is not one of always, never, auto",
			   when);
}

int tap_run_input_group(struct tap_run *run, const struct tap_input_opts *opts,
			struct tap_reader_group *group, const struct tap_listener *listener,
			bool *usage, struct tap_err *err)
{
	const struct tap_format *const *formats;
	enum tap_clock clock;
	unsigned int nr;
	int ret;

	*run = (struct tap_run){ 0 };
	ret = tap_time_option_parse(&run->time, opts->window, err);
	if (!ret)
		ret = tap_clock_parse(opts->clock, &clock, err);
	if (!ret)
		ret = check_color(opts->color, err);
	*usage = ret;
	if (!ret)
		ret = group ? tap_recording_adopt(&run->rec, group, listener, err)
			    : tap_recording_open(&run->rec, opts->input.v, opts->input.nr, listener,
						 err);
	if (ret)
		return ret;
	formats = tap_reader_formats(run->rec.reader, &nr);
	ret = tap_pick_init(&run->pick, &opts->select, formats, nr, err);
	if (!ret && run->pick.note.len)
		tap_recording_note(&run->rec, "%s", tap_buf_str(&run->pick.note));
	if (!ret)
		ret = tap_run_find_window(run, err);
	if (!ret)
		ret = tap_recording_show(&run->rec, clock, err);
	*usage = ret;
	return ret;
}

int tap_run_input(struct tap_run *run, const struct tap_input_opts *opts,
		  const struct tap_listener *listener, bool *usage, struct tap_err *err)
{
	return tap_run_input_group(run, opts, NULL, listener, usage, err);
}
