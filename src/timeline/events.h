/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Updates the tasks and CPUs of a timeline for each kind of event. */
#ifndef TAP_TIMELINE_EVENTS_H
#define TAP_TIMELINE_EVENTS_H

#include "timeline/internal.h"

/*
 * Process one event. @f: the fields of the event's format. Return: 0; -ENOMEM; what a watcher
 * returned.
 */
int tap_event_take(struct tap_timeline *t, const struct tap_sched_fields *f,
		   const struct tap_event *ev);
/*
 * Report a wakeup to watchers; call only if the list of wakeup watchers is not empty. Return: 0, or
 * what a watcher returned.
 */
int tap_wakeup_tell(struct tap_timeline *t, const struct tap_sched_fields *f,
		    const struct tap_event *ev, struct task *task, bool is_new);

/*
 * Return true if the event's name differs from the task's name, and that is reason to doubt that
 * this is still the same task.
 *
 * Where some tasks or CPUs are not traced, an exit and the fork that reuses its tid may be missing.
 * A waiting task does not rename itself. So it is another task, or it ran unseen, or it was renamed
 * from outside (/proc/TID/comm).
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
