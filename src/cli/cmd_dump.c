// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* schedtap dump: the events of a recording, in time order. */
#include <errno.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/cmd_report.h"
#include "cli/screen.h"
#include "out/out.h"
#include "report/input.h"
#include "report/unmatched.h"

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
	bool any; /* an event was printed */
};

/* Lives and names are the timeline's to tell, as they are in reports. Return: 0 or -ENOMEM. */
static int learn(struct tap_identities *ids, const struct tap_event_kind *kind, const struct tap_event *ev)
{
	int ret = tap_identities_advance(ids, ev->ts_ns);

	return !ret && kind && kind->tells_identity ? tap_timeline_event(ids->timeline, ev) : ret;
}

static int dump_event(struct tap_out *o, struct dump *d, const struct tap_event *ev)
{
	const struct tap_event_kind *kind = ev->fmt ? tap_event_kind(&d->run.rec.kinds, ev->fmt) : NULL;
	int ret;

	if ((ev->fmt && !kind) || learn(o->ids, kind, ev))
		return -ENOMEM;
	ret = tap_pick_match(&d->run.pick, o->ids, kind, ev);
	if (ret <= 0)
		return ret;
	d->any |= kind != NULL;
	return tap_out_event(o, kind, ev);
}

/* What no -e asks for is not decoded, but for what tells who is who. */
static uint16_t mark(void *pick, const struct tap_format *fmt)
{
	return tap_pick_wants(pick, fmt) || tap_timeline_tells_identity(fmt);
}

static int make_timeline(struct tap_run *run, struct tap_err *err)
{
	const struct tap_timeline_opts opts = {
		.window = run->pick.window, .lists = &run->rec.ids.lists, .lives_only = true,
	};

	if (tap_timeline_new(&opts, &run->timeline))
		return tap_err_set(err, -ENOMEM, "out of memory");
	run->rec.ids.timeline = run->timeline;
	run->rec.ids.adds = true;
	return 0;
}

static int dump_all(struct dump *d, struct tap_err *err)
{
	const struct tap_style *style = tap_input_style(d->opts);
	const struct tap_window *window = &d->run.pick.window;
	struct tap_reader *reader = d->run.rec.reader;
	const struct tap_event *const *batch;
	struct tap_out o;
	int ret, failed = 0, flushed;

	/* a name that a switch before the window tells is worth less than not reading that far */
	tap_reader_limit(reader, window->from_ns, window->to_ns);
	tap_reader_mark(reader, mark, &d->run.pick);
	tap_progress_start(&d->progress, STDERR_FILENO, "dump", tap_now_ns());
	tap_recording_watch(&d->run.rec, "dump");
	tap_cmd_output_begins(&d->progress); /* on a terminal the events are what moves */
	tap_out_init(&o, style, &d->run.rec.ids, reader, &d->run.rec.wall, STDOUT_FILENO);
	o.color = style->audience == TAP_FOR_PEOPLE && tap_screen_color(d->opts->color);
	while (!failed && (ret = tap_reader_batch(reader, &batch, err)) > 0)
		for (int i = 0; !failed && i < ret; i++)
			failed = dump_event(&o, d, batch[i]);
	/* what came before a damaged place is worth having */
	flushed = failed ? 0 : tap_out_flush(&o);
	tap_out_release(&o);
	if (failed || flushed) {
		errno = -(failed ? failed : flushed);
		return tap_err_set(err, -errno, "cannot write the events: %m");
	}
	return ret;
}

/* What the recording's lists name alone. Return: 0 or -ENOMEM. */
static int add_listed(struct tap_identities *ids)
{
	for (unsigned int i = 0; i < ids->lists.nr_rows; i++)
		if (!tap_identity(ids, ids->lists.rows[i].tid))
			return -ENOMEM;
	return 0;
}

/* Nothing was printed. Return: the exit code. */
static int tell_nothing(struct tap_run *run)
{
	struct tap_err err = { 0 };

	if (!(run->pick.select->by & (TAP_SELECT_TASKS | TAP_SELECT_CPUS)) && !run->time.text &&
	    !run->pick.filters.by_format.nr)
		return TAP_EXIT_OK;
	if (run->time.text && tap_recording_check_window(&run->rec, &run->time, run->pick.window, &err))
		return tap_cmd_fail(&err, false);
	if (!add_listed(&run->rec.ids) && tap_unmatched(run))
		return TAP_EXIT_FAILED;
	tap_err_set(&err, -ENODATA, "no event fits all of the options");
	return tap_cmd_fail(&err, false);
}

/* Not nanoseconds. */
static void note_ticks(const struct tap_recording *rec)
{
	const char *ticks = tap_reader_info(rec->reader)->ticks;

	if (ticks)
		tap_recording_note(rec, "the stamps are ticks of the clock '%s', not nanoseconds: what is shown as "
				   "a second is 1,000,000,000 of them", ticks);
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
		ret = make_timeline(&d.run, &err) ?: dump_all(&d, &err);
	}
	tap_progress_erase(&d.progress);
	if (!ret)
		tap_run_note_unknown(&d.run);
	if (ret)
		ret = tap_cmd_fail(&err, usage);
	else
		ret = d.any ? TAP_EXIT_OK : tell_nothing(&d.run);
	tap_run_close(&d.run);
	return ret;
}

const struct tap_cmd tap_cmd_dump = {
	.name = "dump",
	.help = "events as text, json, csv",
	.operands = TAP_CMD_FILE,
	.example = "schedtap dump -i demo/trace.dat -e sched_switch --time 0,",
	.opts = dump_opts,
	.opts_size = sizeof(struct tap_input_opts),
	.run = run_dump,
};
