/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A recorder that waits for a CPU loses events: while it records it runs before all that has no
 * real-time priority, or a lower one. Children do not inherit it.
 */
#ifndef TAP_RECORD_SESSION_PRIORITY_H
#define TAP_RECORD_SESSION_PRIORITY_H

#include <stdbool.h>
#include <sys/types.h>

#include <schedtap/err.h>

#define TAP_PRIORITY_DEFAULT (-1) /* 40, below the 50 of interrupt threads (sched_set_fifo()) */

struct tap_priority {
	bool raised;
	pid_t tid;
	int policy, priority; /* as they were */
};

/*
 * SCHED_FIFO at @priority (1..99) for thread @tid (0: the caller); 0: as it is.
 * TAP_PRIORITY_DEFAULT is given up quietly where it is refused, and where the caller has a
 * real-time policy already. Return: 0; -errno with a sentence, -EPERM where it is refused.
 */
int tap_priority_raise(struct tap_priority *p, pid_t tid, int priority, struct tap_err *err);
void tap_priority_restore(struct tap_priority *p);

#endif
