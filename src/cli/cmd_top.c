// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* schedtap top: what the scheduler does now, at each refresh, without a recording. */
#include <errno.h>
#include <stdio.h>
#include <time.h>

#include "base/clock.h"
#include "show/top/top.h"
#include "cli/cmd.h"

#define MAX_CGROUPS 1024u
/*
 * The overhead is measured this long, this often: switching the kernel's statistics on and off
 * patches code, which interrupts all CPUs, and the statistics slow down all BPF programs.
 */
#define SAMPLE_NS 20000000u
#define SAMPLE_EVERY_NS 10000000000u
#define MIN_DELAY_NS 100000000u

struct top_opts {
	uint64_t delay_ns;
	int64_t nr; /* 0: without end */
	bool batch, json, from_waking;
};

static const struct tap_opt options[] = {
	TAP_OPTION(struct top_opts, batch, "batch", 'b', NULL, TAP_OPT_FLAG,
		   "print lines instead of a screen; the only mode so far"),
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
	TAP_OPT_FROM_WAKING(struct top_opts, from_waking),
	TAP_OPTION(struct top_opts, json, "json", 0, NULL, TAP_OPT_FLAG,
		   "print one JSON object per refresh"),
	{ 0 },
};

static const struct top_opts defaults = { .delay_ns = 1000000000u };

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

struct top {
	const struct top_opts *o;
	struct tap_tally *tally; /* NULL: it could not be opened */
	struct tap_err why; /* then: the reason */
	struct tap_accounts *accounts; /* then: what takes its place */
	struct tap_buf out;
	uint64_t next_ns; /* time of the next refresh */
	uint64_t own_ns; /* CPU time of this process at the last refresh */
	uint64_t sampled_ns, ns_per_switch; /* when the overhead was measured, and the result */
};

/* Wait until the next refresh; measure the overhead just before it. */
static void await_refresh(struct top *t)
{
	int64_t ns;

	t->next_ns += t->o->delay_ns;
	if (!t->tally || (t->sampled_ns && t->next_ns - t->sampled_ns < SAMPLE_EVERY_NS)) {
		sleep_until(t->next_ns);
		return;
	}
	sleep_until(t->next_ns - SAMPLE_NS);
	t->sampled_ns = t->next_ns;
	ns = tap_tally_overhead(t->tally, SAMPLE_NS, NULL);
	t->ns_per_switch = ns > 0 ? (uint64_t)ns : 0;
}

static int add_tally(struct top *t, uint64_t own_cpu_ns, struct tap_err *err)
{
	struct tap_tally_view view;
	struct tap_top_refresh r = { .view = &view,
				     .ns_per_switch = t->ns_per_switch,
				     .own_cpu_ns = own_cpu_ns };
	int ret = tap_tally_read(t->tally, &view, err);

	r.realtime_ns = (int64_t)tap_clock_ns(CLOCK_REALTIME);
	if (!ret)
		(t->o->json ? tap_top_json : tap_top_line)(&t->out, &r);
	return ret;
}

static int add_accounts(struct top *t, uint64_t own_cpu_ns, struct tap_err *err)
{
	struct tap_accounts_view view;
	struct tap_top_accounts r = { .view = &view, .why = t->why.text, .own_cpu_ns = own_cpu_ns };
	int ret = tap_accounts_read(t->accounts, &view, err);

	r.realtime_ns = (int64_t)tap_clock_ns(CLOCK_REALTIME);
	if (!ret)
		(t->o->json ? tap_top_accounts_json : tap_top_accounts_line)(&t->out, &r);
	return ret;
}

static int refresh(struct top *t, struct tap_err *err)
{
	uint64_t own_ns = tap_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	int ret = (t->tally ? add_tally : add_accounts)(t, own_ns - t->own_ns, err);

	t->own_ns = own_ns;
	return ret ?: print(&t->out, err);
}

static int open_source(struct top *t, struct tap_err *err)
{
	const struct tap_tally_opts tally = { .max_cgroups = MAX_CGROUPS,
					      .reads_tasks = t->o->json, /* a line has none */
					      .from_waking = t->o->from_waking };
	int ret = tap_tally_open(&t->tally, &tally, &t->why);

	if (ret && tap_cmd_without_tally(&t->why, t->o->from_waking))
		return tap_accounts_open_machine(&t->accounts, t->o->json, err);
	if (ret)
		*err = t->why;
	return ret;
}

static int run_top(void *opts, const struct tap_strings *operands, char **rest)
{
	const struct top_opts *o = opts;
	struct top t = { .o = o };
	struct tap_err err = { 0 };
	int ret;

	(void)operands;
	(void)rest;
	if (t.o->delay_ns < MIN_DELAY_NS) {
		tap_err_set(&err, -EINVAL, "-d: the time must be at least 100ms");
		return tap_cmd_fail(&err, true);
	}
	ret = open_source(&t, &err);
	t.next_ns = tap_now_ns();
	t.own_ns = tap_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	for (int64_t i = 0; !ret && (!t.o->nr || i < t.o->nr); i++) {
		await_refresh(&t);
		ret = refresh(&t, &err);
	}
	tap_tally_close(t.tally);
	tap_accounts_close(t.accounts);
	tap_buf_release(&t.out);
	return ret ? tap_cmd_fail(&err, false) : TAP_EXIT_OK;
}

const struct tap_cmd tap_cmd_top = {
	.name = "top",
	.help = "waits and their culprits as they happen",
	.exits = "0 done, 1 failed, 2 usage error, 3 --from-waking: no access, or BPF is not "
		 "available",
	.example = "schedtap top -b -n 3",
	.opts = options,
	.opts_size = sizeof(struct top_opts),
	.defaults = &defaults,
	.run = run_top,
};
