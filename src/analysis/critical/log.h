/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A log of every task: its states in time order without gaps, and the waker that ended each sleep.
 * After the recording was read, the log can be read backwards from any time. It takes 4 bytes per
 * state, 8 per sleep, and more for very long ones.
 */
#ifndef TAP_CRITICAL_LOG_H
#define TAP_CRITICAL_LOG_H

#include "timeline/timeline.h"

/* What woke a task: one of these values, or TAP_WOKEN_BY_TASK + the index of the waking task. */
enum tap_woken {
	TAP_WOKEN_NOT_KNOWN,
	TAP_WOKEN_NOT_YET, /* it was still asleep at the end of the window */
	TAP_WOKEN_INTERRUPT, /* an interrupt of another or of unknown kind */
	TAP_WOKEN_TIMER,
	TAP_WOKEN_BLOCK, /* completion of a block device request */
	TAP_WOKEN_NET,
	TAP_WOKEN_BY_TASK,
};

struct tap_log_chunk;

/* A position in a task's log: a state that lasted from .from_ns to .to_ns. */
struct tap_log_place {
	const struct tap_log_chunk *chunk; /* NULL: not set */
	unsigned int word;
	uint64_t from_ns, to_ns;
	enum tap_state state;
	uint32_t woken_by; /* for sleeps: what ended it, enum tap_woken */
};

struct tap_task_log {
	struct tap_log_chunk *last; /* NULL: the log is empty */
	uint64_t from_ns, to_ns;
	uint32_t woken_by; /* enum tap_woken of its last wakeup */
	/* enum tap_woken of its creation; TAP_WOKEN_NOT_KNOWN: it existed before */
	uint32_t born_by;
	struct tap_log_place place; /* the last position read */
};

struct tap_critical_log { /* all zero: empty */
	struct tap_task_log *tasks; /* owned; by .index */
	unsigned int nr_tasks;
	/* private */
	void **blocks; /* owned; memory for chunks */
	unsigned int nr_blocks, cap_blocks;
	size_t used; /* bytes used in the last block */
};

void tap_critical_log_release(struct tap_critical_log *l);

/* The states whose intervals must be passed to the log, in addition to wakeups. */
#define TAP_CRITICAL_STATES (TAP_STATE_ALL & ~TAP_STATE_BIT(TAP_STATE_DEAD))

/*
 * Record a wakeup, before the interval that it ends is added. @by: enum tap_woken. @is_new: the
 * first wakeup after the task's creation. Return: 0 or -ENOMEM, also for
 * tap_critical_log_interval().
 */
int tap_critical_log_wakeup(struct tap_critical_log *l, const struct tap_task *task, uint32_t by,
			    bool is_new);
int tap_critical_log_interval(struct tap_critical_log *l, const struct tap_interval *s);
/*
 * Replace the waker of the task's last sleep, now that it is known better. Call it before the wait
 * that follows the wakeup is added. @by: enum tap_woken.
 */
void tap_critical_log_correct(struct tap_critical_log *l, const struct tap_task *task, uint32_t by);

/*
 * Return what the task did just before @ns: the state with .from_ns < @ns <= .to_ns or, if the log
 * ends earlier, its last state. Queries with decreasing @ns are fast. Return: NULL: the log begins
 * at @ns or later.
 */
const struct tap_log_place *tap_critical_log_before(struct tap_critical_log *l, unsigned int task,
						    uint64_t ns);

#endif
