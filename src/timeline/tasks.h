/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The tasks of a timeline: in the order of their appearance, and the newest of each tid. */
#ifndef TAP_TIMELINE_TASKS_H
#define TAP_TIMELINE_TASKS_H

#include "timeline/timeline.h"

#define TAP_TASKS_PAGE 1024u /* tids of one page of the directory */

/* All zero: empty. */
struct tap_tasks {
	struct tap_task **all; /* by .index */
	unsigned int nr, cap;
	struct tap_task *block; /* the one that new tasks come from */
	struct tap_task **dir[TAP_MAX_TIDS / TAP_TASKS_PAGE];
};

/*
 * A new task, also if one with this tid is known: the tid was given out again. Nothing is known of it
 * but when it was born. @tid: below TAP_MAX_TIDS. Return: NULL when out of memory.
 */
struct tap_task *tap_tasks_add(struct tap_tasks *tasks, int tid, uint64_t born_ns);
void tap_tasks_release(struct tap_tasks *tasks);

/* NULL also: idle, which is in no page, and what can be no tid. */
static inline struct tap_task *tap_tasks_find(const struct tap_tasks *tasks, int tid)
{
	struct tap_task **page;

	if ((unsigned int)tid >= TAP_MAX_TIDS)
		return NULL;
	page = tasks->dir[(unsigned int)tid / TAP_TASKS_PAGE];
	return page ? page[(unsigned int)tid % TAP_TASKS_PAGE] : NULL;
}

#endif
