// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* schedtap dump: the events of a recording, in time order. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "analysis/pick.h"
#include "cli/cmd.h"
#include "cli/input.h"
#include "out/out.h"

struct dump_opts {
	const char *input;
	struct tap_pick_opts pick;
	bool json, csv;
};

static const struct tap_opt dump_opts[] = {
	TAP_OPT_INPUT(struct dump_opts, input),
	TAP_OPT_EVENTS(struct dump_opts, pick.events),
	TAP_OPT_PIDS(struct dump_opts, pick.tgids),
	TAP_OPT_TIDS(struct dump_opts, pick.tids),
	TAP_OPT_COMMS(struct dump_opts, pick.comms),
	TAP_OPTION(struct dump_opts, pick.cgroups, "cgroup", 'g', "CGROUP", TAP_OPT_STRINGS,
		   "only events that name this cgroup, one below it, or a thread in them; a glob; "
		   "repeatable"),
	TAP_OPT_CPUS(struct dump_opts, pick.cpus),
	TAP_OPT_WINDOW(struct dump_opts, pick.window),
	TAP_OPT_JSON(struct dump_opts, json),
	TAP_OPT_CSV(struct dump_opts, csv),
	{ 0 }
};

static int dump_event(struct tap_out *o, struct tap_pick *pick, const struct tap_event *ev)
{
	const struct tap_who_kind *kind = NULL;
	int ret;

	if (ev->fmt) {
		kind = tap_who_kind(o->who, ev->fmt);
		if (!kind || tap_who_learn(o->who, kind, ev))
			return -ENOMEM;
	}
	ret = tap_pick_match(pick, o->who, kind, ev);
	return ret > 0 ? tap_out_event(o, kind, ev) : ret;
}

/* What no -e asks for is not decoded, but for the switches: they tell who is who. */
static uint16_t mark(void *pick, const struct tap_format *fmt)
{
	return tap_pick_wants(pick, fmt) || !strcmp(fmt->name, "sched_switch");
}

static int dump_all(struct tap_input *in, struct tap_pick *pick, const struct tap_out_ops *ops,
		    struct tap_err *err)
{
	struct tap_event ev;
	struct tap_out o;
	int ret, failed = 0, flushed;

	/* a name that a switch before the window tells is worth less than not reading that far */
	tap_reader_limit(in->reader, pick->from_ns, pick->to_ns);
	tap_reader_mark(in->reader, mark, pick);
	tap_out_init(&o, ops, &in->who, STDOUT_FILENO);
	while (!failed && (ret = tap_reader_next(in->reader, &ev, err)) > 0)
		failed = dump_event(&o, pick, &ev);
	/* what came before a damaged place is worth having */
	flushed = failed ? 0 : tap_out_flush(&o);
	tap_out_release(&o);
	if (failed || flushed) {
		errno = -(failed ? failed : flushed);
		return tap_err_set(err, -errno, "cannot write the events: %m");
	}
	return ret;
}

static int run_dump(void *opts, const struct tap_strings *operands, char **rest)
{
	const struct tap_out_ops *ops = &tap_out_text;
	const struct tap_format *const *formats;
	struct dump_opts *o = opts;
	struct tap_err err = { 0 };
	struct tap_pick pick;
	struct tap_input in;
	unsigned int nr;
	int ret;

	(void)operands;
	(void)rest;
	if (o->json && o->csv) {
		tap_err_set(&err, -EINVAL, "--json and --csv exclude each other");
		return tap_cmd_fail(&err, true);
	}
	if (o->json)
		ops = &tap_out_json;
	else if (o->csv)
		ops = &tap_out_csv;
	if (tap_input_open(&in, o->input, &err))
		return tap_cmd_fail(&err, false);
	formats = tap_reader_formats(in.reader, &nr);
	if (tap_pick_init(&pick, &o->pick, formats, nr, &err)) {
		ret = tap_cmd_fail(&err, true);
		goto out;
	}
	ret = dump_all(&in, &pick, ops, &err);
	ret = ret ? tap_cmd_fail(&err, false) : TAP_EXIT_OK;
	tap_pick_release(&pick);
out:
	tap_input_close(&in);
	return ret;
}

const struct tap_cmd tap_cmd_dump = {
	.name = "dump",
	.help = "events as text, json, csv",
	.example = "schedtap dump -i demo/trace.dat -e sched_switch --time 0,",
	.opts = dump_opts,
	.opts_size = sizeof(struct dump_opts),
	.defaults = &(const struct dump_opts){ .input = TAP_INPUT_DEFAULT },
	.run = run_dump,
};
