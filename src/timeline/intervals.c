// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "timeline/intervals.h"

uint64_t tap_touched_from(const struct tap_timeline *t, const struct task *task)
{
	const struct tap_hole *holes = t->opts.survey ? t->opts.survey->holes : NULL;
	uint64_t from_ns = task->pub.since_ns;
	unsigned int low = 0, high = t->next_hole;

	/*
	 * without a survey only the hole's end is known, so it may have begun at once; and a task
	 * on unrecorded CPUs is never certain
	 */
	if (!holes || tap_timeline_roams(t, &task->pub))
		return from_ns;
	while (low < high) {
		unsigned int mid = low + (high - low) / 2;

		if (holes[mid].to_ns > from_ns)
			high = mid;
		else
			low = mid + 1;
	}
	return holes[low].from_ns > from_ns ? holes[low].from_ns : from_ns;
}

/*
 * The task did not wait after its waking: the wakeup found it running or preempted, which was not
 * seen. So it had not slept before: take that sleep back.
 */
static void take_back_sleep(struct tap_timeline *t, struct task *task)
{
	uint64_t ns = tap_window_part_ns(&t->opts.window, task->slept_from_ns, task->pub.since_ns);

	if (task->pub.state != TAP_STATE_WAKING || task->slept == TAP_STATE_UNKNOWN)
		return;
	task->pub.total_ns[task->slept] -= ns;
	task->pub.total_ns[TAP_STATE_UNKNOWN] += ns;
	task->back = task->slept;
	task->back_ns = task->pub.since_ns - task->slept_from_ns;
}

/* Charge the interval to the task's state and report it, unless the task was never recorded. */
static int close_interval(struct tap_timeline *t, struct task *task, struct tap_interval *s)
{
	const struct tap_watchers *w = &t->watchers;
	const struct tap_interval_watcher *to =
		(s->next == TAP_STATE_UNKNOWN ? w->of_lost_state : w->of_state)[s->state];

	task->pub.total_ns[s->state] += tap_window_part_ns(&t->opts.window, s->from_ns, s->to_ns);
	if (t->opts.promise && !task->kept)
		return 0;
	if (!to)
		return 0;
	if (s->state == TAP_STATE_UNKNOWN)
		s->was = task->was;
	if (s->to_ns < t->opts.window.from_ns) {
		if (s->state == TAP_STATE_UNKNOWN)
			task->back = TAP_STATE_UNKNOWN;
		return tap_watchers_early_interval(w, t, s);
	}
	/* report an empty interval only to take back a sleep */
	if (s->to_ns == s->from_ns && !s->whole && task->back == TAP_STATE_UNKNOWN)
		return 0;
	if (s->state == TAP_STATE_UNKNOWN && task->back != TAP_STATE_UNKNOWN) {
		s->back = task->back;
		s->back_ns = task->back_ns;
		task->back = TAP_STATE_UNKNOWN;
	}
	return tap_watchers_interval(w, to, t, s);
}

/* Return the task's current interval, up to @to_ns, not yet marked as complete (.whole). */
static struct tap_interval partial_interval(struct task *task, enum tap_state next, uint64_t to_ns,
					    int next_cpu)
{
	return (struct tap_interval){
		.task = tap_task_pub(task),
		.state = task->pub.state,
		.next = next,
		.from_ns = task->pub.since_ns,
		.to_ns = to_ns,
		.cpu = task->pub.cpu,
		.end = "",
		.next_cpu = next_cpu,
	};
}

static int close_part(struct tap_timeline *t, struct task *task, enum tap_state next,
		      uint64_t to_ns, int next_cpu)
{
	struct tap_interval s = partial_interval(task, next, to_ns, next_cpu);

	return close_interval(t, task, &s);
}

/*
 * End an interval that is not known to have lasted until now. If the event that ends it fits, but a
 * hole overlaps it, it is certain up to the hole. If the event does not fit, the interval ended at
 * an unknown time.
 */
