/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tasks that ran while others waited, summed up by process or by task name. */
#ifndef TAP_EXPLAIN_DELAYERS_H
#define TAP_EXPLAIN_DELAYERS_H

#include "analysis/explain/explain.h"

struct tap_delayer {
	const struct tap_task *task; /* the first task of the group that delayed a wait */
	char comm[TAP_TASK_COMM]; /* the name of .task at that time */
	unsigned int nr_tasks;
	struct tap_explained_sum sum; /* a wait counts once */
};

struct tap_delayers {
	/*
	 * set by the caller before the first wait: sum up by task name; false: by process, and by
	 * task if the process is unknown
	 */
	bool by_comm;
	/* owned; after tap_delayers_end() sorted by .sum.ns, greatest first */
	struct tap_delayer *v;
	unsigned int nr, cap;

	/* private */
	struct tap_map by_key; /* -> index in .v, plus 1 */
	/* owned; by the task's .index: index in .v, plus 1, of its last entry */
	unsigned int *of_task;
	unsigned int nr_of_task;
};

void tap_delayers_release(struct tap_delayers *d);
/* Return: 0 or -ENOMEM. */
int tap_delayers_wait(struct tap_delayers *d, const struct tap_wait_told *w);
void tap_delayers_end(struct tap_delayers *d);

#endif
