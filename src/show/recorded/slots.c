// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "show/recorded/slots.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "tally_maps.h"

#define KTHREADD_TID 2

static int add_slot(struct tap_recorded_slots *s, const char *name)
{
	if (tap_array_grow(&s->names, s->nr, &s->cap, sizeof(*s->names)))
		return -ENOMEM;
	s->names[s->nr++] = name;
	return 0;
}

int tap_recorded_slots_init(struct tap_recorded_slots *s)
{
	static const char *const names[TAP_TALLY_FIRST_FREE] = {
		[TAP_TALLY_IDLE] = "idle",
		[TAP_TALLY_KERNEL] = "kernel threads",
		[TAP_TALLY_ROOT] = "/",
	};
	int ret = 0;

	*s = (struct tap_recorded_slots){ 0 };
	for (unsigned int i = 0; !ret && i < TAP_TALLY_FIRST_FREE; i++)
		ret = add_slot(s, names[i]);
	return ret;
}

void tap_recorded_slots_release(struct tap_recorded_slots *s)
{
	tap_map_release(&s->by_tid);
	tap_map_release(&s->by_cgroup);
	free(s->tasks);
	free(s->names);
	free(s->last);
	*s = (struct tap_recorded_slots){ 0 };
}

/* ---- a task's slot ---- */

static bool has_kernel_name(const char *comm)
{
	static const char *const prefixes[] = { "rcu_", "kswapd", "kcompactd", "scsi_eh_" };
	static const char *const names[] = {
		"kthreadd",   "khugepaged", "ksmd",	  "kauditd",
		"oom_reaper", "writeback",  "khungtaskd", "kdevtmpfs"
	};

	if (memchr(comm, '/', strnlen(comm, TAP_TASK_COMM)))
		return true;
	for (size_t i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++)
		if (!strncmp(comm, prefixes[i], strlen(prefixes[i])))
			return true;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strncmp(comm, names[i], TAP_TASK_COMM))
			return true;
	return false;
}

static bool is_kernel_thread(const struct tap_recorded_task *r, int tid, const char *path)
{
	return tid == KTHREADD_TID || ((!path || !strcmp(path, "/")) &&
				       (r->tgid < 0 || r->tgid == tid) && has_kernel_name(r->comm));
}

static int slot_of_cgroup(struct tap_recorded_slots *s, uint64_t cgroup, const char *path,
			  uint32_t *slot)
{
	uint64_t *known;

	*slot = TAP_TALLY_ROOT;
	if (!path || !strcmp(path, "/"))
		return 0;
	known = tap_map_put(&s->by_cgroup, cgroup);
	if (!known)
		return -ENOMEM;
	if (!*known) {
		if (add_slot(s, path))
			return -ENOMEM;
		*known = s->nr - 1;
	}
	*slot = (uint32_t)*known;
	return 0;
}

/* ---- noting ---- */

static int set_slot(struct tap_recorded_slots *s, const struct tap_timeline *t, int tid,
		    struct tap_recorded_task *r)
{
	const char *path = tap_timeline_cgroup_path(t, r->cgroup);

	r->slot = TAP_TALLY_KERNEL;
	return is_kernel_thread(r, tid, path) ? 0 : slot_of_cgroup(s, r->cgroup, path, &r->slot);
}

/* Append to the list of the tid. Return: index plus one; 0 when out of memory. */
static unsigned int append(struct tap_recorded_slots *s, int tid, const struct tap_recorded_task *r)
{
	uint64_t *list = tap_map_put(&s->by_tid, (uint64_t)tid);

	if (!list || tap_array_grow(&s->tasks, s->nr_tasks, &s->cap_tasks, sizeof(*s->tasks)))
		return 0;
	s->tasks[s->nr_tasks++] = *r;
	if (*list) {
		s->tasks[(*list >> 32) - 1].next = s->nr_tasks;
		*list = (uint32_t)*list | (uint64_t)s->nr_tasks << 32;
	} else {
		s->tasks[s->nr_tasks - 1].from_ns = 0;
		*list = s->nr_tasks | (uint64_t)s->nr_tasks << 32;
	}
	return s->nr_tasks;
}

static int add_task(struct tap_recorded_slots *s, const struct tap_timeline *t,
		    const struct tap_task *task, uint64_t ns, unsigned int *last)
{
	const bool is_first = !*last;
	struct tap_recorded_task r = {
		.from_ns = is_first && task->born_ns < ns ? task->born_ns : ns,
		.start_ns = task->born_ns > tap_timeline_from_ns(t) ? task->born_ns : 0,
		.tgid = tap_task_tgid(task),
		.cgroup = task->cgroup,
	};

	memcpy(r.comm, task->comm, sizeof(r.comm));
	if (set_slot(s, t, task->tid, &r))
		return -ENOMEM;
	*last = append(s, task->tid, &r);
	return *last ? 0 : -ENOMEM;
}

int tap_recorded_slots_note(struct tap_recorded_slots *s, const struct tap_timeline *t,
			    const struct tap_task *task, uint64_t ns)
{
	unsigned int *last = tap_array_at(&s->last, &s->nr_last, task->index, sizeof(*last), NULL);
	const struct tap_recorded_task *r;

	if (!last)
		return -ENOMEM;
	r = *last ? &s->tasks[*last - 1] : NULL;
	if (r && r->cgroup == task->cgroup && !strncmp(r->comm, task->comm, sizeof(r->comm)) &&
	    r->tgid == tap_task_tgid(task))
		return 0;
	return add_task(s, t, task, ns, last);
}

const struct tap_recorded_task *tap_recorded_slots_find(const struct tap_recorded_slots *s, int tid,
							uint64_t ns,
							const struct tap_recorded_task *near,
							uint64_t *until_ns)
{
	const uint64_t *list = tap_map_get(&s->by_tid, (uint64_t)tid);
	const struct tap_recorded_task *r = near;

	*until_ns = UINT64_MAX;
	if (!r || r->from_ns > ns)
		r = list ? &s->tasks[(uint32_t)*list - 1] : NULL;
	for (; r && r->next; r = &s->tasks[r->next - 1]) {
		*until_ns = s->tasks[r->next - 1].from_ns;
		if (*until_ns > ns)
			return r;
	}
	*until_ns = UINT64_MAX;
	return r;
}
