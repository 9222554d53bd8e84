// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "cli/cmd_report.h"

#include <errno.h>
#include <stddef.h>
#include <unistd.h>

#include "base/clock.h"
#include "show/report/report.h"
#include "cli/screen.h"

static void on_note(void *progress, const struct tap_err *note)
{
	tap_progress_erase(progress);
	tap_cmd_fail(note, false);
}

static void on_progress(void *ctx, const char *what, uint64_t done, uint64_t whole)
{
	struct tap_progress *progress = ctx;
	uint64_t now_ns = tap_now_ns();

	if (!progress->what)
		tap_progress_start(progress, STDERR_FILENO, what, now_ns);
	progress->what = what;
	tap_progress_show(progress, done, whole, now_ns);
}

struct tap_listener tap_cmd_listener(struct tap_progress *progress)
{
	return (struct tap_listener){ on_note, on_progress, progress };
}

void tap_cmd_output_begins(void *ctx)
{
	struct tap_progress *progress = ctx;

	tap_progress_erase(progress);
	if (isatty(STDOUT_FILENO))
		progress->on = false;
	tap_screen_page();
}

int tap_cmd_report(const struct tap_cmd *cmd, const void *opts)
{
	const struct tap_report_type *type =
		(const void *)((const char *)cmd - offsetof(struct tap_report_type, cmd));
	struct tap_progress progress = { 0 };
	const struct tap_report_opts *o = opts;
	const struct tap_screen screen = {
		.fd = STDOUT_FILENO,
		.columns = tap_screen_columns(),
		.color = tap_screen_color(o->input.color),
		.utf8 = tap_screen_utf8(),
		.begin = tap_cmd_output_begins,
		.listener = tap_cmd_listener(&progress),
	};
	struct tap_err err = { 0 };
	struct tap_report *r;
	int ret = tap_report_run(type, opts, &screen, &r, &err);
	int code = TAP_EXIT_OK;

	tap_progress_erase(&progress);
	if (r)
		tap_recording_note_damage(&r->run.rec);
	if (ret)
		code = tap_cmd_fail(&err, r && r->usage);
	else if (r->is_wrong)
		code = TAP_EXIT_FAILED;
	if ((!ret || ret == -ENODATA) && tap_report_unmatched(r))
		code = TAP_EXIT_FAILED;
	tap_report_free(r);
	return code;
}
