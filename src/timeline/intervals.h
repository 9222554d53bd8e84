/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A task's way from state to state: what time is charged to each, and what of it is certain. */
#ifndef TAP_TIMELINE_INTERVALS_H
#define TAP_TIMELINE_INTERVALS_H

#include "timeline/internal.h"

/* A task goes from its state to another. */
struct transition {
	enum tap_state next;
	uint64_t ts_ns;
	bool fits; /* what ends the state is what can end it: else something was missed */
	const char *end; /* as in struct tap_interval; NULL: "" */
	int next_cpu; /* where it runs now; -1 */
	bool unseen; /* it runs already: since when nobody knows */
	bool cut; /* the state goes on: this is not the whole of it */
};

/* Return: 0; what a watcher returned. */
int tap_task_change(struct tap_timeline *t, struct task *task, const struct transition *to);
/* The same: nobody knows since when it is no longer in its state, nor in which it is now. */
int tap_task_lose(struct tap_timeline *t, struct task *task, uint64_t now);
/* It stays as it is, beyond the window's end. Return: as above. */
int tap_task_close(struct tap_timeline *t, struct task *task);

static inline void tap_task_enter(struct task *task, enum tap_state state, uint64_t now)
{
	task->pub.state = state;
	task->pub.since_ns = now;
	task->phase = tap_phase_entered(state);
}

/* An event shows the task running or in a run queue, whatever state that leaves it in. */
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

/* Return: when the task's state, which is touched, began to be uncertain. */
uint64_t tap_touched_from(const struct tap_timeline *t, const struct task *task);

/* A task that runs is on a CPU whose chain holds: holes are elsewhere. */
static inline bool tap_task_is_touched(const struct tap_timeline *t, const struct task *task)
{
	return task->pub.state != TAP_STATE_RUNNING &&
	       (t->hole_end_ns > task->pub.since_ns ||
		(t->lacks_cpus && tap_timeline_roams(t, &task->pub)));
}

#endif
