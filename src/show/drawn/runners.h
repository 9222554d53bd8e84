/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Small numbers for the tasks in a part's columns: tasks that ran, and tasks that woke others. */
#ifndef TAP_DRAWN_RUNNERS_H
#define TAP_DRAWN_RUNNERS_H

#include "base/buf.h"
#include "timeline/timeline.h"

/* codes in a column; TAP_*_TASKS is the first task's */
enum { TAP_RUNNER_IDLE, TAP_RUNNER_UNKNOWN, TAP_RUNNER_OFFLINE, TAP_RUNNER_TASKS };
enum { TAP_WAKER_UNKNOWN, TAP_WAKER_INTERRUPT, TAP_WAKER_TASKS };
/* used instead of a task's index for all tasks that the options do not select */
#define TAP_OTHERS UINT32_MAX

struct tap_runners { /* all zero: empty */
	uint32_t *numbers; /* owned; by task index: the task's number in the part + 1; 0: none */
	unsigned int nr_numbers;
	uint32_t *tasks; /* owned; task index of each number */
	unsigned int nr, cap;
	uint32_t others; /* number of TAP_OTHERS + 1; 0: none */
	int err;
};

/* Return the number of the task with this index, assigning one if needed. On failure set .err. */
uint32_t tap_runner_number(struct tap_runners *r, uint32_t index);
/* Forget all numbers. */
void tap_runners_clear(struct tap_runners *r);
void tap_runners_release(struct tap_runners *r);
/* Append the member "tasks". */
void tap_runners_put(const struct tap_runners *r, const struct tap_timeline *t,
		     struct tap_buf *json);

/* Return the index under which the task is drawn. */
static inline uint32_t tap_drawn_index(const struct tap_task *task)
{
	return task->selected ? task->index : TAP_OTHERS;
}

#endif
