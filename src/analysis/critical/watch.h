/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Fills the log (log.h) that critical paths are read from, out of what a timeline and events tell.
 */
#ifndef TAP_CRITICAL_WATCH_H
#define TAP_CRITICAL_WATCH_H

#include "timeline/run/stacks.h"
#include "analysis/critical/interrupts.h"

struct tap_critical_watch { /* all zero but these two */
	struct tap_event_stacks *stacks; /* borrowed; NULL: there are none */
	int command; /* its tid, to know when it became what it is; or 0 */

	struct tap_critical_log log;
	struct tap_interrupts interrupts;
	bool tells_interrupts; /* wakeups say whether one woke */
	/* inside */
	const struct tap_timeline *timeline; /* of the last call */
	uint64_t exec_ns; /* of .command; 0: that was not recorded */
	unsigned char *woken_of; /* owned; by a stack's number: enum tap_woken, plus 1 */
	unsigned int nr_woken_of;
};

void tap_critical_watch_release(struct tap_critical_watch *w);
/* ctx: struct tap_critical_watch. Comes after tap_event_stacks_ops with .stacks. */
extern const struct tap_watcher_ops tap_critical_watch_ops;

/* After the end: of which time @task's path is. */
struct tap_window tap_critical_watch_life(const struct tap_critical_watch *w,
					  const struct tap_timeline *t,
					  const struct tap_task *task);

#endif
