// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "analysis/timehist.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/* A task's wait since its last slice; while it runs, the wait before that slice. */
struct tap_timehist_task {
	uint64_t wait_ns[TAP_NR_STATES];
	bool used; /* the task had an interval before */
	bool waits_known; /* the waits are known since the last slice, or since its birth */
	int waker_tid;
	struct tap_row_util util, start_util;
};

#define NO_UTIL                                                                                    \
	{                                                                                          \
		-1, -1                                                                             \
	}

/* Return: NULL when out of memory. */
static struct tap_timehist_task *task_get(struct tap_timehist *h, const struct tap_task *task)
{
	static const struct tap_timehist_task fresh = {
		.waker_tid = -1,
		.util = NO_UTIL,
		.start_util = NO_UTIL,
	};

	return tap_array_at(&h->tasks, &h->nr_tasks, task->index, sizeof(fresh), &fresh);
}

/* Make a row in which everything else is unknown. */
static struct tap_row make_row(enum tap_row_what what, uint64_t from_ns, uint64_t to_ns, int cpu,
			       const struct tap_task *task)
{
	return (struct tap_row){
		.what = what,
		.from_ns = from_ns,
		.to_ns = to_ns,
		.cpu = cpu,
		.task = task,
		.waker_tid = -1,
		.from_cpu = -1,
		.to_cpu = -1,
		.start_util = NO_UTIL,
		.end_util = NO_UTIL,
	};
}

static bool is_open(const struct tap_loss *l)
{
	return l->to_ns == UINT64_MAX;
}

static int report_loss(struct tap_timehist *h, const struct tap_loss *l, uint64_t from_ns,
		       uint64_t to_ns)
{
	struct tap_row row = make_row(TAP_ROW_LOST, from_ns, to_ns, l->cpu, NULL);

	row.lost_cnt = l->count;
	row.is_off = l->is_off;
	return tap_window_overlaps(&h->window, l->from_ns, l->to_ns) ? h->row(h->ctx, &row) : 0;
}

/*
 * Report the losses that end by @ns, so that rows come in the order in which they end. Losses at a
 * CPU's end come last.
 */
static int report_losses(struct tap_timehist *h, uint64_t ns)
{
	const struct tap_survey *s = h->survey;
	int ret = 0;

	while (!ret && h->next_loss < s->nr_kept_losses &&
	       (s->losses[h->next_loss].to_ns <= ns || is_open(&s->losses[h->next_loss]))) {
		const struct tap_loss *l = &s->losses[h->next_loss++];

		if (!is_open(l))
			ret = report_loss(h, l, l->from_ns, l->to_ns);
	}
	return ret;
}

static int report_open_losses(struct tap_timehist *h)
{
	const struct tap_survey *s = h->survey;
	int ret = 0;

	for (unsigned int i = 0; !ret && i < s->nr_kept_losses; i++)
		if (is_open(&s->losses[i]))
			ret = report_loss(h, &s->losses[i],
					  tap_window_clip(&h->window, s->losses[i].from_ns),
					  h->window.to_ns);
	return ret;
}

static int report_row(struct tap_timehist *h, const struct tap_row *row)
{
	return report_losses(h, row->to_ns) ?: h->row(h->ctx, row);
}

static int report_slice(struct tap_timehist *h, struct tap_timehist_task *t,
			const struct tap_interval *s)
{
	struct tap_row row = {
		.what = TAP_ROW_SLICE,
		.from_ns = s->from_ns,
		.to_ns = s->to_ns,
		.cpu = s->cpu,
		.task = s->task,
		.waker_tid = t->waker_tid,
		.from_cpu = s->task->from_cpu,
		.to_cpu = -1,
		.waits_known = t->waits_known,
		.whole = s->whole,
		.end = s->end,
		.start_util = t->start_util,
		.end_util = t->util,
	};

	memcpy(row.wait_ns, t->wait_ns, sizeof(row.wait_ns));
	memset(t->wait_ns, 0, sizeof(t->wait_ns));
	t->waits_known = true;
	t->waker_tid = -1;
	return report_row(h, &row);
}

static int on_interval(void *ctx, const struct tap_timeline *timeline, const struct tap_interval *s)
{
	struct tap_timehist *h = ctx;
	struct tap_timehist_task *t = task_get(h, s->task);

	(void)timeline;
	if (!t)
		return -ENOMEM;
	if (!t->used) {
		/* a task is woken before it runs, and slept or was blocked before that */
		t->waits_known = s->from_ns > h->window.from_ns ||
				 (s->state != TAP_STATE_WAKING && s->state != TAP_STATE_RUNNING);
		t->used = true;
	}
	if (s->state == TAP_STATE_RUNNING)
		return report_slice(h, t, s);
	t->wait_ns[s->state] += s->to_ns - s->from_ns;
	if (s->back != TAP_STATE_UNKNOWN && t->wait_ns[s->back] >= s->back_ns) {
		t->wait_ns[s->back] -= s->back_ns;
		t->wait_ns[TAP_STATE_UNKNOWN] += s->back_ns;
	}
	/* during unknown time it may have been woken again */
	if (s->state == TAP_STATE_WAKING || s->state == TAP_STATE_UNKNOWN)
		t->waker_tid = s->state == TAP_STATE_WAKING ? s->task->waker_tid : -1;
	t->start_util = t->util;
	return 0;
}

