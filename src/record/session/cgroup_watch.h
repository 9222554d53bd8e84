/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Collect the names of cgroups that are made while a recording runs. A cgroup that is removed
 * before the recording ends would have no name otherwise: events have only its id.
 */
#ifndef TAP_RECORD_SESSION_CGROUP_WATCH_H
#define TAP_RECORD_SESSION_CGROUP_WATCH_H

#include <stddef.h>

#include "base/map.h"

struct tap_cgroup_watch {
	int fd; /* of inotify; -1: nothing is watched */
	size_t root_len; /* length of the mount point's path, which cgroup names do not include */
	struct tap_map folders; /* watch descriptor -> path, owned */
};

/* Watch the hierarchy of tap_machine_cgroups(). On failure new cgroups have no names. */
void tap_cgroup_watch_open(struct tap_cgroup_watch *w);
/*
 * Add id -> path (owned) of cgroups that were made since the last call and still exist. Return: 0
 * or -ENOMEM.
 */
int tap_cgroup_watch_read(struct tap_cgroup_watch *w, struct tap_map *cgroups);
void tap_cgroup_watch_release(struct tap_cgroup_watch *w);

#endif
