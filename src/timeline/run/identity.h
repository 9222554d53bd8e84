/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The identities of a recording's tasks, as the recording's metadata lists them. A task is a (tid,
 * life) pair of the timeline (timeline.h). The timeline is given the task lists from here and
 * decides which life of a tid each row describes (timeline/lists.h). If no event mentions a tid,
 * the lists alone describe its task.
 */
#ifndef TAP_ANALYSIS_IDENTITY_H
#define TAP_ANALYSIS_IDENTITY_H

#include <jansson.h>
#include <schedtap/reader.h>

#include "timeline/run/cgroups.h"
#include "timeline/timeline.h"

struct tap_program_start;

struct tap_identities {
	struct tap_lists lists; /* for the timeline */
	struct tap_cgroups cgroups;
	struct tap_map own; /* tids of the recorder's own tasks */
	struct tap_timeline *timeline; /* borrowed; NULL: not made yet */
	bool adds; /* tap_identity() adds every tid it is asked for to .timeline */
	/* programs that recorded events of their own, in time order */
	struct tap_program_start *starts;
	size_t nr_starts, next_start;
	/* result of the last tap_identity() that found no task in the timeline */
	struct tap_task listed;
};

/*
 * @meta: the recording's description, or NULL. @reader may be NULL. Both must outlive @ids.
 * Malformed entries of @meta are ignored. Return: 0 or -ENOMEM.
 */
int tap_identities_init(struct tap_identities *ids, const struct tap_reader *reader,
			const json_t *meta);
void tap_identities_release(struct tap_identities *ids);

/*
 * Return the task that has @tid at this point of the recording; 0 is the idle task. If the timeline
 * has no such task, the result comes from the lists: then only .tid, .tgid, .comm and .cgroup are
 * valid, until the next call. Return: NULL when out of memory.
 */
const struct tap_task *tap_identity(struct tap_identities *ids, int tid);
static inline bool tap_identity_is_own(const struct tap_identities *ids, int tid)
{
	return tap_map_get(&ids->own, (uint64_t)tid);
}

/*
 * Rename the processes whose programs (.starts) started by @ns. Call with ascending @ns. Return: 0
 * or -ENOMEM.
 */
int tap_identities_advance(struct tap_identities *ids, uint64_t ns);

#endif