static int on_cpu(void *ctx, const struct tap_timeline *timeline, const struct tap_cpu_interval *s)
{
	struct tap_row row = make_row(TAP_ROW_UNKNOWN, s->from_ns, s->to_ns, s->cpu, NULL);

	(void)timeline;
	return s->what == TAP_CPU_UNKNOWN && s->to_ns > s->from_ns ? report_row(ctx, &row) : 0;
}

static int on_wakeup(void *ctx, const struct tap_timeline *timeline, const struct tap_wakeup *w)
{
	struct tap_row row = make_row(TAP_ROW_WAKEUP, w->ts_ns, w->ts_ns, w->cpu, w->task);

	(void)timeline;
	row.waker_tid = w->waker ? w->waker->tid : -1;
	return report_row(ctx, &row);
}

static int on_migration(void *ctx, const struct tap_timeline *timeline,
			const struct tap_migration *m)
{
	struct tap_row row = make_row(TAP_ROW_MIGRATION, m->ts_ns, m->ts_ns, m->cpu, m->task);

	(void)timeline;
	row.from_cpu = m->from;
	row.to_cpu = m->to;
	return report_row(ctx, &row);
}

static int on_end(void *ctx, const struct tap_timeline *timeline)
{
	(void)timeline;
	return report_losses(ctx, UINT64_MAX) ?: report_open_losses(ctx);
}

static bool wants_util(void *ctx, const struct tap_format *fmt)
{
	(void)ctx;
	return fmt &&
	       (!strcmp(fmt->name, "sched_pelt_se") || !strcmp(fmt->name, "sched_util_est_se"));
}

static int get_field(const struct tap_event *ev, const char *name)
{
	const struct tap_field *f = tap_format_field(ev->fmt, name);

	return f ? (int)tap_field_u64(f, ev->data, ev->size) : -1;
}

static int on_util(void *ctx, const struct tap_timeline *timeline, const struct tap_event *ev)
{
	const struct tap_task *task = tap_timeline_task(timeline, get_field(ev, "pid"));
	struct tap_timehist_task *t;

	if (!task) /* the entity of a cgroup has pid -1 */
		return 0;
	t = task_get(ctx, task);
	if (!t)
		return -ENOMEM;
	t->util.util = get_field(ev, "util");
	if (!strcmp(ev->fmt->name, "sched_util_est_se"))
		t->util.util_est = get_field(ev, "enqueued");
	return 0;
}

const struct tap_watcher_ops tap_timehist_ops = {
	.states = TAP_STATE_ALL & ~TAP_STATE_BIT(TAP_STATE_DEAD),
	.unknown_cpus_only = true,
	.interval = on_interval,
	.cpu = on_cpu,
	.end = on_end,
};
const struct tap_watcher_ops tap_timehist_wakeups_ops = { .wakeup = on_wakeup };
const struct tap_watcher_ops tap_timehist_migrations_ops = { .migration = on_migration };
const struct tap_watcher_ops tap_timehist_util_ops = { .wants = wants_util, .event = on_util };

void tap_timehist_release(struct tap_timehist *h)
{
	free(h->tasks);
	h->tasks = NULL;
	h->nr_tasks = 0;
}

int tap_timehist_show(struct tap_timehist *h, const struct tap_timeline *timeline,
		      const struct tap_event *ev)
{
	int tid = get_field(ev, "common_pid");
	struct tap_row row = make_row(TAP_ROW_EVENT, ev->ts_ns, ev->ts_ns, ev->cpu,
				      tap_timeline_task(timeline, tid));

	row.event = ev;
	row.tid = tid;
	return report_row(h, &row);
}

int tap_slices_add(struct tap_slices_sum *sum, const struct tap_row *row, uint64_t start_ns)
{
	uint64_t ran = row->to_ns - row->from_ns;
	struct tap_slices *s;

	if (row->what != TAP_ROW_SLICE)
		return 0;
	s = tap_array_at(&sum->tasks, &sum->nr, row->task->index, sizeof(*s), NULL);
	if (!s)
		return -ENOMEM;
	s->task = row->task;
	s->run_ns += row->to_ns - (row->from_ns < start_ns ? start_ns : row->from_ns);
	if (!row->whole) {
		s->censored++;
		return 0;
	}
	if (!s->slices++ || ran < s->min_ns)
		s->min_ns = ran;
	if (ran > s->max_ns)
		s->max_ns = ran;
	s->sum_ns += ran;
	return 0;
}

static int by_run_time(const void *a, const void *b)
{
	const struct tap_slices *x = a, *y = b;

	if (x->run_ns != y->run_ns)
		return x->run_ns < y->run_ns ? 1 : -1;
	return (x->task->index > y->task->index) - (x->task->index < y->task->index);
}

void tap_slices_sort(struct tap_slices_sum *sum)
{
	unsigned int nr = 0;

	for (unsigned int i = 0; i < sum->nr; i++)
		if (sum->tasks[i].task)
			sum->tasks[nr++] = sum->tasks[i];
	sum->nr = nr;
	if (nr)
		qsort(sum->tasks, nr, sizeof(*sum->tasks), by_run_time);
}

void tap_slices_release(struct tap_slices_sum *sum)
{
	free(sum->tasks);
	*sum = (struct tap_slices_sum){ 0 };
}
