/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Why waits took longer than a limit, such as their p99: the components (piece.h) of these waits,
 * summed up by reason. The reasons add up to the waits.
 */
#ifndef TAP_EXPLAIN_ABOVE_H
#define TAP_EXPLAIN_ABOVE_H

#include "base/keyed.h"
#include "analysis/explain/waits.h"

enum tap_reason {
	TAP_REASON_OWN, /* a task of the group that waited ran */
	TAP_REASON_OTHER, /* another task ran */
	TAP_REASON_RECORDER, /* the recorder ran */
	TAP_REASON_IDLE, /* the CPU was idle and had to be woken up */
	TAP_REASON_INTERRUPTS,
	TAP_REASON_THROTTLED,
	TAP_REASON_WAKEUP, /* the task was not in a run queue yet */
	TAP_REASON_HELD, /* sched_ext's BPF scheduler kept the task */
	TAP_REASON_OFFLINE,
	TAP_REASON_UNKNOWN, /* events are missing, or the component is not explained */
	TAP_NR_REASONS,
};

const char *tap_reason_name(enum tap_reason reason); /* as used in JSON */

/* A task of TAP_REASON_OTHER. */
struct tap_above_task {
	int64_t tid;
	uint64_t ns;
	char comm[TAP_TASK_COMM]; /* as last seen; not NUL-terminated if this long */
};

/* Zeroed, with a limit and .who: empty. All times in ns. */
struct tap_above {
	/* set by the caller */
	uint64_t limit_ns; /* only longer waits are added */
	/* Return TAP_REASON_OWN, TAP_REASON_OTHER or TAP_REASON_RECORDER: what the task is. */
	enum tap_reason (*who)(const void *ctx, const struct tap_task *task);
	const void *ctx;

	uint64_t waits, ns; /* of all waits above the limit */
	uint64_t explained; /* waits of whose length at most TAP_ABOVE_UNKNOWN_PCT is unknown */
	uint64_t reasons[TAP_NR_REASONS];
	/* an allowed CPU was idle meanwhile; and the part in which the waiter's CPU ran a task */
	uint64_t idle_ns, contended_idle_ns;
	struct tap_keyed others; /* of struct tap_above_task, by tid */
};

#define TAP_ABOVE_UNKNOWN_PCT 5u

void tap_above_release(struct tap_above *a);
/* Add a wait if it is above the limit. @idle: its avoidable idle time. Return: 0 or -ENOMEM. */
int tap_above_wait(struct tap_above *a, const struct tap_wait_told *w,
		   const struct tap_avoidable_idle *idle);
/* Add the sums of @from, whose limit may differ. Return: 0 or -ENOMEM. */
int tap_above_merge(struct tap_above *to, const struct tap_above *from);
/* Sort .others, greatest first. Nothing can be added afterwards. */
void tap_above_end(struct tap_above *a);

#endif
