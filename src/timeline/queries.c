// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Queries by watchers: a timeline's window, CPUs and tasks, and their affinity from task lists. */
#include <string.h>

#include "timeline/internal.h"

struct tap_window tap_timeline_window(const struct tap_timeline *t)
{
	return t->opts.window;
}

uint64_t tap_timeline_from_ns(const struct tap_timeline *t)
{
	return t->opts.window.from_ns;
}

uint64_t tap_timeline_to_ns(const struct tap_timeline *t)
{
	return t->opts.window.to_ns;
}

const struct tap_survey *tap_timeline_survey(const struct tap_timeline *t)
{
	return t->opts.survey;
}

bool tap_timeline_selects_cpu(const struct tap_timeline *t, int cpu)
{
	const struct tap_selected *selected = &t->opts.selected;

	return !selected->cpu || selected->cpu(selected->ctx, cpu);
}

bool tap_timeline_selects_tid(const struct tap_timeline *t, int tid)
{
	const struct tap_selected *selected = &t->opts.selected;
	const struct tap_task *task = tap_timeline_task(t, tid);
	struct tap_task unseen = { .tid = tid };
	struct tap_listed l = { 0 };

	if (task || !selected->task)
		return !task || task->selected;
	tap_lists_find(t->opts.lists, tid,
		       TAP_LISTED_BEGAN | TAP_LISTED_SOMETIME | TAP_LISTED_ENDED, &l);
	unseen.tgid = l.tgid;
	unseen.cgroup = l.cgroup;
	memcpy(unseen.comm, l.comm, sizeof(unseen.comm));
	return selected->task(selected->ctx, &unseen, t->now_ns);
}

const char *tap_timeline_cgroup_path(const struct tap_timeline *t, uint64_t id)
{
	const uint64_t *slot = t->opts.cgroup_paths ? tap_map_get(t->opts.cgroup_paths, id) : NULL;

	return slot ? (const char *)(uintptr_t)*slot : NULL;
}

const struct tap_cpu *tap_timeline_cpus(const struct tap_timeline *t, unsigned int *nr)
{
	*nr = t->nr_cpus;
	return t->cpus;
}

struct tap_task *const *tap_timeline_tasks(const struct tap_timeline *t, unsigned int *nr)
{
	*nr = t->tasks.nr;
	return t->tasks.all;
}

struct tap_task *tap_timeline_task(const struct tap_timeline *t, int tid)
{
	return tap_task_pub(tap_tasks_find(&t->tasks, tid));
}

const struct tap_cpus *tap_timeline_affinity(const struct tap_timeline *t,
					     const struct tap_task *task, bool *all)
{
	*all = task->cpus == TAP_CPUS_ALL;
	return task->cpus >= TAP_CPUS_SOME ? &t->opts.lists->sets[task->cpus - TAP_CPUS_SOME]
					   : NULL;
}

enum tap_may tap_timeline_may_use(const struct tap_timeline *t, const struct tap_task *task,
				  unsigned int cpu)
{
	bool all;
	const struct tap_cpus *cpus = tap_timeline_affinity(t, task, &all);

	if (!all && !cpus)
		return TAP_MAY_UNKNOWN;
	return all || tap_cpus_has(cpus, cpu) ? TAP_MAY : TAP_MAY_NOT;
}

bool tap_timeline_roams(const struct tap_timeline *t, const struct tap_task *task)
{
	bool all;
	const struct tap_cpus *cpus = t->lacks_cpus ? tap_timeline_affinity(t, task, &all) : NULL;

	return t->lacks_cpus && (!cpus || !tap_cpus_within(cpus, t->opts.promise->cpus));
}

uint64_t tap_task_life_ns(const struct tap_timeline *t, const struct tap_task *task)
{
	const struct tap_window *w = &t->opts.window;

	/* a task that died before the window has .born_ns at the window's start */
	return tap_window_clip(w, task->died_ns) - tap_window_clip(w, task->born_ns);
}
