/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The critical path of a task assigns each ns of an interval to exactly one task and one state
 * (docs/internals/critical.md). Time in which the task ran or was runnable is its own. For the time
 * of a sleep the path continues with the waker, and while that slept with the waker's waker, and so
 * on, back to the start of the sleep.
 */
#ifndef TAP_CRITICAL_WALK_H
#define TAP_CRITICAL_WALK_H

#include "analysis/critical/log.h"

enum tap_path_state {
	TAP_PATH_UNKNOWN, /* events are missing, or the waker is unknown */
	TAP_PATH_RUNNING,
	TAP_PATH_WAKING, /* in a run queue, after a wakeup */
	TAP_PATH_PREEMPTED,
	TAP_PATH_THROTTLED,
	TAP_PATH_DISK, /* it slept until a block device's interrupt */
	TAP_PATH_NETWORK,
	TAP_PATH_TIMER,
	/* it was in state D until another interrupt, or one of unknown kind */
	TAP_PATH_BLOCKED,
	TAP_PATH_INTERRUPT, /* it was in another sleep until such an interrupt */
	TAP_PATH_ASLEEP, /* it was still asleep at the end */
	TAP_NR_PATH_STATES,
};

/* Return the state's name in JSON: "unknown", "running", ... */
const char *tap_path_state_name(enum tap_path_state state);

struct tap_path_segment {
	uint64_t from_ns, to_ns;
	unsigned int task; /* the task's .index */
	enum tap_path_state state;
};

struct tap_walk { /* all zero except .log */
	struct tap_critical_log *log;
	/* private */
	struct tap_walk_left *left; /* owned; by the task's .index */
	unsigned int nr_left, nr_walks;
	struct tap_path_segment segment; /* the current segment, which grows backwards in time */
};

void tap_walk_release(struct tap_walk *w);

/*
 * Walk from @to_ns back to @from_ns, beginning with @task. @tell is called with the latest segment
 * first. Segments are not empty, have no gaps between them, and differ from their neighbours in
 * task or state. Return: 0; -ENOMEM; what @tell returned.
 */
int tap_walk_back(struct tap_walk *w, unsigned int task, uint64_t from_ns, uint64_t to_ns,
		  int (*tell)(void *ctx, const struct tap_path_segment *s), void *ctx);

#endif
