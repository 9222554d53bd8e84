/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which tasks were moved between CPUs, how often, between which, and why (timeline.h). */
#ifndef TAP_ANALYSIS_MIGRATIONS_H
#define TAP_ANALYSIS_MIGRATIONS_H

#include "base/map.h"
#include "timeline/timeline.h"

struct tap_migrations_task {
	const struct tap_task *task; /* borrowed; NULL: never moved */
	uint64_t total, by[TAP_NR_MIGRATE];
};

struct tap_migrations_pair {
	int from, to;
	uint64_t total, by[TAP_NR_MIGRATE];
};

/* {0} is empty. */
struct tap_migrations {
	uint64_t total, by[TAP_NR_MIGRATE];
	/* owned; by tap_task.index, with gaps; after the end: without, those moved most first */
	struct tap_migrations_task *tasks;
	struct tap_migrations_pair *pairs; /* owned; after the end: the most frequent first */
	unsigned int nr_tasks, nr_pairs, cap_pairs;
	struct tap_map by_pair; /* index + 1 into pairs */
};

void tap_migrations_release(struct tap_migrations *m);
/* ctx: struct tap_migrations. */
extern const struct tap_watcher_ops tap_migrations_ops;
/* Sorts: nothing may be added any more. */
void tap_migrations_end(struct tap_migrations *m);

const char *tap_migration_why_name(enum tap_migration_why why); /* "wakeup", "balance", "other" */

#endif
