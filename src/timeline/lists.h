/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Task lists: which task had a tid at some time, from what a recording saves beside its events. A
 * tid may be reused, and a row describes only one task that had the tid. Which one depends on when
 * the row was read:
 *
 * - When the recording began: the task alive then, which is the first with that tid, unless an
 *   event shows that task's birth.
 * - When it ended: the task alive at the end. That is the newest with that tid, unless an event
 *   shows its death; while that task lives, the row may be used for it.
 * - At an unknown time (older recordings; data of the file format itself, such as trace-cmd's saved
 *   names and perf's COMM records): the first task with that tid in the events.
 *
 * If several rows apply, the first one sets the process. The last one of that process sets the
 * cgroup and the name.
 */
#ifndef TAP_TIMELINE_LISTS_H
#define TAP_TIMELINE_LISTS_H

#include "base/map.h"
#include "base/text.h"
#include "timeline/sched_fields.h"

/* When a row was read. Bits may be combined: at any of these times. */
enum tap_listed_when { TAP_LISTED_BEGAN = 1, TAP_LISTED_SOMETIME = 2, TAP_LISTED_ENDED = 4 };

struct tap_listed {
	int tgid; /* 0: not known */
	uint64_t cgroup; /* kernfs id; 0: not known */
	/* not NUL-terminated if TAP_TASK_COMM bytes long; empty: not known */
	char comm[TAP_TASK_COMM];
	/*
	 * CPU affinity: TAP_CPUS_NOT_KNOWN, TAP_CPUS_DIFFER, TAP_CPUS_ALL, or TAP_CPUS_SOME plus an
	 * index into .sets
	 */
	unsigned int cpus;
};

/* TAP_CPUS_DIFFER: rows of the task disagree, so the affinity is not known either */
enum { TAP_CPUS_NOT_KNOWN, TAP_CPUS_DIFFER, TAP_CPUS_ALL, TAP_CPUS_SOME };

/*
 * Return true if a task with this name is a CPU's stopper (migration/N). Events report a stopper
 * with a real-time priority, so only the name shows the stop class.
 */
static inline bool tap_comm_is_stopper(const char *comm)
{
	return !strncmp(comm, "migration/", strlen("migration/"));
}

struct tap_lists { /* all zero: empty lists */
	struct tap_listed_row {
		int tid; /* a tid may have several rows */
		unsigned int when;
		unsigned int next; /* index plus one of the tid's next row; 0: none */
		struct tap_listed listed;
	} * rows; /* owned */
	unsigned int nr_rows, cap_rows;
	struct tap_map by_tid; /* tid -> index plus one of its newest row */
	struct tap_cpus *sets; /* owned, also the memory of each set */
	unsigned int nr_sets, cap_sets, nr_set_words;
	struct tap_map by_bits; /* hash of a set -> its index plus TAP_CPUS_SOME */
	/*
	 * All moves between cgroups are recorded, so a row's cgroup is valid only at the time when
	 * the row was read.
	 */
	bool has_moves;
	bool has_renames; /* likewise for names */
	/* sched_switch's prev_state may be the state's index instead of its bit (Linux 4.14) */
	bool indexed_states;
	bool knows_hierarchy;
	/*
	 * number of the cgroup hierarchy that the rows' cgroups belong to; moves in other
	 * hierarchies are ignored
	 */
	int hierarchy;
	/* Returns what the file format itself saves of a tid that has no rows. May be NULL. */
	void (*saved)(const void *ctx, int tid, struct tap_listed *l);
	const void *ctx;
};

/* Add a row. @when: enum tap_listed_when bits, at least one. Return: 0 or -ENOMEM. */
int tap_lists_add(struct tap_lists *lists, int tid, unsigned int when, const struct tap_listed *l);
/*
 * Store the set of CPUs that @text lists, such as "0-3,8", and set *@cpus to its number. *@cpus is
 * TAP_CPUS_NOT_KNOWN if @text is not a valid list. Return: 0 or -ENOMEM.
 */
int tap_lists_cpus(struct tap_lists *lists, const char *text, unsigned int *cpus);
void tap_lists_release(struct tap_lists *lists);

/* Drop the rows of a tid whose task is gone: its next task is another one. */
void tap_lists_drop(struct tap_lists *lists, int tid);

/*
 * Set *@l to what the rows of @tid say that were read at one of the times @when. @lists may be
 * NULL: no rows. Return true if the tid has rows.
 */
bool tap_lists_find(const struct tap_lists *lists, int tid, unsigned int when,
		    struct tap_listed *l);

#endif
