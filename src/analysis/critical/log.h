/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What every task did, one state behind the other without gaps, and who ended each sleep: so that
 * it can be read backwards, from any moment on, when all has been told. 4 bytes a state, 8 a sleep.
 */
#ifndef TAP_CRITICAL_LOG_H
#define TAP_CRITICAL_LOG_H

#include "timeline/timeline.h"

/* Who woke a task, in one number: one of these, or a task: TAP_WOKEN_BY_TASK + its index. */
enum tap_woken {
	TAP_WOKEN_NOT_KNOWN,
	TAP_WOKEN_NOT_YET, /* it slept on when the window ended */
	TAP_WOKEN_INTERRUPT, /* one that is none of the following, or nobody knows */
	TAP_WOKEN_TIMER,
	TAP_WOKEN_BLOCK, /* a block device has done what it was asked for */
	TAP_WOKEN_NET,
	TAP_WOKEN_BY_TASK,
};

struct tap_log_chunk;

/* Where in a task's log: a state, from .from_ns to .to_ns. */
struct tap_log_place {
	const struct tap_log_chunk *chunk; /* NULL: nowhere yet */
	unsigned int word;
	uint64_t from_ns, to_ns;
	enum tap_state state;
	uint32_t woken_by; /* of a sleep: who ended it */
};

struct tap_task_log {
	struct tap_log_chunk *last; /* NULL: nothing is told of it */
	uint64_t from_ns, to_ns;
	uint32_t woken_by; /* its last wakeup's */
	uint32_t born_by; /* TAP_WOKEN_NOT_KNOWN: it was there before */
	struct tap_log_place place; /* where it was read last */
};

struct tap_critical_log { /* all zero: empty */
	struct tap_task_log *tasks; /* owned; by index */
	unsigned int nr_tasks;
	/* inside */
	void **blocks; /* owned: chunks lie in them */
	unsigned int nr_blocks, cap_blocks;
	size_t used; /* of the last block */
};

void tap_critical_log_release(struct tap_critical_log *l);

/* The states that a watcher must watch that fills a log, beside wakeups. */
#define TAP_CRITICAL_STATES (TAP_STATE_ALL & ~TAP_STATE_BIT(TAP_STATE_DEAD))

/* Before what it does to the task's state is told. @by: enum tap_woken. Return: 0 or -ENOMEM, here
 * and below. */
int tap_critical_log_wakeup(struct tap_critical_log *l, const struct tap_task *task, uint32_t by,
			    bool is_new);
int tap_critical_log_interval(struct tap_critical_log *l, const struct tap_interval *s);
/* Before the wait that follows its last wakeup is told: who that was is known better by now. @by:
 * enum tap_woken. */
void tap_critical_log_correct(struct tap_critical_log *l, const struct tap_task *task, uint32_t by);

/*
 * What the task did just before @ns: .from_ns < @ns. Whoever asks for earlier and earlier moments
 * gets there step by step. Return: NULL: nothing is told of it so early.
 */
const struct tap_log_place *tap_critical_log_before(struct tap_critical_log *l, unsigned int task,
						    uint64_t ns);

#endif
