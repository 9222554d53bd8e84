// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "analysis/critical/walk.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"

/* When, and in which walk, the path last left this task for its waker. */
struct tap_walk_left {
	uint64_t at_ns;
	unsigned int walk;
};

/* The state of a walk. */
struct walk {
	struct tap_walk *w;
	struct tap_window window;
	uint64_t at_ns; /* segments after this time are complete */
	/* the task that is followed now: the one that the walk began with, or a waker */
	unsigned int task;
	bool is_waker;
	/* how far back to follow .task: a waker to the start of the sleep, else to the window's */
	uint64_t from_ns;
	int (*tell)(void *ctx, const struct tap_path_segment *s);
	void *ctx;
};

const char *tap_path_state_name(enum tap_path_state state)
{
	static const char *const names[TAP_NR_PATH_STATES] = {
		"unknown", "running", "waking",	 "preempted", "throttled", "disk",
		"network", "timer",   "blocked", "interrupt", "asleep",
	};

	return names[state];
}

void tap_walk_release(struct tap_walk *w)
{
	free(w->left);
}

static int report_segment(struct walk *k)
{
	const struct tap_path_segment *s = &k->w->segment;

	return s->to_ns > s->from_ns ? k->tell(k->ctx, s) : 0;
}

/*
 * Add time from @from_ns to the current position, and move there. If a waker's state is unknown, it
 * may have been woken by other tasks meanwhile, to which the path would belong. So everything back
 * to the start of the sleep is unknown.
 */
static int add_time(struct walk *k, enum tap_path_state state, uint64_t from_ns)
{
	struct tap_path_segment *s = &k->w->segment;
	uint64_t to_ns = tap_window_clip(&k->window, k->at_ns);
	int ret = 0;

	if (state == TAP_PATH_UNKNOWN && k->is_waker)
		from_ns = k->from_ns;
	k->at_ns = from_ns;
	from_ns = tap_window_clip(&k->window, from_ns);
	if (from_ns == to_ns)
		return 0;
	if (s->task != k->task || s->state != state || s->from_ns != to_ns) {
		ret = report_segment(k);
		*s = (struct tap_path_segment){ .to_ns = to_ns, .task = k->task, .state = state };
	}
	s->from_ns = from_ns;
	return ret;
}

/*
 * Continue with the waker of a task that slept since @slept_ns, or did not exist before. Guard
 * against wakeup cycles with equal time stamps.
 */
static int follow_waker(struct walk *k, uint32_t woken_by, uint64_t slept_ns)
{
	struct tap_walk *w = k->w;
	struct tap_walk_left *left =
		tap_array_at(&w->left, &w->nr_left, k->task, sizeof(*left), NULL);

	if (!left)
		return -ENOMEM;
	if (left->walk == w->nr_walks && left->at_ns == k->at_ns)
		return add_time(k, TAP_PATH_UNKNOWN, slept_ns);
	*left = (struct tap_walk_left){ k->at_ns, w->nr_walks };
	if (!k->is_waker)
		k->from_ns = slept_ns;
	k->is_waker = true;
	k->task = woken_by - TAP_WOKEN_BY_TASK;
	return 0;
}

static enum tap_path_state state_of(const struct tap_log_place *p)
{
	static const enum tap_path_state states[TAP_NR_STATES] = {
		[TAP_STATE_RUNNING] = TAP_PATH_RUNNING,
		[TAP_STATE_WAKING] = TAP_PATH_WAKING,
		[TAP_STATE_PREEMPTED] = TAP_PATH_PREEMPTED,
		[TAP_STATE_THROTTLED] = TAP_PATH_THROTTLED,
	};
	static const enum tap_path_state sleeps[TAP_WOKEN_BY_TASK] = {
		[TAP_WOKEN_NOT_YET] = TAP_PATH_ASLEEP, [TAP_WOKEN_INTERRUPT] = TAP_PATH_INTERRUPT,
		[TAP_WOKEN_TIMER] = TAP_PATH_TIMER,    [TAP_WOKEN_BLOCK] = TAP_PATH_DISK,
		[TAP_WOKEN_NET] = TAP_PATH_NETWORK,
	};

	if (!tap_state_is_sleep(p->state))
		return states[p->state];
	if (p->state == TAP_STATE_BLOCKED && p->woken_by == TAP_WOKEN_INTERRUPT)
		return TAP_PATH_BLOCKED;
	return sleeps[p->woken_by];
}

/*
 * The log has nothing about the task before this time: it was created then, or its past is unknown.
 */
static int step_before(struct walk *k)
{
	const struct tap_critical_log *log = k->w->log;
	const struct tap_task_log *t = k->task < log->nr_tasks ? &log->tasks[k->task] : NULL;

	if (t && t->born_by >= TAP_WOKEN_BY_TASK && t->from_ns == k->at_ns)
		return follow_waker(k, t->born_by, k->from_ns);
	return add_time(k, TAP_PATH_UNKNOWN, k->from_ns);
}

static int step_back(struct walk *k)
{
	const struct tap_log_place *p = tap_critical_log_before(k->w->log, k->task, k->at_ns);
	uint64_t from_ns = p && p->from_ns > k->from_ns ? p->from_ns : k->from_ns;
	bool is_woken = p && tap_state_is_sleep(p->state) && p->woken_by >= TAP_WOKEN_BY_TASK;

	if (!p)
		return step_before(k);
	if (p->to_ns < k->at_ns) /* the task had exited */
		return add_time(k, TAP_PATH_UNKNOWN, p->to_ns > k->from_ns ? p->to_ns : k->from_ns);
	if (!is_woken)
		return add_time(k, state_of(p), from_ns);
	if (p->to_ns > k->at_ns) /* it slept while it woke another task */
		return add_time(k, TAP_PATH_UNKNOWN, from_ns);
	return follow_waker(k, p->woken_by, from_ns);
}

/*
 * Return where to begin: if the task sleeps past the end of the window, at the end of that sleep,
 * since what ended it decides whose time it is.
 */
static uint64_t begin_of_walk(struct tap_walk *w, unsigned int task, uint64_t to_ns)
{
	const struct tap_log_place *p = tap_critical_log_before(w->log, task, to_ns);

	return p && p->to_ns > to_ns && tap_state_is_sleep(p->state) ? p->to_ns : to_ns;
}

int tap_walk_back(struct tap_walk *w, unsigned int task, uint64_t from_ns, uint64_t to_ns,
		  int (*tell)(void *ctx, const struct tap_path_segment *s), void *ctx)
{
	struct walk k = {
		.w = w,
		.window = { from_ns, to_ns },
		.at_ns = begin_of_walk(w, task, to_ns),
		.task = task,
		.from_ns = from_ns,
		.tell = tell,
		.ctx = ctx,
	};
	int ret = 0;

	w->nr_walks++;
	w->segment = (struct tap_path_segment){ 0 };
	while (!ret && k.at_ns > from_ns) {
		ret = step_back(&k);
		if (k.is_waker && k.at_ns <= k.from_ns) {
			k.is_waker = false;
			k.task = task;
			k.from_ns = from_ns;
		}
	}
	return ret ? ret : report_segment(&k);
}
