// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "select/mount.h"

#include <mntent.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

const char *tap_cgroup_mount(char *path, size_t size)
{
	FILE *mounts = setmntent("/proc/self/mounts", "r");
	struct mntent *m;
	bool found = false, v1 = false;

	while (mounts && !v1 && (m = getmntent(mounts))) {
		v1 = !strcmp(m->mnt_type, "cgroup") && hasmntopt(m, "cpu");
		if (!v1 && (found || strcmp(m->mnt_type, "cgroup2")))
			continue;
		found = true;
		snprintf(path, size, "%s", m->mnt_dir);
	}
	if (mounts)
		endmntent(mounts);
	if (!found)
		return NULL;
	return v1 ? "tasks" : "cgroup.threads";
}
