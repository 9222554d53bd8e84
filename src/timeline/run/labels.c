// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "timeline/run/labels.h"

#include <stdlib.h>

#include "base/array.h"

/* A task's cached label, and what it was made from. */
struct tap_task_name {
	char comm[TAP_TASK_COMM]; /* .label is for this comm, cgroup and tgid */
	uint64_t cgroup;
	int tgid;
	char *label; /* owned; NULL: not made yet */
	uint32_t label_len;
	bool throttling; /* .label ends with "~" */
};

/*
 * Get the task's cache entry. Its label is dropped if the task's name, process or cgroup has
 * changed. Return: NULL when out of memory.
 */
static struct tap_task_name *get_name(struct tap_run *run, const struct tap_task *task)
{
	struct tap_task_name *n =
		tap_array_at(&run->names, &run->nr_names, task->index, sizeof(*n), NULL);
	int tgid = tap_task_tgid(task);

	if (!n)
		return NULL;
	if (n->cgroup != task->cgroup || n->tgid != tgid ||
	    memcmp(n->comm, task->comm, TAP_TASK_COMM)) {
		memcpy(n->comm, task->comm, TAP_TASK_COMM);
		n->cgroup = task->cgroup;
		n->tgid = tgid;
		free(n->label);
		n->label = NULL;
	}
	return n;
}

void tap_task_names_release(struct tap_run *run)
{
	for (unsigned int i = 0; i < run->nr_names; i++)
		free(run->names[i].label);
	free(run->names);
}

int tap_run_throttles(const struct tap_run *run, const struct tap_task *task)
{
	if (run->nr_throttling == TAP_NR_THROTTLING)
		return 0;
	return tap_cgroups_throttles(&run->rec.ids.cgroups, task->cgroup);
}

void tap_run_make_label(const struct tap_run *run, struct tap_buf *b, const struct tap_task *task)
{
	tap_task_add_label(b, task);
	if (task->tid && tap_identity_is_own(&run->rec.ids, task->tid))
		tap_buf_char(b, '*');
}

const char *tap_run_label(struct tap_run *run, const struct tap_task *task, uint32_t *len)
{
	struct tap_task_name *n = get_name(run, task);

	*len = 0;
	if (!n)
		return "";
	if (!n->label) {
		tap_buf_clear(&run->scratch);
		tap_run_make_label(run, &run->scratch, task);
		n->throttling = run->mark_throttling && tap_run_throttles(run, task) > 0;
		if (n->throttling)
			tap_buf_char(&run->scratch, '~');
		n->label_len = (uint32_t)run->scratch.len;
		n->label = strndup(tap_buf_str(&run->scratch), run->scratch.len);
	}
	if (!n->label)
		return "";
	run->any_throttling |= n->throttling;
	*len = n->label_len;
	return n->label;
}
