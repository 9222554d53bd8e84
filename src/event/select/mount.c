// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "event/select/mount.h"

#include <mntent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Find the first mount of a type. @controller: only with this mount option; NULL: any. Return:
 * false if no such mount exists.
 */
static bool find_mount(const char *type, const char *controller, char *path, size_t size)
{
	FILE *mounts = setmntent("/proc/self/mounts", "r");
	struct mntent *m;
	bool found = false;

	while (mounts && !found && (m = getmntent(mounts))) {
		found = !strcmp(m->mnt_type, type) && (!controller || hasmntopt(m, controller));
		if (found)
			snprintf(path, size, "%s", m->mnt_dir);
	}
	if (mounts)
		endmntent(mounts);
	return found;
}

bool tap_cgroup_mount_v1(const char *controller, char *path, size_t size)
{
	return find_mount("cgroup", controller, path, size);
}

const char *tap_cgroup_mount(char *path, size_t size)
{
	if (tap_cgroup_mount_v1("cpu", path, size))
		return "tasks";
	return find_mount("cgroup2", NULL, path, size) ? "cgroup.threads" : NULL;
}

/* Return true if @controllers, a comma-separated list, contains @name. */
static bool has_controller(char *controllers, const char *name)
{
	char *next = controllers;

	for (const char *one; (one = strsep(&next, ",")) != NULL;)
		if (!strcmp(one, name))
			return true;
	return false;
}

int tap_cgroup_hierarchy(void)
{
	char path[4096], *line = NULL;
	const char *tasks = tap_cgroup_mount(path, sizeof(path));
	FILE *f;
	size_t size = 0;
	int number = -1;

	if (!tasks)
		return -1;
	if (strcmp(tasks, "tasks") != 0)
		return 0;
	f = fopen("/proc/self/cgroup", "re");
	while (f && number < 0 && getline(&line, &size, f) > 0) {
		char *next = line, *first = strsep(&next, ":"),
		     *controllers = next ? strsep(&next, ":") : NULL;

		if (controllers && has_controller(controllers, "cpu"))
			number = atoi(first);
	}
	free(line);
	if (f)
		fclose(f);
	return number;
}
