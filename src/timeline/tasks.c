// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "timeline/tasks.h"

#include <stdlib.h>

#include "base/array.h"

#define BLOCK_TASKS 64u /* allocated at once, so that addresses are stable */

/* Allocate a task with its .pub.index. Return: NULL: out of memory. */
static struct task *next_task(struct tap_tasks *tasks)
{
	unsigned int i = tasks->nr % BLOCK_TASKS;
	struct task *task = tasks->free;

	if (task) {
		tasks->free = task->next_free;
		return task;
	}
	if (tap_array_grow(&tasks->all, tasks->nr, &tasks->cap, sizeof(struct tap_task *)))
		return NULL;
	if (!i)
		tasks->block = calloc(BLOCK_TASKS, sizeof(*tasks->block));
	if (!tasks->block)
		return NULL;
	task = &tasks->block[i];
	task->pub.index = tasks->nr;
	tasks->all[tasks->nr++] = &task->pub;
	return task;
}

struct task *tap_tasks_add(struct tap_tasks *tasks, int tid, uint64_t born_ns)
{
	struct task ***page = &tasks->dir[(unsigned int)tid / TAP_TASKS_PAGE], *task;

	if (!*page)
		*page = calloc(TAP_TASKS_PAGE, sizeof(**page));
	task = *page ? next_task(tasks) : NULL;
	if (!task)
		return NULL;
	*task = (struct task){ .pub = {
				       .tid = tid,
				       .index = task->pub.index,
				       .cpu = -1,
				       .run_cpu = -1,
				       .prio = TAP_PRIO_UNKNOWN,
				       .from_cpu = -1,
				       .queued_ns = -1,
				       .waker_tid = -1,
				       .waker_cpu = -1,
				       .since_ns = born_ns,
				       .born_ns = born_ns,
				       .died_ns = UINT64_MAX,
			       } };
	(*page)[(unsigned int)tid % TAP_TASKS_PAGE] = task;
	return task;
}

/*
 * Free a page of the directory once no task is in it. The kernel allocates tids cyclically, so old
 * pages become empty.
 */
static void free_page_if_empty(struct task ***page)
{
	for (unsigned int i = 0; i < TAP_TASKS_PAGE; i++)
		if ((*page)[i])
			return;
	free(*page);
	*page = NULL;
}

void tap_tasks_forget(struct tap_tasks *tasks, struct task *task)
{
	unsigned int tid = (unsigned int)task->pub.tid;
	struct task ***page = &tasks->dir[tid / TAP_TASKS_PAGE];

	task->forgotten = true;
	task->next_free = tasks->free;
	tasks->free = task;
	if (!*page || (*page)[tid % TAP_TASKS_PAGE] != task) /* a newer task has the tid */
		return;
	(*page)[tid % TAP_TASKS_PAGE] = NULL;
	free_page_if_empty(page);
}

void tap_tasks_release(struct tap_tasks *tasks)
{
	for (unsigned int i = 0; i < tasks->nr; i += BLOCK_TASKS)
		free(tasks->all[i]);
	for (unsigned int i = 0; i < TAP_MAX_TIDS / TAP_TASKS_PAGE; i++)
		free(tasks->dir[i]);
	free(tasks->all);
}

void tap_task_set_comm(struct task *task, const struct tap_field *f, const struct tap_event *ev)
{
	const char *comm;
	uint32_t len;

	if (!f)
		return;
	if (tap_is_plain_comm(f)) {
		memcpy(task->pub.comm, tap_plain_comm(f, ev), TAP_TASK_COMM);
		return;
	}
	comm = tap_field_bytes(f, ev->data, ev->size, &len);
	tap_task_rename(tap_task_pub(task), comm, len);
}

