// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* schedtap dump: print the events of a recording in time order. */
#include <errno.h>
#include <unistd.h>

#include "base/clock.h"
#include "timeline/run/picked.h"
#include "timeline/run/unmatched.h"
#include "show/out/input.h"
#include "show/out/out.h"
#include "cli/cmd_report.h"
#include "cli/screen.h"

static const struct tap_opt dump_opts[] = {
	TAP_INPUT_OPTIONS(TAP_OPT_CPUS(struct tap_input_opts, select.cpus),
			  TAP_OPT_EVENTS(struct tap_input_opts, select.events),
			  TAP_OPT_FILTER(struct tap_input_opts, select.filters, select.events)),
	{ 0 }
};

struct dump {
	const struct tap_input_opts *opts;
	struct tap_run run;
	struct tap_progress progress;
	struct tap_out out;
	int failed; /* -errno of a failed write */
	bool any; /* an event was printed */
};

static int dump_event(void *ctx, const struct tap_event_kind *kind, const struct tap_event *ev)
{
	struct dump *d = ctx;

	d->any |= kind != NULL;
	return d->failed = tap_out_event(&d->out, kind, ev);
}

static int dump_all(struct dump *d, struct tap_err *err)
{
	const struct tap_style *style = tap_input_style(d->opts);
	struct tap_out *o = &d->out;
	int ret;

	tap_progress_start(&d->progress, STDERR_FILENO, "dump", tap_now_ns());
	tap_recording_watch(&d->run.rec, "dump");
	tap_cmd_output_begins(&d->progress); /* no progress line between the events on a terminal */
	tap_out_init(o, style, &d->run.rec.ids, d->run.rec.reader, &d->run.rec.wall, STDOUT_FILENO);
	o->color = style->audience == TAP_FOR_PEOPLE && tap_screen_color(d->opts->color);
	ret = tap_run_feed_picked(&d->run, dump_event, d, err);
	/* print the events before a damaged place */
	if (!d->failed)
		d->failed = tap_out_flush(o);
	tap_out_release(o);
	if (d->failed) {
		errno = -d->failed;
		return tap_err_set(err, d->failed, "cannot write the events: %m");
	}
	return ret;
}

/* Explain why no event was printed. Return: the exit code. */
static int explain_nothing(struct tap_run *run)
{
	struct tap_err err = { 0 };

	if (!(run->pick.select->by & (TAP_SELECT_TASKS | TAP_SELECT_CPUS)) && !run->time.text &&
	    !run->pick.filters.by_format.nr)
		return TAP_EXIT_OK;
	if (run->time.text &&
	    tap_recording_check_window(&run->rec, &run->time, run->pick.window, &err))
		return tap_cmd_fail(&err, false);
	if (!tap_run_add_listed(run) && tap_unmatched(run))
		return TAP_EXIT_FAILED;
	tap_err_set(&err, -ENODATA, "no event matches all of the given options");
	return tap_cmd_fail(&err, false);
}

/* Print a note if the recording's clock does not count nanoseconds. */
static void note_ticks(const struct tap_recording *rec)
{
	const char *ticks = tap_reader_info(rec->reader)->ticks;

	if (ticks)
		tap_recording_note(rec,
				   "time stamps are ticks of the clock '%s', not nanoseconds: one "
				   "second shown is 1,000,000,000 ticks",
				   ticks);
}

static int run_dump(void *opts, const struct tap_strings *operands, char **rest)
{
	struct dump d = { .opts = opts };
	const struct tap_listener listener = tap_cmd_listener(&d.progress);
	struct tap_err err = { 0 };
	bool usage;
	int ret;

	(void)operands;
	(void)rest;
	ret = tap_run_input(&d.run, d.opts, &listener, &usage, &err);
	if (!ret) {
		note_ticks(&d.run.rec);
		/* verify checksums: printing takes 2 % longer */
		tap_reader_verify(d.run.rec.reader, true);
		ret = dump_all(&d, &err);
	}
	tap_progress_erase(&d.progress);
	tap_recording_note_damage(&d.run.rec);
	tap_recording_note_incomplete(&d.run.rec);
	if (!ret)
		tap_run_note_unknown(&d.run);
	if (ret)
		ret = tap_cmd_fail(&err, usage);
	else
		ret = d.any ? TAP_EXIT_OK : explain_nothing(&d.run);
	tap_run_close(&d.run);
	return ret;
}

const struct tap_cmd tap_cmd_dump = {
	.name = "dump",
	.help = "print events as text, JSON or CSV",
	.operands = TAP_CMD_FILE,
	.example = "schedtap dump -e sched_switch --time +0s,+1s",
	.opts = dump_opts,
	.opts_size = sizeof(struct tap_input_opts),
	.run = run_dump,
};
