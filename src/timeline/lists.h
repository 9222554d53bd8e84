/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Who had a tid when somebody looked: the lists of tasks that a recording has beside its events. A
 * row is of one life of its tid, and of no other, so it counts by when it was read:
 *
 * - When the recording began: for the task that was there then, which is the first with that tid,
 * unless events tell that one's birth.
 * - When it ended: for the task that is there at the end. That is the newest, unless events tell
 * its death: until then any may be.
 * - Not known when (older recordings; what the file format saves of itself, as trace-cmd's names
 * and perf's COMM records): for the first task with that tid that events tell of.
 *
 * Of several rows that count the first tells the process; where a task was last, and its last name,
 * are told by the last one of that process.
 */
#ifndef TAP_TIMELINE_LISTS_H
#define TAP_TIMELINE_LISTS_H

#include "base/map.h"
#include "base/text.h"
#include "timeline/sched_fields.h"

/* When a row was read; as bits: at any of them. */
enum tap_listed_when { TAP_LISTED_BEGAN = 1, TAP_LISTED_SOMETIME = 2, TAP_LISTED_ENDED = 4 };

struct tap_listed {
	int tgid; /* 0: not known */
	uint64_t cgroup; /* kernfs id; 0: not known */
	char comm[TAP_TASK_COMM]; /* not NUL-terminated when full; empty: not known */
	/* that it may use: TAP_CPUS_NOT_KNOWN, TAP_CPUS_ALL, or from TAP_CPUS_SOME on one of .sets
	 */
	unsigned int cpus;
};

/* TAP_CPUS_DIFFER: rows do; likewise not known */
enum { TAP_CPUS_NOT_KNOWN, TAP_CPUS_DIFFER, TAP_CPUS_ALL, TAP_CPUS_SOME };

struct tap_lists { /* all zero: empty */
	struct tap_listed_row {
		int tid; /* it may have several rows */
		unsigned int when;
		unsigned int next; /* of the same tid: index plus one; 0: none */
		struct tap_listed listed;
	} * rows; /* owned */
	unsigned int nr_rows, cap_rows;
	struct tap_map by_tid; /* -> index of its first row, plus one */
	struct tap_cpus *sets; /* owned, both */
	unsigned int nr_sets, cap_sets, nr_set_words;
	struct tap_map by_bits; /* a key of a set -> its index plus TAP_CPUS_SOME */
	/* All moves between cgroups are recorded: a row's cgroup is that of the time when it was
	 * read, and no other. */
	bool has_moves;
	bool knows_hierarchy;
	/* the number of that whose cgroups the rows have; moves within others do not count */
	int hierarchy;
	/* What the file format saves, of a tid without rows; or NULL. */
	void (*saved)(const void *ctx, int tid, struct tap_listed *l);
	const void *ctx;
};

/* @when: bits, at least one. Return: 0 or -ENOMEM. */
int tap_lists_add(struct tap_lists *lists, int tid, unsigned int when, const struct tap_listed *l);
/* The number of the set that @text lists, in *@cpus: TAP_CPUS_NOT_KNOWN where it is no such text.
 * Return: 0 or -ENOMEM. */
int tap_lists_cpus(struct tap_lists *lists, const char *text, unsigned int *cpus);
void tap_lists_release(struct tap_lists *lists);

/* Its task is gone and forgotten: who has the tid next is another. */
void tap_lists_drop(struct tap_lists *lists, int tid);

/* What rows that were read at one of @when say, in *@l. @lists: NULL: nothing. Return: whether
 * there is a row. */
bool tap_lists_find(const struct tap_lists *lists, int tid, unsigned int when,
		    struct tap_listed *l);

#endif
