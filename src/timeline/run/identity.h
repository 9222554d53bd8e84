/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Who is who in a recording, from what it says of itself beside its events. A task is (tid, life),
 * and is what the timeline has (timeline.h): that is given the lists of tasks from here, and knows
 * of which life each row is (timeline/lists.h). A tid that no event tells of is as the lists have
 * it.
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
	struct tap_map own; /* tids of the recorder's tasks */
	struct tap_timeline *timeline; /* borrowed; NULL: there is none yet */
	bool adds; /* to .timeline every tid that is asked for */
	struct tap_program_start *starts; /* of programs with events of their own, in time order */
	size_t nr_starts, next_start;
	struct tap_task listed; /* of the last tap_identity() that found no other */
};

/*
 * @meta: what the recording says about itself, or NULL. It and @reader, which may be NULL, must
 * outlive
 * @ids. Return: 0 or -ENOMEM. What is not as it should be in @meta is passed over.
 */
int tap_identities_init(struct tap_identities *ids, const struct tap_reader *reader,
			const json_t *meta);
void tap_identities_release(struct tap_identities *ids);

/*
 * Who has @tid now; 0 is idle. Return: NULL when out of memory; where the timeline has none such
 * what lists say, of which nothing but .tid, .tgid, .comm and .cgroup means anything, until the
 * next call.
 */
const struct tap_task *tap_identity(struct tap_identities *ids, int tid);
static inline bool tap_identity_is_own(const struct tap_identities *ids, int tid)
{
	return tap_map_get(&ids->own, (uint64_t)tid);
}

/* Programs that started up to then give their processes names; in time order. Return: 0 or -ENOMEM.
 */
int tap_identities_advance(struct tap_identities *ids, uint64_t ns);

#endif
