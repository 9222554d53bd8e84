// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "timeline/tasks.h"

#include <stdlib.h>

#include "base/array.h"

#define BLOCK_TASKS 64u /* allocated at once: their addresses stay */

/* Room for one more, behind all others. Return: NULL when out of memory. */
static struct tap_task *next_task(struct tap_tasks *tasks)
{
	unsigned int i = tasks->nr % BLOCK_TASKS;

	if (tap_array_grow(&tasks->all, tasks->nr, &tasks->cap, sizeof(struct tap_task *)))
		return NULL;
	if (!i) {
		struct tap_task *block = calloc(BLOCK_TASKS, sizeof(*block));

		if (!block)
			return NULL;
		tasks->block = block;
	}
	return tasks->all[tasks->nr++] = &tasks->block[i];
}

struct tap_task *tap_tasks_add(struct tap_tasks *tasks, int tid, uint64_t born_ns)
{
	struct tap_task ***page = &tasks->dir[(unsigned int)tid / TAP_TASKS_PAGE], *task;

	if (!*page)
		*page = calloc(TAP_TASKS_PAGE, sizeof(**page));
	task = *page ? next_task(tasks) : NULL;
	if (!task)
		return NULL;
	*task = (struct tap_task){
		.tid = tid,
		.index = tasks->nr - 1,
		.cpu = -1,
		.run_cpu = -1,
		.from_cpu = -1,
		.waker_tid = -1,
		.waker_cpu = -1,
		.since_ns = born_ns,
		.born_ns = born_ns,
		.died_ns = UINT64_MAX,
	};
	(*page)[(unsigned int)tid % TAP_TASKS_PAGE] = task;
	return task;
}

void tap_tasks_release(struct tap_tasks *tasks)
{
	for (unsigned int i = 0; i < tasks->nr; i += BLOCK_TASKS)
		free(tasks->all[i]);
	for (unsigned int i = 0; i < TAP_MAX_TIDS / TAP_TASKS_PAGE; i++)
		free(tasks->dir[i]);
	free(tasks->all);
}
