/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Finds the cgroup hierarchy that the scheduler uses on this machine. */
#ifndef TAP_SELECT_MOUNT_H
#define TAP_SELECT_MOUNT_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Find the mount point of the version 1 hierarchy with the CPU controller or, without one, of
 * version 2: cgroup paths are relative to it. Return: the name of the file in each cgroup that
 * lists its tasks; NULL if neither is mounted.
 */
const char *tap_cgroup_mount(char *path, size_t size);
/*
 * Find the mount point of the version 1 hierarchy that has a controller, such as "cpuacct". Return:
 * false if it is not mounted; @path is not changed then.
 */
bool tap_cgroup_mount_v1(const char *controller, char *path, size_t size);
/*
 * Return the hierarchy's number, as in events and at the start of its line in /proc/PID/cgroup: 0
 * is version 2; -1: unknown.
 */
int tap_cgroup_hierarchy(void);

#endif
