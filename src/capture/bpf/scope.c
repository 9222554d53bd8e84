// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The plan's scope as constants of bpf/scope.h; tasks.c has its processes and threads. */
#include <bpf/bpf.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "base/glob.h"
#include "base/text.h"
#include "capture/bpf/load.h"
#include "capture/machine.h"
#include "scope_bits.h"

#define MAX_CGROUPS 16	 /* TAP_SCOPE_MAX_CGROUPS of bpf/scope.h */
#define CPU_WORDS 128u
#define CGROUP1_MAGIC 0x27e0eb
#define CGROUP2_MAGIC 0x63677270
#define CGROUP_ROOT "/sys/fs/cgroup"

static int set_comms(struct bpf_object *obj, const struct tap_strings *globs, struct tap_err *err)
{
	struct tap_glob g = { 0 };
	int ret = 0;

	for (unsigned int i = 0; i < globs->nr && !ret; i++)
		ret = tap_glob_add(&g, globs->v[i]);
	if (ret == -E2BIG)
		return tap_err_set(err, -EINVAL, "the -c patterns are longer than %d characters in all",
				   TAP_GLOB_STATES - (int)globs->nr);
	if (ret)
		return tap_err_set(err, ret, "out of memory");
	return tap_bpf_set(obj, "tap_comms", &g, sizeof(g));
}

struct cgroup_level {
	uint64_t id;
	uint32_t level;
};

/*
 * As it is, as reports print it, or below the place where cgroups are mounted. @v1: whether it is of version
 * 1. Return: 0 or -errno.
 */
static int find_folder(const char *name, const char *mount, char *path, bool *v1)
{
	const char *const below[] = { "", mount, CGROUP_ROOT };
	char place[PATH_MAX];
	struct statfs fs;

	for (size_t i = 0; i < sizeof(below) / sizeof(*below); i++) {
		if (snprintf(place, sizeof(place), "%s%s%s", below[i], i ? "/" : "", name) >= (int)sizeof(place))
			return -ENAMETOOLONG;
		if (!realpath(place, path) || statfs(path, &fs))
			continue;
		*v1 = (unsigned long)fs.f_type == CGROUP1_MAGIC;
		if (*v1 || (unsigned long)fs.f_type == CGROUP2_MAGIC)
			return 0;
	}
	return -ENOENT;
}

/*
 * A cgroup's id is its folder's inode number, its level the folders between it and the mount. Of version 1
 * only the CPU controller's are a task's task_group.
 */
static int find_cgroup(const char *name, struct cgroup_level *cg, bool *v1, struct tap_err *err)
{
	char path[PATH_MAX], mount[PATH_MAX] = CGROUP_ROOT;
	const char *tasks = tap_machine_cgroup_mount(mount, sizeof(mount));
	struct stat st, up;

	if (find_folder(name, mount, path, v1))
		return tap_err_set(err, -ENOENT, "there is no cgroup '%s', neither as a path nor below '%s' "
				   "or %s", name, mount, CGROUP_ROOT);
	if (stat(path, &st))
		return tap_err_set(err, -errno, "cannot look at cgroup '%s': %m", path);
	if (*v1 && !(tasks && !stat(mount, &up) && up.st_dev == st.st_dev))
		return tap_err_set(err, -EINVAL, "'%s' is a cgroup of another controller: tasks are "
				   "scheduled by those below '%s'", path, mount);
	*cg = (struct cgroup_level){ .id = st.st_ino };
	for (;;) {
		char *slash = strrchr(path, '/');

		if (!slash || slash == path)
			break;
		*slash = '\0';
		if (stat(path, &up) || up.st_dev != st.st_dev)
			break;
		cg->level++;
	}
	return 0;
}

static int set_cgroups(struct bpf_object *obj, const struct tap_strings *names, struct tap_err *err)
{
	struct cgroup_level levels[MAX_CGROUPS] = { 0 };
	bool v1 = false, first_v1 = false;
	uint32_t nr = names->nr;
	int ret = 0;

	if (nr > MAX_CGROUPS)
		return tap_err_set(err, -EINVAL, "more than %d cgroups", MAX_CGROUPS);
	for (uint32_t i = 0; i < nr && !ret; i++) {
		ret = find_cgroup(names->v[i], &levels[i], &v1, err);
		if (!ret && i && v1 != first_v1)
			ret = tap_err_set(err, -EINVAL, "cgroups of version 1 and 2 cannot be mixed");
		first_v1 = v1;
	}
	ret = ret ?: tap_bpf_set(obj, "tap_cgroup_scope", levels, sizeof(levels));
	ret = ret ?: tap_bpf_set(obj, "tap_nr_cgroups", &nr, sizeof(nr));
	return ret ?: tap_bpf_set(obj, "tap_by_cpu_controller", &v1, sizeof(v1));
}

int tap_bpf_scope_constants(struct bpf_object *obj, const struct tap_plan_scope *scope,
			    struct tap_err *err)
{
	unsigned int words = scope->cpus.nr_words < CPU_WORDS ? scope->cpus.nr_words : CPU_WORDS;
	uint32_t by = (words ? TAP_BY_CPU : 0) | (scope->tgids.nr ? TAP_BY_TGID : 0) |
		      (scope->tids.nr ? TAP_BY_TID : 0) | (scope->comms.nr ? TAP_BY_COMM : 0) |
		      (scope->cgroups.nr ? TAP_BY_CGROUP : 0);
	int ret = tap_bpf_set(obj, "tap_scope", &by, sizeof(by));

	ret = ret ?: tap_bpf_set(obj, "tap_follow", &scope->follow, sizeof(scope->follow));
	if (!ret && words)
		ret = tap_bpf_set(obj, "tap_cpu_bits", scope->cpus.bits, words * sizeof(uint64_t));
	if (!ret && scope->comms.nr)
		ret = set_comms(obj, &scope->comms, err);
	if (!ret && scope->cgroups.nr)
		ret = set_cgroups(obj, &scope->cgroups, err);
	return ret == -ENOENT && !scope->cgroups.nr ?
		       tap_err_set(err, ret, "the BPF object does not fit the program") : ret;
}
