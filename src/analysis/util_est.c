// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "analysis/util_est.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

#define NO_SUMS                                                                                    \
	{                                                                                          \
		.need = TAP_HIST_INIT, .error = TAP_HIST_INIT, .over = TAP_HIST_INIT,              \
		.under = TAP_HIST_INIT                                                             \
	}

void tap_util_est_init(struct tap_util_est *u, const struct tap_util_est_opts *opts)
{
	*u = (struct tap_util_est){ .all = NO_SUMS, .opts = *opts, .losses.survey = opts->survey };
}

static void sums_release(struct tap_util_est_sums *s)
{
	tap_hist_release(&s->need);
	tap_hist_release(&s->error);
	tap_hist_release(&s->over);
	tap_hist_release(&s->under);
}

void tap_util_est_release(struct tap_util_est *u)
{
	for (unsigned int i = 0; i < u->nr_tasks; i++)
		sums_release(&u->tasks[i].sums);
	free(u->tasks);
	sums_release(&u->all);
}

static int add_comparison(struct tap_util_est_sums *s, uint64_t estimate, uint64_t need,
			  uint64_t ts_ns)
{
	uint64_t error = estimate > need ? estimate - need : need - estimate;
	int ret = tap_hist_add(&s->need, need);

	if (!s->error.count || error > s->error.max)
		s->max_at_ns = ts_ns;
	ret = ret ?: tap_hist_add(&s->error, error);
	if (error)
		ret = ret ?: tap_hist_add(estimate > need ? &s->over : &s->under, error);
	return ret;
}

/* Read a field that the format may not have; 0: not there. */
static uint64_t get_value(const struct tap_num *n, const struct tap_event *ev)
{
	return n->size ? (uint64_t)tap_num_get(n, ev) : 0;
}

static int on_sleep(struct tap_util_est *u, struct tap_util_est_task *t, const struct tap_event *ev)
{
	uint64_t enqueued = get_value(&u->enqueued, ev), ewma = get_value(&u->ewma, ev),
		 need = get_value(&u->util, ev);
	bool lost = tap_losses_between(&u->losses, t->at_ns, ev->ts_ns) && t->known;
	int ret = 0;

	t->sums.sleeps++;
	u->all.sleeps++;
	t->sums.unknown += lost;
	u->all.unknown += lost;
	if (t->known && !lost) {
		ret = add_comparison(&t->sums, t->estimate, need, ev->ts_ns);
		ret = ret ?: add_comparison(&u->all, t->estimate, need, ev->ts_ns);
	}
	t->known = true;
	t->at_ns = ev->ts_ns;
	t->estimate = ewma > enqueued ? ewma : enqueued;
	return ret;
}

static bool wants_event(void *ctx, const struct tap_format *fmt)
{
	(void)ctx;
	return fmt && !strcmp(fmt->system, "schedtap") && !strcmp(fmt->name, "sched_util_est_se");
}

static int on_event(void *ctx, const struct tap_timeline *timeline, const struct tap_event *ev)
{
	static const struct tap_util_est_task fresh = { .sums = NO_SUMS };
	struct tap_util_est *u = ctx;
	struct tap_util_est_task *t;
	struct tap_task *task;

	(void)timeline;
	if (ev->fmt != u->fmt) {
		u->fmt = ev->fmt;
		tap_num_init(&u->tid, tap_number_field(ev->fmt, "pid"));
		tap_num_init(&u->util, tap_number_field(ev->fmt, "util"));
		tap_num_init(&u->enqueued, tap_number_field(ev->fmt, "enqueued"));
		tap_num_init(&u->ewma, tap_number_field(ev->fmt, "ewma"));
	}
	if (!u->tid.size || !u->util.size || !u->enqueued.size)
		return 0;
	if (tap_timeline_see(*u->opts.timeline, tap_num_int(&u->tid, ev), &task))
		return -ENOMEM;
	if (!task || !u->opts.want(u->opts.ctx, task))
		return 0;
	t = tap_array_at(&u->tasks, &u->nr_tasks, task->index, sizeof(*t), &fresh);
	if (!t)
		return -ENOMEM;
	t->task = task;
	return on_sleep(u, t, ev);
}

const struct tap_watcher_ops tap_util_est_ops = { .wants = wants_event, .event = on_event };
