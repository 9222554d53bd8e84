/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* When a task's life begins and ends, and which task a tid means now. */
#ifndef TAP_TIMELINE_LIVES_H
#define TAP_TIMELINE_LIVES_H

#include "timeline/internal.h"

/*
 * The task that the event names, added if it is not known: then it has been there all along, in
 * a state that nobody knows. NULL for idle, and for what can be no tid (a file may lie).
 * Return: 0 or -ENOMEM.
 */
int tap_task_get(struct tap_timeline *t, int tid, const struct tap_field *comm,
		 const struct tap_event *ev, struct task **out);
/* The same, without an event that names it. */
int tap_task_see(struct tap_timeline *t, int tid, struct task **out);
/* The same of one that is alive at @now: if it was thought to be dead, its tid was given out again,
 * unseen. */
int tap_task_see_alive(struct tap_timeline *t, int tid, uint64_t now, struct task **out);
/*
 * A new one, NULL for what can be no tid: whoever had it before is gone.
 * Return: 0; -ENOMEM; what a watcher returned.
 */
int tap_task_begin(struct tap_timeline *t, int tid, uint64_t now, struct task **out);
/* Nothing of it is counted from here on. @fits, @end: as in struct transition. Return: as above. */
int tap_task_end(struct tap_timeline *t, struct task *task, uint64_t now, bool fits,
		 const char *end);
/*
 * A task is seen: if it was thought to be dead (or is NULL: then nothing is done), its tid was
 * given out again, unseen. Return: 0 or -ENOMEM.
 */
int tap_task_replace_dead(struct tap_timeline *t, struct task **task, const struct tap_field *comm,
			  const struct tap_event *ev);
/* Both: the task that the event shows to be alive. */
int tap_task_get_alive(struct tap_timeline *t, int tid, const struct tap_field *comm,
		       const struct tap_event *ev, struct task **out);

#endif
