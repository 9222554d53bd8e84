/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Migrations by task and by pair of CPUs, with their reasons (timeline.h). */
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
	/*
	 * owned; indexed by tap_task.index; after the end: only moved tasks, most migrations first
	 */
	struct tap_migrations_task *tasks;
	struct tap_migrations_pair *pairs; /* owned; after the end: most frequent first */
	unsigned int nr_tasks, nr_pairs, cap_pairs;
	struct tap_map by_pair; /* pair of CPUs -> index into .pairs, plus one */
};

void tap_migrations_release(struct tap_migrations *m);
/*
 * ctx: struct tap_migrations. The second also counts moves that only switches show, in a recording
 * without sched_migrate_task.
 */
extern const struct tap_watcher_ops tap_migrations_ops, tap_moves_ops;
/* Sort. Nothing may be added after that. */
void tap_migrations_end(struct tap_migrations *m);

const char *tap_migration_why_name(enum tap_migration_why why); /* "wakeup", "balance", "other" */

#endif
