/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Run times, waits and switches of each task since the last reading, from its files in /proc. */
#ifndef TAP_RECORD_ACCOUNTS_TASKS_H
#define TAP_RECORD_ACCOUNTS_TASKS_H

#include "base/map.h"
#include "record/accounts/view.h"

/* A task's numbers since it was created. */
struct tap_task_reading {
	struct tap_accounts_task task;
	uint64_t start_ticks; /* since boot */
};

struct tap_tasks_reading {
	struct tap_task_reading *v; /* owned */
	unsigned int nr, cap;
	struct tap_map by_tid; /* index */
	uint64_t begin_ticks; /* when it began, since boot */
};

struct tap_task_accounts { /* zeroed: nothing read yet */
	struct tap_tasks_reading before, now;
	struct tap_accounts_task *v; /* owned; tasks that ran or waited since the last reading */
	unsigned int nr, cap;
	int err; /* why no task could be read */
};

/* Read all tasks, and compare them with the last reading. Return: 0; -ENOMEM. */
int tap_task_accounts_read(struct tap_task_accounts *t, const char *proc);
/* Set the view's tasks. */
void tap_task_accounts_view(const struct tap_task_accounts *t, struct tap_accounts_view *view);
void tap_task_accounts_release(struct tap_task_accounts *t);

#endif