void tap_task_set_exec_comm(struct task *task, const struct tap_field *f,
			    const struct tap_event *ev)
{
	uint32_t len = 0, from;
	const char *path = f ? tap_field_bytes(f, ev->data, ev->size, &len) : NULL;

	for (from = len; from && path[from - 1] != '/';)
		from--;
	len -= from;
	if (!len)
		return;
	tap_task_rename(tap_task_pub(task), path + from,
			len < TAP_TASK_COMM ? len : TAP_TASK_COMM - 1);
}

/*
 * Replace the cgroup and the name in @l, which has all that lists say of the task. If changes are
 * recorded, those of the first list count, as later lists have what they were changed to.
 */
static void prefer_first(const struct tap_lists *lists, int tid, unsigned int when,
			 struct tap_listed *l)
{
	struct tap_listed first;

	if (!lists || !(when & TAP_LISTED_BEGAN))
		return;
	tap_lists_find(lists, tid, TAP_LISTED_BEGAN, &first);
	if (lists->has_moves && first.cgroup)
		l->cgroup = first.cgroup;
	if (lists->has_renames && *first.comm)
		memcpy(l->comm, first.comm, sizeof(l->comm));
}

void tap_task_set_listed(struct task *task, const struct tap_lists *lists)
{
	bool is_over = task->pub.state == TAP_STATE_DEAD;
	unsigned int when = 0;
	struct tap_listed l;

	if (!task->reused)
		when |= TAP_LISTED_SOMETIME | (task->born ? 0u : TAP_LISTED_BEGAN);
	if (!is_over)
		when |= TAP_LISTED_ENDED;
	/* no row: keep what was set when the task was added */
	if (!tap_lists_find(lists, task->pub.tid, when, &l) && is_over)
		return;
	prefer_first(lists, task->pub.tid, when, &l);
	task->pub.cpus = l.cpus;
	if (!task->pub.tgid_told)
		task->pub.tgid = l.tgid;
	if (!task->pub.cgroup_told)
		task->pub.cgroup = l.cgroup;
	if (!*task->pub.comm)
		memcpy(task->pub.comm, l.comm, TAP_TASK_COMM);
}

void tap_task_rename(struct tap_task *task, const char *comm, size_t len)
{
	memset(task->comm, 0, TAP_TASK_COMM);
	memcpy(task->comm, comm, len < TAP_TASK_COMM ? len : TAP_TASK_COMM);
}

bool tap_comm_differs(const char *comm, const struct tap_field *f, const struct tap_event *ev)
{
	uint32_t len;
	const char *now = tap_field_bytes(f, ev->data, ev->size, &len);

	return len && strncmp(now, comm, len < TAP_TASK_COMM ? len : TAP_TASK_COMM);
}

/* ---- for watchers (schedtap/timeline.h) ---- */

int tap_task_tid(const struct tap_task *task)
{
	return task->tid;
}

unsigned int tap_task_index(const struct tap_task *task)
{
	return task->index;
}

int tap_task_tgid(const struct tap_task *task)
{
	int tgid = task->tgid;

	/* a recorded birth, by its parent, is more certain than lists */
	if (task->tgid_of && !task->tgid_told && task->tgid_of->tgid)
		tgid = task->tgid_of->tgid;
	return tgid ? tgid : -1;
}

const char *tap_task_comm(const struct tap_task *task, size_t *len)
{
	*len = strnlen(task->comm, TAP_TASK_COMM);
	return task->comm;
}

uint64_t tap_task_cgroup(const struct tap_task *task)
{
	return task->cgroup;
}

enum tap_state tap_task_state(const struct tap_task *task)
{
	return task->state;
}

int tap_task_cpu(const struct tap_task *task)
{
	return task->cpu;
}

int tap_task_prio(const struct tap_task *task)
{
	return task->prio;
}

int tap_task_waker_tid(const struct tap_task *task)
{
	return task->waker_tid;
}

uint64_t tap_task_total_ns(const struct tap_task *task, enum tap_state state)
{
	return (unsigned int)state < TAP_NR_STATES ? task->total_ns[state] : 0;
}
