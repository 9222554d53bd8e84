/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Deadlines of SCHED_DEADLINE jobs. A job begins when its task is woken, or when its next period
 * begins after sched_yield(2). It is done when the task goes to sleep, yields or dies. Its deadline
 * is the kernel's at the time when the job first comes to a CPU (sched_dl_pick in events/dl.h).
 * This deadline counts from the wakeup, so a job that used up its budget earlier is late, although
 * the kernel then postpones its own deadline.
 *
 * The real deadline may be some microseconds earlier than this one, never later: jobs reported as
 * missed were missed. A job that was in progress when the recording began counts if it was late. A
 * job with an unknown interval is undecided.
 */
#ifndef TAP_ANALYSIS_DEADLINES_H
#define TAP_ANALYSIS_DEADLINES_H

#include "timeline/sched_fields.h"
#include "timeline/timeline.h"

struct tap_deadlines {
	uint64_t jobs, missed, undecided;
	uint64_t late_ns; /* the most that a job was late, ns */
	uint64_t by_server; /* picks of selected tasks by a deadline server */
	uint64_t by_fair_server, by_ext_server; /* those of these picks whose server is known */
	/* private */
	struct tap_deadline_job {
		bool is_open, is_over; /* .is_over: the end of the job before was seen */
		bool was_seen; /* the job's beginning was seen */
		uint64_t deadline_ns;
	} * of; /* owned; indexed by tap_task.index */
	unsigned int nr;
	const struct tap_format *fmt; /* the format that the fields below belong to */
	struct tap_num prev, yielded, next, is_deadline, left;
	struct tap_num is_by_server, server;
};

void tap_deadlines_release(struct tap_deadlines *d);
/* ctx: struct tap_deadlines. */
extern const struct tap_watcher_ops tap_deadlines_ops;

#endif
