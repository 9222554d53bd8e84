/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Changes of a task's state: which time is charged to each state, and which part of it is certain.
 */
#ifndef TAP_TIMELINE_INTERVALS_H
#define TAP_TIMELINE_INTERVALS_H

#include "timeline/internal.h"

/* A change of a task's state. */
struct transition {
	enum tap_state next;
	uint64_t ts_ns;
	bool fits; /* the event can end the current state; if not, an earlier event was missed */
	const char *end; /* as in struct tap_interval; NULL: "" */
	int next_cpu; /* the CPU it runs on now, or -1 */
	bool unseen; /* it already runs, since an unknown time */
	bool cut; /* the state may go on: the interval is not complete */
	bool late; /* as in struct tap_interval */
};

/*
 * Change the task's state and report the interval that ends. Return: 0, or what a watcher returned.
 */
int tap_task_change(struct tap_timeline *t, struct task *task, const struct transition *to);
/*
 * The task's state is unknown at @now, ns, and it left its last known state at an unknown time.
 * Return: 0, or what a watcher returned.
 */
int tap_task_lose(struct tap_timeline *t, struct task *task, uint64_t now);
/*
 * Report the task's open interval at the window's end; its state goes on. Return: 0, or what a
 * watcher returned.
 */
int tap_task_close(struct tap_timeline *t, struct task *task);

static inline void tap_task_enter(struct task *task, enum tap_state state, uint64_t now)
{
	task->pub.state = state;
	task->pub.since_ns = now;
	task->phase = tap_phase_entered(state);
}

/* Note that an event showed the task running or in a run queue, even if its state stays unknown. */
static inline void tap_task_note_seen(struct task *task)
{
	if (task->phase == TAP_PHASE_UNSEEN)
		task->phase = TAP_PHASE_LOST;
}

static inline const struct tap_rule *tap_task_rule(const struct task *task, enum tap_sign sign)
{
	return &tap_rules[sign][task->phase];
}

static inline bool tap_task_is_asleep(const struct task *task)
{
	return tap_state_is_sleep(task->pub.state);
}

/*
 * Return the time when the task's state began to be uncertain. Only for a task that is touched
 * (tap_task_is_touched()).
 */
uint64_t tap_touched_from(const struct tap_timeline *t, const struct task *task);

/*
 * Return true if the task may have changed state unseen: a hole overlaps its state, or it may run
 * on CPUs that are not recorded. Never for a running task: its CPU's chain of switches is unbroken,
 * so holes are on other CPUs.
 */
static inline bool tap_task_is_touched(const struct tap_timeline *t, const struct task *task)
{
	return task->pub.state != TAP_STATE_RUNNING &&
	       (t->hole_end_ns > task->pub.since_ns ||
		(t->lacks_cpus && tap_timeline_roams(t, &task->pub)));
}

#endif
