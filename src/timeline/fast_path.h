/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The fast path. Nearly every switch takes a task off a CPU whose chain of switches is unbroken and
 * switches in a task that is known to wait, and nearly every waking finds its task asleep. Where
 * the rules in the state table (transitions.h) are plain, and no break, hole or window border is
 * near, this does all that events.c would do, in half the time. tests/unit/test_timeline_paths.c
 * checks that both give the same results.
 */
#ifndef TAP_TIMELINE_FAST_PATH_H
#define TAP_TIMELINE_FAST_PATH_H

#include "timeline/cpus.h"
#include "timeline/events.h"
#include "timeline/intervals.h"

/*
 * Return true if the state table alone decides: no hole overlaps the task's state, and the state
 * began within the window.
 */
static inline bool is_plain(const struct tap_timeline *t, const struct task *task,
			    enum tap_sign sign)
{
	return tap_task_rule(task, sign)->plain && task->pub.since_ns >= t->fast_since_ns;
}

/* Do what tap_task_change() does for a state that is known to be complete and certain. */
static inline __attribute__((always_inline)) int fast_change(struct tap_timeline *t,
							     struct task *task, enum tap_state next,
							     uint64_t now, const char *end,
							     int next_cpu, bool late)
{
	enum tap_state state = task->pub.state;
	const struct tap_interval_watcher *to = t->watchers.of_state[state];
	uint64_t from = task->pub.since_ns;
	int ret = 0;

	task->pub.total_ns[state] += now - from;
	if (to)
		ret = tap_watchers_interval(&t->watchers, to, t,
					    &(struct tap_interval){
						    .task = tap_task_pub(task),
						    .state = state,
						    .next = next,
						    .whole = true,
						    .from_ns = from,
						    .to_ns = now,
						    .cpu = task->pub.cpu,
						    .end = end,
						    .next_cpu = next_cpu,
						    .late = late,
					    });
	tap_task_enter(task, next, now);
	task->slept = TAP_STATE_UNKNOWN;
	return ret;
}

static inline bool can_switch_out(const struct tap_timeline *t, const struct task *task)
{
	return is_plain(t, task, TAP_SIGN_OUT) && task->throttles_ns < task->pub.since_ns;
}

static inline bool can_switch_in(const struct tap_timeline *t, const struct task *task,
				 const struct tap_field *comm, const struct tap_event *ev)
{
	return is_plain(t, task, TAP_SIGN_IN) && !task->hidden &&
	       !tap_task_seems_other(t, task, comm, ev);
}

static inline __attribute__((always_inline)) int fast_out(struct tap_timeline *t, struct task *task,
							  int cpu, uint64_t now,
							  const struct tap_prev_state *left_as,
							  const char *comm)
{
	int ret;

	if (comm)
		memcpy(task->pub.comm, comm, TAP_TASK_COMM);
	task->pub.slices++;
	ret = fast_change(t, task, left_as->state, now, left_as->text, -1, false);
	task->pub.cpu = task->pub.run_cpu = cpu;
	return ret;
}

static inline __attribute__((always_inline)) int fast_in(struct tap_timeline *t, struct task *task,
							 int cpu, uint64_t now, int prio)
{
	int ret;

	if (!t->has_migrate && task->pub.run_cpu >= 0)
		task->pub.migrations += task->pub.run_cpu != cpu;
	task->pub.prio = prio;
	task->pub.cpu = cpu;
	ret = fast_change(t, task, TAP_STATE_RUNNING, now, "", cpu, false);
	task->pub.from_cpu = task->pub.run_cpu;
	task->pub.run_cpu = cpu;
	task->is_new = false;
	return ret;
}

/*
 * Return true if the task that is switched in slept, and the switch shows when it was queued. Not
 * those that were moved while they waited: events.c takes them.
 */
static inline bool can_wake_when_queued(const struct tap_timeline *t, const struct task *task,
					const struct tap_sched_fields *f,
					const struct tap_event *ev)
{
	const uint32_t queued_ns = (uint32_t)tap_num_s32(&f->queued, ev),
		       delay_ns = (uint32_t)tap_num_s32(&f->delay, ev);

	return t->has_queueings && task->phase == TAP_PHASE_ASLEEP &&
	       task->pub.since_ns >= t->fast_since_ns && !task->hidden && task->has_delay &&
	       delay_ns == task->delay_ns && queued_ns != UINT32_MAX &&
	       (task->dequeued || task->pub.run_cpu == ev->cpu) &&
	       tap_queued_fits(queued_ns, (int64_t)(ev->ts_ns - task->pub.since_ns));
}

/* Do what wake_when_queued() of events.c does. */
static inline int fast_wake_when_queued(struct tap_timeline *t, struct task *task, uint64_t now)
{
	uint64_t queued_ns = now - (uint64_t)task->pub.queued_ns;
	int ret;

	if (queued_ns < task->pub.since_ns)
		queued_ns = task->pub.since_ns;
	ret = fast_change(t, task, TAP_STATE_WAKING, queued_ns, "", -1, true);
	task->pub.woken_ns = queued_ns;
	task->pub.waker_tid = task->pub.waker_cpu = -1;
	task->pub.queued_ns = -1;
	task->woken_running_ns = 0;
	return ret;
}

/*
 * Process a sched_switch. @lean: it has the layout of events/lean.h; a constant.
 * Return: 1: done; 0: not processed, pass it to events.c; -errno.
 */
