// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* schedtap dump: the events of a recording, in time order. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/pass.h"
#include "cli/screen.h"
#include "cli/unmatched.h"
#include "out/out.h"

static const struct tap_opt dump_opts[] = {
	TAP_OPT_INPUT(struct tap_pass_opts, input),
	TAP_OPT_EVENTS(struct tap_pass_opts, pick.events),
	TAP_OPT_PIDS(struct tap_pass_opts, pick.tgids),
	TAP_OPT_TIDS(struct tap_pass_opts, pick.tids),
	TAP_OPT_COMMS(struct tap_pass_opts, pick.comms),
	TAP_OPTION(struct tap_pass_opts, pick.cgroups, "cgroup", 'g', "CGROUP", TAP_OPT_STRINGS,
		   "only events that name this cgroup, one below it, or a thread in them; a glob; "
		   "repeatable"),
	TAP_OPT_CPUS(struct tap_pass_opts, pick.cpus),
	TAP_OPT_WINDOW(struct tap_pass_opts, pick.window),
	TAP_OPT_CLOCK(struct tap_pass_opts, clock),
	TAP_OPT_JSON(struct tap_pass_opts, json),
	TAP_OPT_CSV(struct tap_pass_opts, csv),
	{ 0 }
};

/* One run of the command. */
struct run {
	const struct tap_pass_opts *opts;
	struct tap_input in;
	struct tap_pick pick;
	bool any; /* an event was printed */
};

static int dump_event(struct tap_out *o, struct run *run, const struct tap_event *ev)
{
	const struct tap_who_kind *kind = NULL;
	int ret;

	if (tap_who_advance(o->who, ev->ts_ns))
		return -ENOMEM;
	if (ev->fmt) {
		kind = tap_who_kind(o->who, ev->fmt);
		if (!kind || tap_who_learn(o->who, kind, ev))
			return -ENOMEM;
	}
	ret = tap_pick_match(&run->pick, o->who, kind, ev);
	if (ret <= 0)
		return ret;
	run->any |= kind != NULL;
	return tap_out_event(o, kind, ev);
}

/* What no -e asks for is not decoded, but for what tells who is who. */
static uint16_t mark(void *pick, const struct tap_format *fmt)
{
	return tap_pick_wants(pick, fmt) || tap_who_learns(fmt);
}

/* -p: of how many tasks nobody can tell whether they are meant. */
static void tell_unknown(const struct tap_who *who, const struct tap_pick *pick)
{
	unsigned int unknown = 0;

	tap_map_for_each(&who->tasks, s) {
		const struct tap_who_task *t = (const struct tap_who_task *)(uintptr_t)s->value;

		unknown += t && t->tid > 0 && t->tgid < 0 &&
			   !tap_map_get(&pick->tgids, (uint64_t)t->tid);
	}
	tap_input_tell_unknown(unknown);
}

static int dump_all(struct run *run, const struct tap_out_ops *ops, struct tap_err *err)
{
	struct tap_reader *reader = run->in.reader;
	struct tap_event ev;
	struct tap_out o;
	int ret, failed = 0, flushed;

	/* a name that a switch before the window tells is worth less than not reading that far */
	tap_reader_limit(reader, run->pick.from_ns, run->pick.to_ns);
	tap_reader_mark(reader, mark, &run->pick);
	tap_input_watch(&run->in, "dump");
	tap_input_unwatch(&run->in); /* on a terminal the events are what moves */
	tap_screen_page();
	tap_out_init(&o, ops, &run->in.who, &run->in.wall, STDOUT_FILENO);
	o.color = ops == &tap_out_text && tap_screen_color();
	while (!failed && (ret = tap_reader_next(reader, &ev, err)) > 0)
		failed = dump_event(&o, run, &ev);
	/* what came before a damaged place is worth having */
	flushed = failed ? 0 : tap_out_flush(&o);
	tap_out_release(&o);
	if (failed || flushed) {
		errno = -(failed ? failed : flushed);
		return tap_err_set(err, -errno, "cannot write the events: %m");
	}
	return ret;
}

static int find_there(const struct tap_who *who, struct tap_there *there)
{
	there->nr_cpus = tap_reader_info(who->reader)->nr_cpus;
	tap_map_for_each(&who->tasks, s) {
		const struct tap_who_task *t = (const struct tap_who_task *)(uintptr_t)s->value;
		struct tap_there_task task = { t->tid, t->tgid, t->comm, t->comm_len, t->cgroup };

		if (tap_there_add(there, &task))
			return -ENOMEM;
	}
	return 0;
}

/* Nothing was printed. Return: the exit code. */
static int tell_nothing(struct run *run, const struct tap_window *w)
{
	const struct tap_pick_opts *o = &run->opts->pick;
	struct tap_range range = { run->pick.from_ns, run->pick.to_ns };
	struct tap_there there = { 0 };
	struct tap_err err = { 0 };
	bool told;

	if (!o->tids.nr && !o->tgids.nr && !o->comms.nr && !o->cgroups.nr && !o->cpus && !w->text)
		return TAP_EXIT_OK;
	if (w->text && tap_input_check_window(&run->in, w, range, &err))
		return tap_cmd_fail(&err, false);
	told = !find_there(&run->in.who, &there) &&
	       tap_unmatched(&run->pick, &run->in.who, &there);
	tap_there_release(&there);
	if (told)
		return TAP_EXIT_FAILED;
	tap_err_set(&err, -ENODATA, "no event fits all of the options");
	return tap_cmd_fail(&err, false);
}

/* Not nanoseconds. */
static void tell_ticks(const struct run *run)
{
	const char *ticks = tap_reader_info(run->in.reader)->ticks;
	struct tap_err err = { 0 };

	if (!ticks)
		return;
	tap_err_set(&err, -ENODATA, "the stamps are ticks of the clock '%s', not nanoseconds: what is shown as a second "
		    "is 1,000,000,000 of them", ticks);
	tap_cmd_fail(&err, false);
}

static int run_dump(void *opts, const struct tap_strings *operands, char **rest)
{
	struct run run = { .opts = opts };
	const struct tap_pass_opts *o = opts;
	const struct tap_out_ops *ops = o->csv ? &tap_out_csv : &tap_out_text;
	struct tap_err err = { 0 };
	struct tap_window w;
	bool usage;
	int ret;

	(void)operands;
	(void)rest;
	ret = tap_pass_input(o, &run.in, &run.pick, &w, &usage, &err);
	if (!ret) {
		tell_ticks(&run);
		ret = dump_all(&run, o->json ? &tap_out_json : ops, &err);
	}
	tap_progress_erase(&run.in.progress);
	if (!ret && run.pick.tgids.nr)
		tell_unknown(&run.in.who, &run.pick);
	if (ret)
		ret = tap_cmd_fail(&err, usage);
	else
		ret = run.any ? TAP_EXIT_OK : tell_nothing(&run, &w);
	tap_pick_release(&run.pick);
	tap_input_close(&run.in);
	return ret;
}

const struct tap_cmd tap_cmd_dump = {
	.name = "dump",
	.help = "events as text, json, csv",
	.operands = TAP_CMD_FILE,
	.example = "schedtap dump -i demo/trace.dat -e sched_switch --time 0,",
	.opts = dump_opts,
	.opts_size = sizeof(struct tap_pass_opts),
	.run = run_dump,
};
