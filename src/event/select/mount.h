/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Where this machine has the cgroups that tasks are scheduled by. */
#ifndef TAP_SELECT_MOUNT_H
#define TAP_SELECT_MOUNT_H

#include <stddef.h>

/*
 * The mount of the version 1 hierarchy with the CPU controller, or of version 2: paths of cgroups
 * are below it. Return: the file in each cgroup that lists its tasks; NULL if there is no mount.
 */
const char *tap_cgroup_mount(char *path, size_t size);
/* The hierarchy's number, as events have it: the first of its line in /proc/PID/cgroup. 0: version
 * 2; -1: not known. */
int tap_cgroup_hierarchy(void);

#endif
