// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* schedtap wakers: which tasks wake which. */
#include <errno.h>

#include "analysis/wakers.h"
#include "show/report/report.h"
#include "show/report/stack_cells.h"

#define SHOWN_STACKS 3u /* stacks per pair, for people */

struct wakers_opts {
	struct tap_report_opts common;
	bool stacks;
};

static const struct tap_opt options[] = {
	TAP_REPORT_OPTIONS,
	TAP_OPTION(struct wakers_opts, stacks, "stacks", 0, NULL, TAP_OPT_FLAG,
		   "show the stacks at which wakers woke tasks, and how often each stack occurred"),
	TAP_REPORT_TOP("the N pairs with the most wakeups [20"),
	{ 0 }
};

struct wakers {
	struct tap_report report;
	struct tap_wakers wakers;
	struct tap_buf text;
};

static bool with_stacks(const struct tap_report *r)
{
	return ((const struct wakers_opts *)r->opts)->stacks;
}

/* Return true if the options select the wakee or its waker. */
static bool is_picked(void *ctx, const struct tap_timeline *t, const struct tap_task *wakee)
{
	const struct tap_task *waker;
	struct tap_run *run = ctx;

	if (!tap_run_cpu(run, wakee->waker_cpu))
		return false;
	if (wakee->selected)
		return true;
	waker = wakee->waker_tid > 0 ? tap_timeline_task(t, wakee->waker_tid) : NULL;
	return waker && waker->selected;
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

static const struct tap_column stack_columns[] = { TAP_TASK_COLUMNS("waker_", "waker", 26),
						   TAP_TASK_COLUMNS("", "woken", 26),
						   { NULL, "wakeups", TAP_CELL_COUNT, .width = 9 },
						   { NULL, "stack", TAP_CELL_LABEL },
						   { 0 } };

/* For programs: write all stacks of a pair. */
static void put_members(struct tap_report *r, const struct tap_waker_pair *pair)
{
	struct tap_page *p = &r->page;

	tap_page_array(p, "stacks");
	for (unsigned int i = 0; i < pair->nr_stacks; i++) {
		tap_page_object(p, NULL);
		tap_page_u64(p, "count", pair->stacks[i].count);
		tap_stack_members(p, r->stacks, pair->stacks[i].stack);
		tap_page_object_end(p);
	}
	tap_page_array_end(p);
}

static void put_pair(struct tap_report *r, struct tap_table *t, unsigned int i)
{
	const struct tap_waker_pair *pair = &((struct wakers *)r)->wakers.pairs[i];
	const struct tap_hist *waits = &pair->waits;

	tap_waker_cells(&r->run, t, pair->waker, pair->waker_tid);
	tap_task_cells(&r->run, t, pair->wakee);
	tap_table_u64(t, pair->count);
	tap_table_u64(t, pair->censored);
	tap_table_u64_if(t, waits->count, (uint64_t)(tap_hist_mean(waits) + 0.5));
	tap_table_u64_if(t, waits->count, tap_hist_quantile(waits, 0.99));
	tap_table_u64_if(t, waits->count, waits->max);
	tap_table_u64(t, pair->same_cpu);
	tap_table_u64(t, pair->other_cpu);
	if (with_stacks(r))
		put_members(r, pair);
}

static void put_stack(struct wakers *w, struct tap_table *t, const struct tap_waker_pair *pair,
		      unsigned int i)
{
	struct tap_run *run = &w->report.run;

	tap_waker_cells(run, t, pair->waker, pair->waker_tid);
	tap_task_cells(run, t, pair->wakee);
	tap_table_u64(t, pair->stacks[i].count);
	tap_buf_clear(&w->text);
	tap_stack_add(&w->text, w->report.stacks, pair->stacks[i].stack, true);
	tap_table_text(t, w->text.data, w->text.len);
	tap_table_row(t);
}

static void put_stacks(struct tap_report *r, struct tap_table *t)
{
	struct wakers *w = (struct wakers *)r;
	unsigned int shown = tap_report_shown(r, w->wakers.nr_pairs);

	for (const struct tap_waker_pair *pair = w->wakers.pairs; pair < w->wakers.pairs + shown;
	     pair++)
		for (unsigned int i = 0; i < pair->nr_stacks && i < SHOWN_STACKS; i++)
			put_stack(w, t, pair, i);
}

static bool has_stacks(const struct tap_report *r)
{
	return ((const struct wakers *)r)->wakers.nr_stacks;
}

static int check_options(const void *opts, struct tap_err *err)
{
	const struct wakers_opts *o = opts;

	if (o->stacks && tap_input_style(&o->common.input)->audience == TAP_FOR_SHEETS)
		return tap_err_set(
			err, -EINVAL,
			"--csv and --stacks exclude each other: CSV output holds only one table");
	return 0;
}

static int begin_wakers(struct tap_report *r, struct tap_err *err)
{
	struct tap_wakers *w = &((struct wakers *)r)->wakers;
	int ret = with_stacks(r) ? tap_report_open_stacks(r, err) : 0;

	w->of_stacks = r->stacks;
	w->wants = is_picked;
	w->ctx = &r->run;
	return ret;
}

static int end_wakers(struct tap_report *r, struct tap_err *err)
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

static void release_wakers(struct tap_report *r)
{
	tap_wakers_release(&((struct wakers *)r)->wakers);
	tap_buf_release(&((struct wakers *)r)->text);
}

static const struct tap_section sections[] = {
	{ TAP_FOR_PROGRAMS, .put = put_count },
	{ TAP_FOR_ALL, .key = "pairs", .columns = columns, .row = put_pair, .nr = nr_pairs,
	  .noun = "pair" },
	{ TAP_FOR_PEOPLE, has_stacks,
	  .before = "\nthe most frequent stacks of wakers, innermost frame first\n",
	  .columns = stack_columns, .put = put_stacks },
	{ 0 }
};

const struct tap_report_type tap_report_wakers = {
	.cmd = {
		.name = "wakers",
		.help = "which tasks wake which, and the waits that follow",
		.operands = TAP_CMD_FILE,
		.example = "schedtap wakers -n 10",
		.opts = options,
		.opts_size = sizeof(struct wakers_opts),
		.defaults = &(const struct wakers_opts){ .common.top = -1 },
	},
	.size = sizeof(struct wakers),
	.top = 20,
	.needs = TAP_NEEDS_WAKEUPS | TAP_NEEDS_SWITCHES,
	.watchers = (const struct tap_report_watcher[]){
		{ &tap_wakers_ops, offsetof(struct wakers, wakers) }, { 0 } },
	.sections = sections,
	.check = check_options,
	.begin = begin_wakers,
	.end = end_wakers,
	.release = release_wakers,
};
