/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Who is in a part's columns, as small numbers: those that ran, and those that woke others. */
#ifndef TAP_DRAWN_RUNNERS_H
#define TAP_DRAWN_RUNNERS_H

#include "base/buf.h"
#include "timeline/timeline.h"

/* the first task's */
enum { TAP_RUNNER_IDLE, TAP_RUNNER_UNKNOWN, TAP_RUNNER_OFFLINE, TAP_RUNNER_TASKS };
enum { TAP_WAKER_UNKNOWN, TAP_WAKER_INTERRUPT, TAP_WAKER_TASKS };
/* In place of a task's index: all that the options do not pick. */
#define TAP_OTHERS UINT32_MAX

struct tap_runners { /* all zero: none */
	uint32_t *numbers; /* owned; by task's index: its number in the part, plus one */
	unsigned int nr_numbers;
	uint32_t *tasks; /* owned; indexes, by number */
	unsigned int nr, cap;
	uint32_t others; /* number of all that are not picked, plus one */
	int err;
};

/* The number of the task with this index, given if it has none. A failure stays in .err. */
uint32_t tap_runner_number(struct tap_runners *r, uint32_t index);
/* As if none had been asked for. */
void tap_runners_clear(struct tap_runners *r);
void tap_runners_release(struct tap_runners *r);
/* Adds the member "tasks". */
void tap_runners_put(const struct tap_runners *r, const struct tap_timeline *t,
		     struct tap_buf *json);

/* What is drawn of the task. */
static inline uint32_t tap_drawn_index(const struct tap_task *task)
{
	return task->selected ? task->index : TAP_OTHERS;
}

#endif
