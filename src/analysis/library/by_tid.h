/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* An index of tasks by thread ID, for getters that are called after the timeline is gone. */
#ifndef TAP_LIBRARY_BY_TID_H
#define TAP_LIBRARY_BY_TID_H

#include <errno.h>

#include "base/map.h"
#include "timeline/timeline.h"

/*
 * Call at the end of a run. @map: empty. Of several tasks with the same tid the newest is kept.
 * Return: 0 or -ENOMEM.
 */
static inline int tap_by_tid_fill(struct tap_map *map, const struct tap_timeline *t)
{
	unsigned int nr;
	struct tap_task *const *tasks = tap_timeline_tasks(t, &nr);
	int ret = 0;

	for (unsigned int i = 0; !ret && i < nr; i++)
		ret = tap_map_set(map, (uint64_t)tasks[i]->tid, i);
	return ret;
}

/* Return true if there is a task with this tid. *@index: set to the newest one's .index. */
static inline bool tap_by_tid_find(const struct tap_map *map, int tid, unsigned int *index)
{
	const uint64_t *slot = tid > 0 ? tap_map_get(map, (uint64_t)tid) : NULL;

	if (slot)
		*index = (unsigned int)*slot;
	return slot;
}

#endif
