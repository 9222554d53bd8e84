/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The critical path of a task: whose time, and in which state, the time from one moment to another
 * was (docs/internals/critical.md). While the task ran or was runnable it is its own. While it
 * slept, it is that of whoever woke it, and before that one was woken of whoever did that, and so
 * on back to the sleep's beginning. Each ns has exactly one task and one state.
 */
#ifndef TAP_CRITICAL_WALK_H
#define TAP_CRITICAL_WALK_H

#include "analysis/critical/log.h"

enum tap_path_state {
	TAP_PATH_UNKNOWN, /* events are missing, or nobody knows who woke it */
	TAP_PATH_RUNNING,
	TAP_PATH_WAKING, /* in a run queue, after a wakeup */
	TAP_PATH_PREEMPTED,
	TAP_PATH_THROTTLED,
	TAP_PATH_DISK, /* it slept until a block device's interrupt */
	TAP_PATH_NETWORK,
	TAP_PATH_TIMER,
	/* the same, of an interrupt that is none of these, or not told: in state D */
	TAP_PATH_BLOCKED,
	TAP_PATH_INTERRUPT, /* and in another */
	TAP_PATH_ASLEEP, /* it slept on at the end */
	TAP_NR_PATH_STATES,
};

/* "unknown", "running", ..., as in JSON. */
const char *tap_path_state_name(enum tap_path_state state);

struct tap_path_segment {
	uint64_t from_ns, to_ns;
	unsigned int task; /* its index */
	enum tap_path_state state;
};

struct tap_walk { /* all zero but .log */
	struct tap_critical_log *log;
	/* inside */
	struct tap_walk_left *left; /* owned; by task's index */
	unsigned int nr_left, nr_walks;
	struct tap_path_segment segment; /* that grows towards earlier times */
};

void tap_walk_release(struct tap_walk *w);

/*
 * From @to_ns back to @from_ns, of @task. @tell: the latest segment first; they have no gaps
 * between them, and none is empty; of two neighbours task or state differ. Return: 0; -ENOMEM; what
 * @tell returned.
 */
int tap_walk_back(struct tap_walk *w, unsigned int task, uint64_t from_ns, uint64_t to_ns,
		  int (*tell)(void *ctx, const struct tap_path_segment *s), void *ctx);

#endif
