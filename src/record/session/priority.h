/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Real-time priority of the recorder: it loses events if it has to wait for a CPU, so while it
 * records it runs before all tasks without a real-time priority and those with a lower one.
 * Children do not inherit it.
 */
#ifndef TAP_RECORD_SESSION_PRIORITY_H
#define TAP_RECORD_SESSION_PRIORITY_H

#include <stdbool.h>
#include <sys/types.h>

#include <schedtap/err.h>

#define TAP_PRIORITY_DEFAULT (-1) /* 40: below the 50 of interrupt threads (sched_set_fifo()) */

struct tap_priority {
	bool raised;
	pid_t tid;
	int policy, priority; /* the original ones */
};

/*
 * Give thread @tid (0: the caller) SCHED_FIFO at @priority, 1..99; 0 changes nothing.
 * TAP_PRIORITY_DEFAULT is not an error if it is refused, and changes nothing if the thread has a
 * real-time policy already. Return: 0; -errno with a sentence, -EPERM if it is refused.
 */
int tap_priority_raise(struct tap_priority *p, pid_t tid, int priority, struct tap_err *err);
void tap_priority_restore(struct tap_priority *p);

#endif
