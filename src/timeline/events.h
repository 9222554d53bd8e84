/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What each kind of event means for the tasks and the CPUs of a timeline. */
#ifndef TAP_TIMELINE_EVENTS_H
#define TAP_TIMELINE_EVENTS_H

#include "timeline/internal.h"

/* @f: of its format. Return: 0; -ENOMEM; what a watcher returned. */
int tap_event_take(struct tap_timeline *t, const struct tap_sched_fields *f,
		   const struct tap_event *ev);
/* There is someone who wants to hear of it. Return: what a watcher returned. */
int tap_wakeup_tell(struct tap_timeline *t, const struct tap_sched_fields *f,
		    const struct tap_event *ev, struct task *task, bool is_new);

/*
 * Where some tasks are hidden, or some CPUs, so may be an exit, and the fork that gives the tid out
 * again. Who waits does not change its name meanwhile: then it is another, or ran unseen, or was
 * renamed from outside (/proc/TID/comm).
 */
static inline bool tap_task_seems_other(const struct tap_timeline *t, const struct task *task,
					const struct tap_field *comm, const struct tap_event *ev)
{
	if (!(t->has_breaks || t->lacks_cpus) || !comm || !*task->pub.comm)
		return false;
	if (tap_is_plain_comm(comm))
		return !tap_is_same_comm(tap_plain_comm(comm, ev), task->pub.comm);
	return tap_comm_differs(task->pub.comm, comm, ev);
}

#endif
