/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Counts a part of a recording as the tally counts (bpf/tally_maps.h). An event at the part's first
 * instant does not belong to it, unless the recording begins there; one at its last instant does.
 * So parts that follow each other add up.
 */
#ifndef TAP_SHOW_RECORDED_COUNTS_H
#define TAP_SHOW_RECORDED_COUNTS_H

#include "record/tally/tally.h"
#include "show/recorded/cpu_past.h"
#include "show/recorded/slots.h"
#include "show/recorded/starts.h"

struct tap_counted_task {
	const struct tap_recorded_task *what; /* what it was when last looked up; NULL: not yet */
	uint64_t until_ns; /* when .what changes */
	uint64_t moved_ns; /* when it was last moved to another queue while it waited; 0: never */
	struct tap_tally_task sums; /* without what is in .what */
	struct tap_tally_task_waits waits;
};

struct tap_counts { /* set the first members, the others zero */
	const struct tap_recorded_slots *slots;
	const struct tap_starts *starts;
	const unsigned int *llcs; /* by CPU */
	unsigned int nr_llcs; /* length of .llcs: higher CPUs are not counted */
	bool has_migrations; /* sched_migrate_task was recorded */
	/* neither wakeups nor queueings were recorded: a task may run without a wait before */
	bool has_no_wakeups;
	uint64_t from_ns, to_ns;
	uint64_t first_ns; /* the first instant that belongs to the part: the timeline's window */

	struct tap_tally_row *rows; /* owned; by slot, as the following two */
	uint64_t *run_ns;
	struct tap_counted_task *tasks; /* owned; by .index of the timeline */
	unsigned int nr_tasks;
	struct tap_counted_cpu {
		struct tap_tally_cpu_view sums;
		uint64_t idle_while_waiting_ns; /* of waits for this CPU */
		struct tap_cpu_past past;
	} * cpus; /* owned; .nr_llcs of them */
	uint64_t migrations[TAP_TALLY_SCOPES];
	/* private */
	struct tap_map culprits; /* waiting slot << 32 | slot that ran -> ns */
};

/* Return: 0 or -ENOMEM. The caller releases @c in either case. */
int tap_counts_init(struct tap_counts *c);
void tap_counts_release(struct tap_counts *c);

/* ctx: struct tap_counts. */
extern const struct tap_watcher_ops tap_counts_ops;

#endif
