// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* schedtap export: a recording in the form of other tools. */
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "analysis/folded.h"
#include "cli/cmd_report.h"
#include "explain/sources.h"
#include "explain/wait_lines.h"
#include "report/input.h"
#include "report/unmatched.h"

#define BLOCK_BYTES ((size_t)64 << 10)

struct export_opts {
	struct tap_input_opts input;
	const char *to, *of;
};

static const struct tap_opt options[] = {
	TAP_OPT_ROWS(tap_input_task_options),
	TAP_OPT_CPUS(struct export_opts, input.select.cpus),
	TAP_OPT_WINDOW(struct export_opts, input.window),
	TAP_OPTION(struct export_opts, to, "to", 0, "FORM", TAP_OPT_STRING,
		   "write folded: a line per stack, for flame graph tools [folded]"),
	TAP_OPTION(struct export_opts, of, "of", 0, "WHAT", TAP_OPT_STRING,
		   "time of: off-cpu, preemptions, wakeups, or waits [off-cpu]"),
	{ 0 }
};

struct export {
	struct tap_run run;
	struct tap_event_stacks *stacks;
	struct tap_folded folded;
	/* of waits */
	struct tap_explain_waits waits;
	struct tap_explain_sources sources;
	struct tap_keyed lines; /* of struct tap_wait_line */
	struct tap_progress progress;
};

static const struct {
	const char *name;
	enum tap_folded_of of;
	unsigned int needs;
} kinds[] = {
	{ "off-cpu", TAP_FOLDED_OFF_CPU, TAP_NEEDS_SWITCHES | TAP_NEEDS_STACKS },
	{ "preemptions", TAP_FOLDED_PREEMPTIONS, TAP_NEEDS_SWITCHES | TAP_NEEDS_STACKS },
	{ "wakeups", TAP_FOLDED_WAKEUPS, TAP_NEEDS_SWITCHES | TAP_NEEDS_WAKEUPS | TAP_NEEDS_STACKS },
	{ "waits", .needs = TAP_NEEDS_SWITCHES }, /* no stacks */
};
#define WAITS (sizeof(kinds) / sizeof(*kinds) - 1)

static int read_options(const struct export_opts *o, unsigned int *kind, struct tap_err *err)
{
	if (strcmp(o->to, "folded"))
		return tap_err_set(err, -EINVAL, "bad --to '%s': it is folded", o->to);
	for (*kind = 0; *kind < sizeof(kinds) / sizeof(*kinds); ++*kind)
		if (!strcmp(kinds[*kind].name, o->of))
			return 0;
	return tap_err_set(err, -EINVAL, "bad --of '%s': it is off-cpu, preemptions, wakeups, or waits", o->of);
}

static bool picks(void *ctx, const struct tap_task *task, int cpu)
{
	struct tap_run *run = ctx;

	return tap_run_task(run, task) && tap_run_cpu(run, cpu);
}

static int on_stretch(void *ctx, const struct tap_stretch *s)
{
	struct export *e = ctx;

	return tap_folded_stretch(&e->folded, e->run.timeline, s, picks, &e->run);
}

static int on_event(void *ctx, const struct tap_event *ev)
{
	struct export *e = ctx;

	return tap_event_stacks_event(e->stacks, e->run.timeline, ev);
}

/* ---- waits: who waited, for what ---------------------------------------------------------------- */

static int on_wait_stretch(void *ctx, const struct tap_stretch *s)
{
	return tap_explain_waits_stretch(&((struct export *)ctx)->waits, s);
}

static int on_cpu(void *ctx, const struct tap_cpu_stretch *s)
{
	return tap_explain_waits_cpu(&((struct export *)ctx)->waits, s);
}

static int on_migration(void *ctx, const struct tap_migration *m)
{
	return tap_explain_waits_migration(&((struct export *)ctx)->waits, m);
}

static int on_waits(void *ctx, struct tap_task *task, uint64_t ts_ns)
{
	(void)ts_ns;
	return tap_explain_waits_begin(&((struct export *)ctx)->waits, task);
}

static bool wants(void *ctx, const struct tap_format *fmt)
{
	(void)ctx;
	return tap_explain_source_wants(fmt);
}

static int on_source(void *ctx, const struct tap_event *ev)
{
	struct export *e = ctx;

	return tap_explain_sources_event(&e->sources, &e->waits, ev);
}

static int on_wait(void *ctx, const struct tap_wait_told *w)
{
	struct export *e = ctx;

	return picks(&e->run, w->task, w->cpu) ? tap_wait_lines_add(&e->lines, w) : 0;
}

