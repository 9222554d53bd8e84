// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Filters by CPU, name and cgroup: constants of bpf/scope.h. tasks.c has pids and tids. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "event/select/mount.h"
#include "record/bpf/load.h"
#include "record/machine.h"
#include "record/object/object.h"
#include "scope_bits.h"

#define MAX_CGROUPS 16 /* TAP_SCOPE_MAX_CGROUPS of bpf/scope.h */
#define CPU_WORDS 128u

static int set_comms(struct bpf_object *obj, const struct tap_select *select, struct tap_err *err)
{
	if (!select->nr_comm_globs) /* all patterns are longer than any task name */
		return 0;
	if (select->nr_comm_globs > 1)
		return tap_err_set(err, -EINVAL,
				   "-c: the patterns are longer than %d characters in total",
				   TAP_GLOB_STATES - (int)select->comms.nr);
	return tap_bpf_set(obj, "tap_comms", select->comm_globs, sizeof(*select->comm_globs));
}

struct cgroup_level {
	uint64_t id;
	uint32_t level;
};

static uint32_t level_of(const char *path)
{
	uint32_t level = 0;

	for (const char *p = path; *p; p++)
		level += *p == '/' && p[1];
	return level;
}

/* Return: whether the cgroup is selected, and none of its ancestors is. */
static bool is_topmost(const struct tap_select *select, const char *path)
{
	struct tap_select_task task = { .cgroup = path };
	char above[PATH_MAX];
	int len = (int)(strrchr(path, '/') - path);

	if (!tap_select_task_by(select, TAP_SELECT_CGROUPS, &task))
		return false;
	if (!path[1])
		return true;
	snprintf(above, sizeof(above), "%.*s", len ? len : 1, path);
	task.cgroup = above;
	return !tap_select_task_by(select, TAP_SELECT_CGROUPS, &task);
}

/* Report a -g that matches no cgroup, with a similar name. */
static int refuse_cgroup(const char *word, const struct tap_map *cgroups, const char *mount,
			 struct tap_err *err)
{
	const char **paths = calloc(cgroups->nr + 1, sizeof(*paths)), *near;
	unsigned int nr = 0;
	int ret;

	if (paths)
		tap_map_for_each(cgroups, s)
			paths[nr++] = (const char *)(uintptr_t)s->value;
	near = paths ? tap_nearest(word, paths, nr) : NULL;
	ret = near ? tap_err_set(err, -ENOENT,
				 "-g: there is no cgroup '%.300s': did you mean '%.300s'?", word,
				 near)
		   : tap_err_set(err, -ENOENT,
				 "-g: there is no cgroup '%.300s' below '%.300s', where the "
				 "scheduler's cgroup hierarchy is mounted",
				 word, mount);
	free(paths);
	return ret;
}

static int check_words(const struct tap_select *select, const struct tap_map *cgroups,
		       const char *mount, struct tap_err *err)
{
	for (unsigned int i = 0; i < select->cgroups.nr; i++) {
		bool found = false;

		tap_map_for_each(cgroups, s)
			found |= tap_select_cgroup_fits(select, i,
							(const char *)(uintptr_t)s->value);
		if (!found)
			return refuse_cgroup(select->cgroups.v[i], cgroups, mount, err);
	}
	return 0;
}

/* Return: the number of topmost selected cgroups; @levels: the first MAX_CGROUPS of them. */
static uint32_t find_levels(const struct tap_select *select, const struct tap_map *cgroups,
			    struct cgroup_level *levels)
{
	uint32_t nr = 0;

	tap_map_for_each(cgroups, s) {
		const char *path = (const char *)(uintptr_t)s->value;

		if (!is_topmost(select, path))
			continue;
		if (nr < MAX_CGROUPS)
			levels[nr] = (struct cgroup_level){ s->key, level_of(path) };
		nr++;
	}
	return nr;
}

static int set_cgroups(struct bpf_object *obj, const struct tap_select *select, struct tap_err *err)
{
	struct cgroup_level levels[MAX_CGROUPS] = { 0 };
	struct tap_map cgroups = { 0 };
	char mount[PATH_MAX] = "/sys/fs/cgroup";
	const char *tasks = tap_cgroup_mount(mount, sizeof(mount));
	bool v1 = tasks && !strcmp(tasks, "tasks");
	uint32_t nr = 0;
	int ret = tap_machine_cgroups(&cgroups, NULL, NULL);

	if (ret)
		tap_err_set(err, ret, "out of memory");
	ret = ret ?: check_words(select, &cgroups, mount, err);
	if (!ret)
		nr = find_levels(select, &cgroups, levels);
	tap_machine_release_texts(&cgroups);
	if (nr > MAX_CGROUPS)
		ret = tap_err_set(err, -EINVAL,
				  "-g: the patterns match %u cgroups, but the limit is %d", nr,
				  MAX_CGROUPS);
	ret = ret ?: tap_bpf_set(obj, "tap_cgroup_scope", levels, sizeof(levels));
	ret = ret ?: tap_bpf_set(obj, "tap_nr_cgroups", &nr, sizeof(nr));
	return ret ?: tap_bpf_set(obj, "tap_by_cpu_controller", &v1, sizeof(v1));
}

int tap_bpf_scope_constants(struct bpf_object *obj, const struct tap_plan *plan,
			    struct tap_err *err)
{
	const struct tap_select *select = plan->select;
	unsigned int words = select->cpus.nr_words < CPU_WORDS ? select->cpus.nr_words : CPU_WORDS;
	uint32_t by = (select->by & TAP_SELECT_CPUS ? TAP_BY_CPU : 0) |
		      (select->by & TAP_SELECT_TGIDS ? TAP_BY_TGID : 0) |
		      (select->by & TAP_SELECT_TIDS ? TAP_BY_TID : 0) |
		      (select->by & TAP_SELECT_COMMS ? TAP_BY_COMM : 0) |
		      (select->by & TAP_SELECT_CGROUPS ? TAP_BY_CGROUP : 0);
	int ret = tap_bpf_set(obj, "tap_scope", &by, sizeof(by));

	ret = ret ?: tap_bpf_set(obj, "tap_follow", &plan->follow, sizeof(plan->follow));
	if (!ret && words)
		ret = tap_bpf_set(obj, "tap_cpu_bits", select->cpus.bits, words * sizeof(uint64_t));
	if (!ret && (by & TAP_BY_COMM))
		ret = set_comms(obj, select, err);
	if (!ret && (by & TAP_BY_CGROUP))
		ret = set_cgroups(obj, select, err);
	return ret == -ENOENT && !(by & TAP_BY_CGROUP)
		       ? tap_err_set(
				 err, ret,
				 "the embedded BPF object does not match this build of schedtap")
		       : ret;
}
