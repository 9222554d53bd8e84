/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Deadlines of SCHED_DEADLINE's jobs. A job begins when its task is woken, or its next period after
 * sched_yield(2) does, and is done when the task goes to sleep, yields or dies. Its deadline is the
 * one that the kernel has given when it first comes to a CPU (sched_dl_pick in events/dl.h): from
 * the wakeup on, so one of which the budget is used up before is late, though the kernel then
 * postpones what it calls the deadline.
 *
 * A deadline may be some microseconds before what is taken for it, never after: what is told as
 * missed was missed. A job that was under way when the recording began counts if it was late. One
 * in which something is unknown is undecided.
 */
#ifndef TAP_ANALYSIS_DEADLINES_H
#define TAP_ANALYSIS_DEADLINES_H

#include "timeline/sched_fields.h"
#include "timeline/timeline.h"

struct tap_deadlines {
	uint64_t jobs, missed, undecided;
	uint64_t late_ns; /* by how much, at most */
	uint64_t by_server; /* picks of selected tasks by a deadline server */
	uint64_t by_fair_server, by_ext_server; /* those of them whose server is known */
	/* inside */
	struct tap_deadline_job {
		bool is_open, is_over; /* .is_over: the one before was seen to its end */
		bool was_seen; /* from its beginning on */
		uint64_t deadline_ns;
	} * of; /* owned; by tap_task.index */
	unsigned int nr;
	const struct tap_format *fmt; /* of the fields */
	struct tap_num prev, yielded, next, is_deadline, left;
	struct tap_num is_by_server, server;
};

void tap_deadlines_release(struct tap_deadlines *d);
/* ctx: struct tap_deadlines. */
extern const struct tap_watcher_ops tap_deadlines_ops;

#endif
