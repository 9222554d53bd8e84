// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "analysis/critical/watch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "analysis/critical/waker_stack.h"

void tap_critical_watch_release(struct tap_critical_watch *w)
{
	tap_critical_log_release(&w->log);
	tap_interrupts_release(&w->interrupts);
	free(w->woken_of);
}

/* The softirq was raised by the task that ran, so that task is the waker. */
static void correct_to_task(struct tap_critical_watch *w, const struct tap_task *task)
{
	const struct tap_task *waker = tap_timeline_task(w->timeline, task->waker_tid);

	if (task->waker_tid > 0 && waker && waker->born_ns <= task->woken_ns)
		tap_critical_log_correct(&w->log, task, TAP_WOKEN_BY_TASK + waker->index);
}

static int correct_waker(struct tap_critical_watch *w, const struct tap_task *task)
{
	uint32_t number = tap_event_stacks_woken(w->stacks, task).kernel;
	unsigned char *woken =
		tap_array_at(&w->woken_of, &w->nr_woken_of, number, sizeof(*woken), NULL);
	struct span names;

	if (!woken)
		return -ENOMEM;
	if (!*woken) {
		names = tap_event_stacks_names(w->stacks, number);
		*woken = (unsigned char)(tap_woken_of_stack(names.s, names.len) + 1);
	}
	if (*woken == TAP_WOKEN_BY_TASK + 1)
		correct_to_task(w, task);
	else if (*woken != TAP_WOKEN_NOT_KNOWN + 1)
		tap_critical_log_correct(&w->log, task, *woken - 1);
	w->tells_interrupts |= number;
	return 0;
}

static int on_interval(void *ctx, const struct tap_timeline *t, const struct tap_interval *s)
{
	struct tap_critical_watch *w = ctx;

	w->timeline = t;
	if (w->stacks && s->state == TAP_STATE_WAKING && correct_waker(w, s->task))
		return -ENOMEM;
	return tap_critical_log_interval(&w->log, s);
}

static int on_wakeup(void *ctx, const struct tap_timeline *t, const struct tap_wakeup *one)
{
	struct tap_critical_watch *w = ctx;

	w->timeline = t;
	w->tells_interrupts |= one->in_interrupt;
	return tap_critical_log_wakeup(&w->log, one->task,
				       tap_interrupts_waker(&w->interrupts, t, one), one->is_new);
}

static bool is_exec(const struct tap_format *fmt)
{
	return !strcmp(fmt->system, "sched") && !strcmp(fmt->name, "sched_process_exec");
}

static bool wants_event(void *ctx, const struct tap_format *fmt)
{
	const struct tap_critical_watch *w = ctx;

	return !fmt || (tap_interrupts_want(fmt) || (w->command && is_exec(fmt)));
}

static void on_exec(struct tap_critical_watch *w, const struct tap_event *ev)
{
	struct tap_num pid;

	tap_num_init(&pid, tap_number_field(ev->fmt, "pid"));
	if (!w->exec_ns && tap_num_int(&pid, ev) == w->command)
		w->exec_ns = ev->ts_ns;
}

static int on_event(void *ctx, const struct tap_timeline *t, const struct tap_event *ev)
{
	struct tap_critical_watch *w = ctx;

	(void)t;
	if (!ev->fmt)
		return tap_interrupts_lost(&w->interrupts, ev);
	if (w->command && is_exec(ev->fmt))
		on_exec(w, ev);
	return tap_interrupts_want(ev->fmt) ? tap_interrupts_event(&w->interrupts, ev) : 0;
}

const struct tap_watcher_ops tap_critical_watch_ops = {
	.states = TAP_CRITICAL_STATES,
	.lost_states = TAP_CRITICAL_STATES,
	.early = true,
	.interval = on_interval,
	.wakeup = on_wakeup,
	.wants = wants_event,
	.event = on_event,
};

struct tap_window tap_critical_watch_life(const struct tap_critical_watch *w,
					  const struct tap_timeline *t, const struct tap_task *task)
{
	struct tap_window window = tap_timeline_window(t);
	uint64_t from_ns =
		task->tid == w->command && w->exec_ns > task->born_ns ? w->exec_ns : task->born_ns;

	return (struct tap_window){ tap_window_clip(&window, from_ns),
				    tap_window_clip(&window, task->died_ns) };
}
