// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* schedtap wakers: who wakes whom. */
#include <errno.h>
#include <limits.h>

#include "analysis/wakers.h"
#include "cli/screen.h"
#include "cli/wakeups.h"

#define TOP_IN_TEXT 20u

struct wakers_opts {
	struct tap_pass_opts pass;
	int64_t top; /* -1: not given */
};

static const struct tap_opt wakers_opts[] = {
	TAP_PASS_OPTIONS(struct wakers_opts),
	{ "number", 'n', "N", "show the N pairs with the most wakeups [20; all with --json and "
	  "--csv]", TAP_OPT_INT, offsetof(struct wakers_opts, top), .min = 0, .max = INT_MAX },
	{ 0 }
};

/* One run of the command. */
struct run {
	struct tap_pass pass;
	struct tap_wakers wakers;
};

/* A pair is of interest where one of the two is. */
static bool is_picked(struct run *run, const struct tap_task *wakee)
{
	const struct tap_task *waker;

	if (!tap_pass_cpu(&run->pass, wakee->waker_cpu))
		return false;
	if (tap_pass_task(&run->pass, wakee))
		return true;
	waker = wakee->waker_tid > 0 ? tap_timeline_task(run->pass.timeline, wakee->waker_tid) :
				       NULL;
	return waker && tap_pass_task(&run->pass, waker);
}

static int stretch(void *ctx, const struct tap_stretch *s)
{
	struct run *run = ctx;

	if (!is_picked(run, s->task))
		return 0;
	return tap_wakers_stretch(&run->wakers, run->pass.timeline, s);
}

static const struct tap_column columns[] = {
	TAP_PASS_WHO_COLUMNS("waker_", "waker", 26),
	TAP_PASS_WHO_COLUMNS("", "woken", 26),
	{ "count", "wakeups", TAP_CELL_COUNT, .width = 9 },
	{ "censored", "censored", TAP_CELL_COUNT, .width = 8, .rank = 4, .tint = TAP_TINT_YELLOW },
	{ "avg_ns", "avg", TAP_CELL_NS, .width = 9, .rank = 2 },
	{ "p99_ns", "p99", TAP_CELL_NS, .width = 9, .rank = 3, .same_unit = true },
	{ "max_ns", "max", TAP_CELL_NS, .width = 10, .rank = 1, .same_unit = true },
	{ "same_cpu", "same CPU", TAP_CELL_COUNT, .width = 9, .rank = 6 },
	{ "other_cpu", "other CPU", TAP_CELL_COUNT, .width = 9, .rank = 5 },
	{ 0 }
};

static void put_pair(struct run *run, struct tap_table *t, const struct tap_waker_pair *pair)
{
	const struct tap_hist *waits = &pair->waits;

	tap_wakeups_waker(&run->pass, t, pair->waker, pair->waker_tid);
	tap_pass_who(&run->pass, t, pair->wakee);
	tap_table_u64(t, pair->count);
	tap_table_u64(t, pair->count - waits->count);
	if (waits->count) {
		tap_table_u64(t, (uint64_t)(tap_hist_mean(waits) + 0.5));
		tap_table_u64(t, tap_hist_quantile(waits, 0.99));
		tap_table_u64(t, waits->max);
	} else {
		for (int i = 0; i < 3; i++)
			tap_table_none(t);
	}
	tap_table_u64(t, pair->same_cpu);
	tap_table_u64(t, pair->other_cpu);
	tap_table_row(t);
}

static int print(struct run *run, const struct wakers_opts *o, struct tap_err *err)
{
	const struct tap_wakers *w = &run->wakers;
	unsigned int top = tap_pass_top(&run->pass, o->top, TOP_IN_TEXT);
	struct tap_report r;
	struct tap_table t;
	int ret;

	tap_pass_begin(&run->pass, &r, tap_pass_style(&run->pass));
	tap_report_u64(&r, "nr_pairs", w->nr_pairs);
	tap_table_begin(&t, &r, columns, "pairs");
	for (unsigned int i = 0; i < w->nr_pairs && i < top; i++)
		put_pair(run, &t, &w->pairs[i]);
	tap_table_end(&t);
	tap_pass_more(&r, "pair", w->nr_pairs, top);
	ret = tap_report_close(&r);
	errno = -ret;
	return ret ? tap_err_set(err, ret, "cannot write the wakers: %m") : 0;
}

static int observe(struct run *run, const struct wakers_opts *o, struct tap_err *err)
{
	static const struct tap_observer observer = {
		.states = TAP_STATE_BIT(TAP_WAKING), .stretch = stretch,
	};
	int ret;

	ret = tap_wakeups_check(&run->pass, err);
	if (ret)
		return ret;
	ret = tap_pass_run(&run->pass, &observer, NULL, run, err);
	if (ret)
		return ret;
	tap_wakers_end(&run->wakers);
	return print(run, o, err);
}

static int run_wakers(void *opts, const struct tap_strings *operands, char **rest)
{
	const struct wakers_opts *o = opts;
	struct tap_err err = { 0 };
	struct run run = { 0 };
	bool usage;
	int ret;

	(void)operands;
	(void)rest;
	ret = tap_pass_open(&run.pass, &o->pass, &usage, &err);
	if (!ret)
		ret = observe(&run, o, &err);
	ret = tap_pass_finish(&run.pass, ret, &err, usage);
	tap_wakers_release(&run.wakers);
	return ret;
}

const struct tap_cmd tap_cmd_wakers = {
	.name = "wakers",
	.help = "who wakes whom, and how long the woken then waits",
	.operands = TAP_CMD_FILE,
	.example = "schedtap wakers -i demo/trace.dat -n 10",
	.opts = wakers_opts,
	.opts_size = sizeof(struct wakers_opts),
	.defaults = &(const struct wakers_opts){ .top = -1 },
	.run = run_wakers,
};