static inline __attribute__((always_inline)) int
tap_fast_switch(struct tap_timeline *t, const struct tap_event *ev, const bool lean)
{
	const struct tap_sched_fields *f = t->switches;
	const int prev = tap_num_s32(&f->from, ev), next = tap_num_s32(&f->tid, ev), cpu = ev->cpu;
	const int prio = lean ? (int16_t)tap_num_u16(&f->prio, ev) : tap_num_s32(&f->prio, ev);
	const uint64_t now = ev->ts_ns,
		       value = lean ? tap_num_u16(&f->value, ev) : tap_num_u64(&f->value, ev);
	const char *comm = lean ? NULL : tap_plain_comm(f->from_comm, ev);
	struct tap_cpu *c = &t->cpus[cpu];
	struct task *out = tap_task_whole(c->task), *in = tap_tasks_find(&t->tasks, next);
	const struct tap_prev_state *left_as = NULL;
	bool wakes = lean && in && can_wake_when_queued(t, in, f, ev);
	uint64_t since;
	int ret = 0;

	if (c->known != TAP_CPU_KNOWN || c->since_ns < t->fast_since_ns ||
	    prev != (out ? out->pub.tid : 0))
		return 0;
	if (out) {
		left_as = value < TAP_PREV_STATES ? t->prev_states.by_value[value] : NULL;
		if (!left_as || left_as->state == TAP_STATE_DEAD || !can_switch_out(t, out))
			return 0;
	}
	/* with a filter by task, idle may not be recorded */
	if (in ? !wakes && !can_switch_in(t, in, f->comm, ev) : next || t->opts.promise)
		return 0;
	since = c->since_ns;
	*(out ? &c->run_ns : &c->idle_ns) += now - since;
	c->since_ns = now;
	/*
	 * testing ret only once, after all calls, would be shorter, but makes schedtap summary 3 %
	 * slower
	 */
	if (t->watchers.of_cpus.nr || t->watchers.of_early_cpus.nr) {
		ret = tap_cpu_tell(t, c, since, now);
		if (ret)
			return ret;
	}
	if (out) {
		ret = fast_out(t, out, cpu, now, left_as, comm);
		if (ret)
			return ret;
		if (lean)
			out->dequeued = !((const uint8_t *)ev->data)[f->delayed.offset];
	}
	c->switches++;
	c->task = tap_task_pub(in);
	if (in)
		tap_task_note_queued(in, f, ev, t->hole_end_ns);
	if (wakes) {
		in->pub.prio = prio;
		ret = fast_wake_when_queued(t, in, now);
		if (ret)
			return ret;
	}
	ret = in ? fast_in(t, in, cpu, now, prio) : 0;
	return ret ? ret : 1;
}

static inline bool is_alive(const struct task *task)
{
	return task && task->pub.state != TAP_STATE_DEAD;
}

/*
 * Process a switch for a timeline that tracks only lives (opts.lives_only): if both tasks go on
 * living, only their names may have changed. Return false if the switch must be passed to events.c.
 */
static inline bool tap_fast_switch_of_lives(struct tap_timeline *t, const struct tap_event *ev)
{
	const struct tap_sched_fields *f = t->switches;
	const int prev = tap_num_s32(&f->from, ev), next = tap_num_s32(&f->tid, ev);
	const uint64_t value = tap_num_u64(&f->value, ev);
	struct task *out = tap_tasks_find(&t->tasks, prev), *in = tap_tasks_find(&t->tasks, next);
	const struct tap_prev_state *left_as =
		value < TAP_PREV_STATES ? t->prev_states.by_value[value] : NULL;

	if (!left_as || left_as->state == TAP_STATE_DEAD || (prev && !is_alive(out)) ||
	    (next && !is_alive(in)))
		return false;
	if (out)
		memcpy(out->pub.comm, tap_plain_comm(f->from_comm, ev), TAP_TASK_COMM);
	if (in) {
		memcpy(in->pub.comm, tap_plain_comm(f->comm, ev), TAP_TASK_COMM);
		in->is_new = false;
	}
	return true;
}

/* Process a sched_waking. Return: 1: done; 0: not processed, pass it to events.c; -errno. */
static inline __attribute__((always_inline)) int tap_fast_waking(struct tap_timeline *t,
								 const struct tap_event *ev)
{
	const struct tap_sched_fields *f = t->wakings;
	const int by = tap_num_s32(&f->current, ev), tid = tap_num_s32(&f->tid, ev), cpu = ev->cpu;
	const int prio = tap_num_s32(&f->prio, ev),
		  target = tap_cpu_named(t, tap_num_s32(&f->value, ev));
	const uint64_t now = ev->ts_ns;
	struct task *task = tap_tasks_find(&t->tasks, tid);
	enum tap_state slept;
	uint64_t from;
	int ret = 0;

	if (!task || !is_plain(t, task, TAP_SIGN_WAKING) || task->hidden || by == tid)
		return 0;
	t->cpus[cpu].seen = true;
	if (t->watchers.of_wakeups.nr)
		ret = tap_wakeup_tell(t, f, ev, task, false);
	if (ret)
		return ret;
	from = task->pub.since_ns;
	slept = task->pub.state;
	ret = fast_change(t, task, TAP_STATE_WAKING, now, "", -1, false);
	task->slept = slept;
	task->slept_from_ns = from;
	task->pub.cpu = target;
	task->pub.prio = prio;
	task->woken_running_ns = 0;
	task->pub.woken_ns = now;
	task->pub.waker_tid = by;
	task->pub.waker_cpu = cpu;
	task->placed = false;
	task->is_new = false;
	return ret ? ret : 1;
}

#endif
