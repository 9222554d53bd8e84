/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Who ran while others waited: all threads of a process together, or all tasks of one name. */
#ifndef TAP_EXPLAIN_DELAYERS_H
#define TAP_EXPLAIN_DELAYERS_H

#include "analysis/explain/explain.h"

struct tap_delayer {
	const struct tap_task *task; /* the first one of them that delayed a wait */
	char comm[TAP_TASK_COMM]; /* its name then */
	unsigned int nr_tasks;
	struct tap_explained_sum sum; /* each wait counts once */
};

struct tap_delayers {
	/* set by the caller, before the first wait: by name; else by process, where that is known
	 */
	bool by_comm;
	struct tap_delayer *v; /* owned; after the end the one that delayed most first */
	unsigned int nr, cap;

	/* inside */
	struct tap_map by_key; /* -> index in .v, plus 1 */
	unsigned int *of_task; /* owned; by the index of a task: the same, of its last component */
	unsigned int nr_of_task;
};

void tap_delayers_release(struct tap_delayers *d);
/* Return: 0 or -ENOMEM. */
int tap_delayers_wait(struct tap_delayers *d, const struct tap_wait_told *w);
void tap_delayers_end(struct tap_delayers *d);

#endif
