// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* schedtap wakers: who wakes whom. */
#include "analysis/wakers.h"
#include "report/report.h"

static const struct tap_opt options[] = {
	TAP_REPORT_OPTIONS,
	TAP_REPORT_TOP("the N pairs with the most wakeups [20"),
	{ 0 }
};

struct wakers {
	struct tap_report report;
	struct tap_wakers wakers;
};

/* A pair is of interest where one of the two is. */
static bool is_picked(struct tap_run *run, const struct tap_task *wakee)
{
	const struct tap_task *waker;

	if (!tap_run_cpu(run, wakee->waker_cpu))
		return false;
	if (tap_run_task(run, wakee))
		return true;
	waker = wakee->waker_tid > 0 ? tap_timeline_task(run->timeline, wakee->waker_tid) : NULL;
	return waker && tap_run_task(run, waker);
}

static int on_stretch(void *ctx, const struct tap_stretch *s)
{
	struct wakers *w = ctx;

	if (!is_picked(&w->report.run, s->task))
		return 0;
	return tap_wakers_stretch(&w->wakers, w->report.run.timeline, s);
}

static const struct tap_column columns[] = {
	TAP_TASK_COLUMNS("waker_", "waker", 26),
	TAP_TASK_COLUMNS("", "woken", 26),
	{ "count", "wakeups", TAP_CELL_COUNT, .width = 9 },
	{ "censored", "censored", TAP_CELL_COUNT, .width = 8, .rank = 4, .tint = TAP_TINT_YELLOW },
	{ "avg_ns", "avg", TAP_CELL_NS, .width = 9, .rank = 2 },
	{ "p99_ns", "p99", TAP_CELL_NS, .width = 9, .rank = 3, .same_unit = true },
	{ "max_ns", "max", TAP_CELL_NS, .width = 10, .rank = 1, .same_unit = true },
	{ "same_cpu", "same CPU", TAP_CELL_COUNT, .width = 9, .rank = 6 },
	{ "other_cpu", "other CPU", TAP_CELL_COUNT, .width = 9, .rank = 5 },
	{ 0 }
};

static void put_pair(struct tap_report *r, struct tap_table *t, unsigned int i)
{
	const struct tap_waker_pair *pair = &((struct wakers *)r)->wakers.pairs[i];
	const struct tap_hist *waits = &pair->waits;

	tap_waker_cells(&r->run, t, pair->waker, pair->waker_tid);
	tap_task_cells(&r->run, t, pair->wakee);
	tap_table_u64(t, pair->count);
	tap_table_u64(t, pair->count - waits->count);
	tap_table_u64_if(t, waits->count, (uint64_t)(tap_hist_mean(waits) + 0.5));
	tap_table_u64_if(t, waits->count, tap_hist_quantile(waits, 0.99));
	tap_table_u64_if(t, waits->count, waits->max);
	tap_table_u64(t, pair->same_cpu);
	tap_table_u64(t, pair->other_cpu);
}

static int end(struct tap_report *r, struct tap_err *err)
{
	(void)err;
	tap_wakers_end(&((struct wakers *)r)->wakers);
	return 0;
}

static unsigned int nr_pairs(const struct tap_report *r)
{
	return ((const struct wakers *)r)->wakers.nr_pairs;
}

static void put_count(struct tap_report *r, struct tap_table *t)
{
	tap_page_u64(t->page, "nr_pairs", nr_pairs(r));
}

static void release(struct tap_report *r)
{
	tap_wakers_release(&((struct wakers *)r)->wakers);
}

static const struct tap_observer observer = {
	.states = TAP_STATE_BIT(TAP_WAKING), .stretch = on_stretch,
};

static const struct tap_section sections[] = {
	{ TAP_FOR_PROGRAMS, .put = put_count },
	{ TAP_FOR_ALL, .key = "pairs", .columns = columns, .row = put_pair, .nr = nr_pairs, .noun = "pair" },
	{ 0 }
};

const struct tap_report_type tap_report_wakers = {
	.cmd = {
		.name = "wakers",
		.help = "who wakes whom, and how long the woken then waits",
		.operands = TAP_CMD_FILE,
		.example = "schedtap wakers -i demo/trace.dat -n 10",
		.opts = options,
		.opts_size = sizeof(struct tap_report_opts),
		.defaults = &(const struct tap_report_opts){ .top = -1 },
	},
	.size = sizeof(struct wakers),
	.top = 20,
	.needs = TAP_NEEDS_WAKEUPS | TAP_NEEDS_SWITCHES,
	.observer = &observer,
	.sections = sections,
	.end = end,
	.release = release,
};