static int leave_uncertain(struct tap_timeline *t, struct task *task, const struct transition *to,
			   bool fits)
{
	uint64_t sure = task->pub.since_ns;
	struct tap_interval rest;
	int ret = 0;

	/* the task may have run on any CPU since */
	if (tap_task_is_touched(t, task) || task->hidden || (!fits && t->has_breaks))
		task->pub.run_cpu = -1;
	if (!fits)
		take_back_sleep(t, task);
	task->slept = TAP_STATE_UNKNOWN;
	if (fits && !tap_phase_is_doubtful(task->phase) && task->pub.state != TAP_STATE_UNKNOWN &&
	    !(t->has_queueings && tap_task_is_asleep(task))) /* it may have ended untold */
		sure = tap_touched_from(t, task);
	if (sure > task->pub.since_ns)
		ret = close_part(t, task, TAP_STATE_UNKNOWN, sure, -1);
	if (task->pub.state != TAP_STATE_UNKNOWN)
		task->was = task->pub.state;
	task->pub.state = TAP_STATE_UNKNOWN;
	task->pub.since_ns = sure;
	if (task->phase != TAP_PHASE_UNSEEN)
		task->phase = TAP_PHASE_LOST;
	if (ret || to->next == TAP_STATE_UNKNOWN)
		return ret;
	rest = partial_interval(task, to->next, to->ts_ns, to->next_cpu);
	rest.unseen = to->unseen;
	rest.late = to->late;
	return close_interval(t, task, &rest);
}

/* Return true if a hole overlaps the task's state. If @to is late, it may end before the hole. */
static bool is_touched_until(const struct tap_timeline *t, const struct task *task,
			     const struct transition *to)
{
	return tap_task_is_touched(t, task) &&
	       !(to->late && tap_touched_from(t, task) >= to->ts_ns);
}

int tap_task_change(struct tap_timeline *t, struct task *task, const struct transition *to)
{
	/* a hidden task's events are incomplete, except those of a slice */
	bool fits = to->fits && (!task->hidden || task->pub.state == TAP_STATE_RUNNING);
	struct tap_interval s;
	int ret;

	if (fits && !is_touched_until(t, task, to) && task->pub.state != TAP_STATE_UNKNOWN) {
		s = partial_interval(task, to->next, to->ts_ns, to->next_cpu);
		s.whole = !to->cut && !tap_phase_is_part(task->phase);
		s.late = to->late;
		s.end = to->end ? to->end : "";
		ret = close_interval(t, task, &s);
		tap_task_enter(task, to->next, to->ts_ns);
		task->slept = TAP_STATE_UNKNOWN;
		return ret;
	}
	ret = leave_uncertain(t, task, to, fits);
	if (to->next != TAP_STATE_UNKNOWN)
		tap_task_enter(task, to->next, to->ts_ns);
	return ret;
}

int tap_task_lose(struct tap_timeline *t, struct task *task, uint64_t now)
{
	return tap_task_change(t, task,
			       &(struct transition){
				       .next = TAP_STATE_UNKNOWN,
				       .ts_ns = now,
				       .next_cpu = -1,
			       });
}

int tap_task_close(struct tap_timeline *t, struct task *task)
{
	enum tap_state state = task->pub.state;

	if (state == TAP_STATE_DEAD)
		return 0;
	if (state == TAP_STATE_UNKNOWN)
		return close_part(t, task, state, t->opts.window.to_ns, -1);
	return tap_task_change(
		t, task,
		&(struct transition){
			.next = state,
			.ts_ns = t->opts.window.to_ns,
			.next_cpu = -1,
			.cut = true,
			/*
			 * a task that is hidden from tracing, or a task on an unrecorded CPU, may
			 * have woken it or let it run, unseen; or a switch that is still to come
			 * would tell that it was queued
			 */
			.fits = state == TAP_STATE_RUNNING ||
				!(tap_phase_is_doubtful(task->phase) || t->has_breaks ||
				  ((t->lacks_cpus || t->has_queueings) &&
				   tap_task_is_asleep(task))),
		});
}