static int fold_waits(struct export *e, struct tap_err *err)
{
	static const struct tap_observer observer = {
		.states = TAP_EXPLAIN_STATES, .lost_states = TAP_EXPLAIN_STATES, .stretch = on_wait_stretch, .cpu = on_cpu,
		.migration = on_migration, .waits = on_waits,
	};
	static const struct tap_run_events events = { .wants = wants, .event = on_source };
	int ret;

	tap_explain_waits_init(&e->waits, &(const struct tap_explain_waits_opts){
		.timeline = &e->run.timeline, .has_placing = tap_run_has_event(&e->run, "sched_wakeup"), .tell = on_wait, .ctx = e,
	});
	ret = tap_run_feed(&e->run, &observer, &events, e, err);
	if (!ret)
		tap_wait_lines_end(&e->lines);
	tap_explain_waits_release(&e->waits);
	tap_explain_sources_release(&e->sources);
	return ret;
}

/* ---- stacks ------------------------------------------------------------------------------------- */

static int fold(struct export *e, unsigned int kind, struct tap_err *err)
{
	const struct tap_observer observer = { .states = tap_folded_states(kinds[kind].of), .stretch = on_stretch };
	const struct tap_run_events events = { .event = on_event, .all = true };
	int ret = tap_run_survey(&e->run, err) ?: tap_run_check_needs(&e->run, kinds[kind].needs, err);

	if (ret)
		return ret;
	if (kind == WAITS)
		return fold_waits(e, err);
	if (tap_event_stacks_new(tap_reader_info(e->run.rec.reader), &e->run.survey, &e->stacks))
		return tap_err_set(err, -ENOMEM, "out of memory");
	e->folded = (struct tap_folded){
		.of = kinds[kind].of, .window = e->run.window, .stacks = e->stacks,
	};
	ret = tap_run_feed(&e->run, &observer, &events, e, err);
	if (!ret)
		tap_folded_end(&e->folded);
	return ret;
}

/* Of either. */
static unsigned int nr_lines(const struct export *e)
{
	return e->folded.lines.nr + e->lines.nr;
}

static int write_lines(const struct export *e, struct tap_err *err)
{
	const struct tap_wait_line *waits = e->lines.v;
	const struct tap_folded_line *folded = e->folded.lines.v;
	struct tap_buf out = { 0 };
	int ret = 0;

	for (unsigned int i = 0; !ret && i < nr_lines(e); i++) {
		if (e->lines.nr)
			tap_wait_line_put(&waits[i], &out);
		else
			tap_folded_put(&e->folded, &folded[i], &out);
		ret = out.err;
		if (ret || (out.len < BLOCK_BYTES && i + 1 < nr_lines(e)))
			continue;
		ret = tap_write_all(STDOUT_FILENO, out.data, out.len);
		tap_buf_clear(&out);
	}
	tap_buf_release(&out);
	errno = -ret;
	return ret ? tap_err_set(err, ret, "cannot write the lines: %m") : 0;
}

static int run_export(void *opts, const struct tap_strings *operands, char **rest)
{
	const struct export_opts *o = opts;
	struct export e = { 0 };
	const struct tap_listener listener = tap_cmd_listener(&e.progress);
	struct tap_err err = { 0 };
	bool usage = true;
	unsigned int kind;
	int ret = read_options(o, &kind, &err);

	(void)operands;
	(void)rest;
	if (ret)
		return tap_cmd_fail(&err, usage);
	ret = tap_run_input(&e.run, &o->input, &listener, &usage, &err);
	if (!ret)
		ret = fold(&e, kind, &err);
	tap_progress_erase(&e.progress);
	if (!ret) {
		tap_cmd_output_begins(&e.progress);
		ret = write_lines(&e, &err);
	}
	ret = ret ? tap_cmd_fail(&err, usage) : TAP_EXIT_OK;
	if (!ret && !nr_lines(&e) && tap_unmatched(&e.run))
		ret = TAP_EXIT_FAILED;
	tap_folded_release(&e.folded);
	tap_keyed_release(&e.lines);
	tap_event_stacks_free(e.stacks);
	tap_run_close(&e.run);
	return ret;
}

const struct tap_cmd tap_cmd_export = {
	.name = "export",
	.help = "time by stack, for flame graph tools",
	.operands = TAP_CMD_FILE,
	.example = "schedtap export -i demo/trace.dat --to folded --of off-cpu",
	.opts = options,
	.opts_size = sizeof(struct export_opts),
	.defaults = &(const struct export_opts){ .to = "folded", .of = "off-cpu" },
	.run = run_export,
};
