/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Fill the log from which critical paths are read (log.h), from the timeline and from events. */
#ifndef TAP_CRITICAL_WATCH_H
#define TAP_CRITICAL_WATCH_H

#include "timeline/run/stacks.h"
#include "analysis/critical/interrupts.h"

struct tap_critical_watch { /* all zero except the first two members */
	struct tap_event_stacks *stacks; /* borrowed; NULL: no stacks */
	int command; /* tid of the recorded command, to note when it executed its program; or 0 */

	struct tap_critical_log log;
	struct tap_interrupts interrupts;
	bool tells_interrupts; /* wakeups show whether an interrupt performed them */
	/* private */
	const struct tap_timeline *timeline; /* as of the last call */
	uint64_t exec_ns; /* when .command called execve(); 0: not recorded */
	unsigned char *woken_of; /* owned; by stack number: enum tap_woken, plus 1 */
	unsigned int nr_woken_of;
};

void tap_critical_watch_release(struct tap_critical_watch *w);
/*
 * ctx: struct tap_critical_watch. With .stacks, this watcher must come after tap_event_stacks_ops.
 */
extern const struct tap_watcher_ops tap_critical_watch_ops;

/*
 * After the run: return the interval for which to find @task's path: its life, and for .command the
 * part after execve().
 */
struct tap_window tap_critical_watch_life(const struct tap_critical_watch *w,
					  const struct tap_timeline *t,
					  const struct tap_task *task);

#endif
