// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The plan's scope, as bpf/scope.h wants it: constants before loading, sets of ids after. */
#include <bpf/bpf.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "base/text.h"
#include "capture/bpf/load.h"
#include "scope_bits.h"

#define MAX_CGROUPS 16	 /* TAP_SCOPE_MAX_CGROUPS of bpf/scope.h */
#define COMM_STATES 64u	 /* TAP_COMM_STATES */
#define CPU_WORDS 128u
#define CGROUP2_MAGIC 0x63677270
#define CGROUP_ROOT "/sys/fs/cgroup"

struct automaton {
	uint64_t step[256], star, start, accept;
	unsigned int states;
};

/* One [set] of a glob; returns the character behind it. An unclosed one is a plain '['. */
static const char *add_set(struct automaton *a, const char *p, uint64_t state)
{
	const char *end = strchr(p[1] == '!' || p[1] == '^' ? p + 3 : p + 2, ']');
	bool negate = p[1] == '!' || p[1] == '^';

	if (!p[1] || !p[2] || !end) {
		a->step['['] |= state;
		return p + 1;
	}
	for (unsigned int c = 1; c < 256; c++) {
		bool in = false;

		for (const char *q = p + 1 + negate; q < end; q++) {
			if (q + 2 < end && q[1] == '-') {
				in |= c >= (unsigned char)q[0] && c <= (unsigned char)q[2];
				q += 2;
			} else {
				in |= c == (unsigned char)*q;
			}
		}
		if (in != negate)
			a->step[c] |= state;
	}
	return end + 1;
}

/* A glob's states follow each other; a star keeps the state in front of it alive. */
static int add_glob(struct automaton *a, const char *glob)
{
	const char *p = glob;

	a->start |= 1ULL << a->states;
	while (*p) {
		uint64_t state = 1ULL << a->states;

		if (*p == '*') {
			a->star |= state;
			p++;
			continue;
		}
		if (*p == '[') {
			p = add_set(a, p, state);
		} else {
			for (unsigned int c = 1; c < 256; c++)
				if (*p == '?' || c == (unsigned char)*p)
					a->step[c] |= state;
			p++;
		}
		if (++a->states >= COMM_STATES - 1)
			return -E2BIG;
	}
	a->accept |= 1ULL << a->states++;
	return a->states >= COMM_STATES ? -E2BIG : 0;
}

static int set_comms(struct bpf_object *obj, const struct tap_strings *globs, struct tap_err *err)
{
	struct automaton a = { 0 };
	int ret = 0;

	for (unsigned int i = 0; i < globs->nr && !ret; i++)
		ret = add_glob(&a, globs->v[i]);
	if (ret)
		return tap_err_set(err, -EINVAL, "the -c patterns are longer than %u characters in all",
				   COMM_STATES - 2);
	ret = tap_bpf_set(obj, "tap_comm_step", a.step, sizeof(a.step));
	ret = ret ?: tap_bpf_set(obj, "tap_comm_star", &a.star, sizeof(a.star));
	ret = ret ?: tap_bpf_set(obj, "tap_comm_start", &a.start, sizeof(a.start));
	return ret ?: tap_bpf_set(obj, "tap_comm_accept", &a.accept, sizeof(a.accept));
}

struct cgroup_level {
	uint64_t id;
	uint32_t level;
};

/*
 * A cgroup's id is its folder's inode number, its level the folders between it and the mount.
 * A path is taken as it is, or below the cgroup mount.
 */
static int find_cgroup(const char *name, struct cgroup_level *cg, bool *v1, struct tap_err *err)
{
	char path[PATH_MAX], parent[PATH_MAX];
	struct statfs fs;
	struct stat st, up;

	if (!realpath(name, path) || strncmp(path, CGROUP_ROOT, strlen(CGROUP_ROOT))) {
		if (snprintf(parent, sizeof(parent), "%s/%s", CGROUP_ROOT, name) >=
			    (int)sizeof(parent) || !realpath(parent, path))
			return tap_err_set(err, -ENOENT, "cannot find cgroup '%s' below %s: %m",
					   name, CGROUP_ROOT);
	}
	if (stat(path, &st) || statfs(path, &fs))
		return tap_err_set(err, -errno, "cannot look at cgroup '%s': %m", path);
	*v1 = (unsigned long)fs.f_type != CGROUP2_MAGIC;
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

	if (!ret && words)
		ret = tap_bpf_set(obj, "tap_cpu_bits", scope->cpus.bits, words * sizeof(uint64_t));
	if (!ret && scope->comms.nr)
		ret = set_comms(obj, &scope->comms, err);
	if (!ret && scope->cgroups.nr)
		ret = set_cgroups(obj, &scope->cgroups, err);
	return ret == -ENOENT && !scope->cgroups.nr ?
		       tap_err_set(err, ret, "the BPF object does not fit the program") : ret;
}

static int add_ids(struct bpf_object *obj, const char *map, const struct tap_strings *ids,
		   struct tap_err *err)
{
	int fd = bpf_object__find_map_fd_by_name(obj, map), ret = 0;

	for (unsigned int i = 0; i < ids->nr && !ret; i++) {
		uint8_t one = 1;
		uint32_t key;
		int64_t id;

		ret = tap_text_parse_int(ids->v[i], 1, INT32_MAX, &id);
		if (ret)
			return tap_err_set(err, ret, "'%s' is no process or thread id", ids->v[i]);
		key = (uint32_t)id;
		ret = bpf_map_update_elem(fd, &key, &one, BPF_ANY);
		if (ret)
			return tap_err_set(err, ret, "cannot add %u to the scope: %s", key,
					   strerror(-ret));
	}
	return ret;
}

int tap_bpf_scope_maps(struct bpf_object *obj, const struct tap_plan_scope *scope,
		       struct tap_err *err)
{
	int ret = add_ids(obj, "tap_tgids", &scope->tgids, err);

	return ret ?: add_ids(obj, "tap_tids", &scope->tids, err);
}
