/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* When each task's life begins and ends, and which task a tid means now. */
#ifndef TAP_TIMELINE_LIVES_H
#define TAP_TIMELINE_LIVES_H

#include "timeline/internal.h"

/*
 * Get the task that the event names. An unknown task is added: it existed before, in an unknown
 * state. *@out is NULL for idle, and for invalid tids (a damaged file). Return: 0 or -ENOMEM.
 */
int tap_task_get(struct tap_timeline *t, int tid, const struct tap_field *comm,
		 const struct tap_event *ev, struct task **out);
/*
 * Get the task with this tid like tap_task_get(), but without an event that names it. Return: 0 or
 * -ENOMEM.
 */
int tap_task_see(struct tap_timeline *t, int tid, struct task **out);
/*
 * Get the task with this tid, which is alive at @now, ns. If the known task is dead, the tid was
 * reused unseen, and a new task is added. *@out is NULL for invalid tids. Return: 0 or -ENOMEM.
 */
int tap_task_see_alive(struct tap_timeline *t, int tid, uint64_t now, struct task **out);
/*
 * Add a new task born at @now, ns; the previous task with this tid is dead. *@out is NULL for
 * invalid tids. Return: 0; -ENOMEM; what a watcher returned.
 */
int tap_task_begin(struct tap_timeline *t, int tid, uint64_t now, struct task **out);
/*
 * The task dies at @now, ns: nothing of it is counted after that. @fits, @end: see struct
 * transition. Return: 0, or what a watcher returned.
 */
int tap_task_end(struct tap_timeline *t, struct task *task, uint64_t now, bool fits,
		 const char *end);
/*
 * An event shows *@task alive. If it is known as dead, its tid was reused unseen: replace *@task by
 * a new task. *@task may be NULL: nothing is done. Return: 0 or -ENOMEM.
 */
int tap_task_replace_dead(struct tap_timeline *t, struct task **task, const struct tap_field *comm,
			  const struct tap_event *ev);
/*
 * Get the task that the event shows to be alive: tap_task_get(), then tap_task_replace_dead().
 * Return: 0 or -ENOMEM.
 */
int tap_task_get_alive(struct tap_timeline *t, int tid, const struct tap_field *comm,
		       const struct tap_event *ev, struct task **out);

#endif
