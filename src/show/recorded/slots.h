/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A recording's tasks and their slots of the tally. Names, processes and cgroups of tasks change
 * during a recording, and events from before a reading's part may say what they are. So they are
 * noted once, while the whole recording is read, and looked up later by time.
 *
 * Recordings do not say which tasks are kernel threads. A task counts as one if it is kthreadd, or
 * the only thread of its process, in the root cgroup or none that is known, with a name that the
 * kernel gives to its threads ("kworker/0:1", "rcu_preempt").
 */
#ifndef TAP_SHOW_RECORDED_SLOTS_H
#define TAP_SHOW_RECORDED_SLOTS_H

#include "base/map.h"
#include "timeline/timeline.h"

/* What is known of a task from a time on, until the next one with its tid. */
struct tap_recorded_task {
	uint64_t from_ns;
	uint64_t start_ns; /* its birth; 0: before the recording */
	unsigned int next; /* index plus one of the tid's next element; 0: none */
	int tgid; /* -1: not known */
	uint64_t cgroup; /* 0: not known */
	uint32_t slot;
	char comm[TAP_TASK_COMM]; /* NUL-terminated unless TAP_TASK_COMM bytes long */
};

struct tap_recorded_slots { /* zeroed: empty */
	struct tap_recorded_task *tasks; /* owned */
	unsigned int nr_tasks, cap_tasks;
	/* by slot; owned, but the names are borrowed from the recording */
	const char **names;
	unsigned int nr, cap;
	/* private */
	/* tid -> index plus one of its first element, and of its last one in the upper half */
	struct tap_map by_tid;
	struct tap_map by_cgroup; /* id -> slot */
	unsigned int *last; /* owned; by .index of the timeline: index plus one of its last one */
	unsigned int nr_last;
};

/* Add the slots that have no cgroup of their own. Return: 0 or -ENOMEM. */
int tap_recorded_slots_init(struct tap_recorded_slots *s);
void tap_recorded_slots_release(struct tap_recorded_slots *s);
/* Note what a task is from @ns on. Calls in time order. Return: 0 or -ENOMEM. */
int tap_recorded_slots_note(struct tap_recorded_slots *s, const struct tap_timeline *t,
			    const struct tap_task *task, uint64_t ns);
/*
 * Find what was noted of a tid's task at @ns. @near: an earlier result for the tid, from which the
 * search goes on; NULL: none. *@until_ns is set to the time when the result changes; UINT64_MAX:
 * never. Return: NULL: nothing was noted.
 */
const struct tap_recorded_task *tap_recorded_slots_find(const struct tap_recorded_slots *s, int tid,
							uint64_t ns,
							const struct tap_recorded_task *near,
							uint64_t *until_ns);

#endif
