// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* schedtap top: what the scheduler does now, at each refresh, without a recording. */
#include <errno.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "show/screen/terminal.h"
#include "cli/cmd.h"
#include "cli/top_screens.h"

#define MIN_DELAY_NS 100000000u

struct top_opts {
	struct tap_strings input; /* a recording; none: live */
	const char *at;
	uint64_t delay_ns, warn_ns;
	int64_t nr; /* 0: without end */
	bool batch, json, from_waking;
};

static const struct tap_opt options[] = {
	TAP_OPTION(struct top_opts, input, "input", 'i', "FILE", TAP_OPT_STRINGS,
		   "show this recording; repeatable for files of one recorder"),
	TAP_OPTION(struct top_opts, at, "at", 0, "TIME", TAP_OPT_STRING,
		   "with -i: begin at the step that contains this time [the start]"),
	TAP_OPTION(struct top_opts, batch, "batch", 'b', NULL, TAP_OPT_FLAG,
		   "print lines instead of a screen [if there is no terminal]"),
	TAP_OPTION(struct top_opts, delay_ns, "delay", 'd', "TIME", TAP_OPT_TIME,
		   "time between refreshes, at least 100ms [1s]"),
	{ .name = "iterations",
	  .letter = 'n',
	  .arg = "N",
	  .type = TAP_OPT_INT,
	  .help = "end after this many refreshes [never]",
	  .offset = offsetof(struct top_opts, nr),
	  .min = 1,
	  .max = INT64_MAX },
	TAP_OPTION(struct top_opts, warn_ns, "threshold", 0, "TIME", TAP_OPT_TIME,
		   "mark waits this long with !, ten times as long in red [1ms]"),
	TAP_OPT_FROM_WAKING(struct top_opts, from_waking),
	TAP_OPTION(struct top_opts, json, "json", 0, NULL, TAP_OPT_FLAG,
		   "print one JSON object per refresh"),
	{ 0 },
};

static const struct top_opts defaults = { .delay_ns = 1000000000u, .warn_ns = 1000000u };

static void sleep_until(uint64_t ns)
{
	const struct timespec at = { .tv_sec = (time_t)(ns / 1000000000u),
				     .tv_nsec = (long)(ns % 1000000000u) };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL) == EINTR)
		;
}

static int print(struct tap_buf *out, struct tap_err *err)
{
	if (out->err)
		return tap_err_nomem(err);
	if (fwrite(out->data, 1, out->len, stdout) != out->len || fflush(stdout))
		return tap_err_set(err, -errno, "cannot write: %m");
	tap_buf_clear(out);
	return 0;
}

/* Wait until the next refresh; measure the overhead just before it. */
static void await_refresh(struct tap_top_source *s, uint64_t at_ns)
{
	sleep_until(at_ns - TAP_TOP_SAMPLE_NS);
	tap_top_source_sample(s);
	sleep_until(at_ns);
}

static void add(struct tap_buf *out, const struct top_opts *o, const struct tap_top_reading *r)
{
	if (r->refresh.view)
		(o->json ? tap_top_json : tap_top_line)(out, &r->refresh);
	else
		(o->json ? tap_top_accounts_json : tap_top_accounts_line)(out, &r->proc);
}

/* Return how many steps of a recording are printed. @from: the first one. @nr: -n. */
static int64_t steps_of(const struct tap_top_source *s, uint64_t from, int64_t nr)
{
	int64_t steps = (int64_t)(tap_top_source_steps(s) - from);

	return nr && nr < steps ? nr : steps;
}

static int print_lines(struct tap_top_source *s, const struct top_opts *o, struct tap_err *err)
{
	uint64_t at_ns = tap_now_ns(), from;
	int64_t nr = o->nr;
	struct tap_buf out = { 0 };
	int ret = s->recorded ? tap_top_source_find(s, o->at, &from, err) : 0;

	if (!ret && s->recorded) {
		at_ns = s->run.window.from_ns + from * o->delay_ns;
		nr = steps_of(s, from, o->nr);
	}
	for (int64_t i = 0; !ret && (i < nr || (!nr && !s->recorded)); i++) {
		struct tap_top_reading reading;

		at_ns += o->delay_ns;
		if (!s->recorded)
			await_refresh(s, at_ns);
		ret = tap_top_source_read(s, at_ns, &reading, err);
		if (!ret)
			add(&out, o, &reading);
		ret = ret ?: print(&out, err);
	}
	tap_buf_release(&out);
	return ret;
}

static int check(const struct top_opts *o, struct tap_err *err)
{
	if (o->delay_ns < MIN_DELAY_NS)
		return tap_err_set(err, -EINVAL, "-d: the time must be at least 100ms");
	if (!o->warn_ns)
		return tap_err_set(err, -EINVAL, "--threshold must be greater than 0");
	if (o->at && !o->input.nr)
		return tap_err_set(err, -EINVAL, "--at needs a recording: -i FILE");
	if (o->from_waking && o->input.nr)
		return tap_err_set(err, -EINVAL,
				   "--from-waking is not for recordings: their waits begin at the "
				   "waking if it was recorded");
	return 0;
}

static int run_top(void *opts, const struct tap_strings *operands, char **rest)
{
	const struct top_opts *o = opts;
	bool lines = o->batch || o->json || !tap_terminal_can(STDIN_FILENO, STDOUT_FILENO);
	const struct tap_top_source_opts source = { .delay_ns = o->delay_ns,
						    .reads_tasks = o->json || !lines,
						    .from_waking = o->from_waking };
	const struct tap_top_screens_opts screens = { .nr = o->nr,
						      .at = o->at,
						      .file = o->input.nr ? o->input.v[0] : NULL,
						      .warn_ns = o->warn_ns,
						      .bad_ns = 10 * o->warn_ns };
	struct tap_top_source s = { 0 };
	struct tap_err err = { 0 };
	bool usage = false;
	int ret = check(o, &err);

	(void)operands;
	(void)rest;
	if (ret)
		return tap_cmd_fail(&err, true);
	ret = o->input.nr ? tap_top_source_recording(&s, &source, &o->input, &usage, &err)
			  : tap_top_source_live(&s, &source, &err);
	if (!ret)
		ret = lines ? print_lines(&s, o, &err) : tap_top_screens(&s, &screens, &err);
	tap_top_source_close(&s);
	return ret ? tap_cmd_fail(&err, usage) : TAP_EXIT_OK;
}

const struct tap_cmd tap_cmd_top = {
	.name = "top",
	.help = "waits and their culprits as they happen, on a screen",
	.exits = "0 done, 1 failed, 2 usage error, 3 --from-waking: no access, or BPF is not "
		 "available",
	.example = "schedtap top -b -n 3",
	.opts = options,
	.opts_size = sizeof(struct top_opts),
	.defaults = &defaults,
	.run = run_top,
};
