/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Cgroups that are made while a recording runs. One that is removed before its end would have no
 * name: no event has that, and what lists cgroups no longer lists it.
 */
#ifndef TAP_RECORD_SESSION_CGROUP_WATCH_H
#define TAP_RECORD_SESSION_CGROUP_WATCH_H

#include <stddef.h>

#include "base/map.h"

struct tap_cgroup_watch {
	int fd; /* of inotify; -1: nothing is watched */
	size_t root_len; /* of the mount's path, which names do not have */
	struct tap_map folders; /* watch descriptor -> path, owned */
};

/* Watches the hierarchy of tap_machine_cgroups(). Where that cannot be, new cgroups stay without a
 * name. */
void tap_cgroup_watch_open(struct tap_cgroup_watch *w);
/* Adds id -> path (owned) of those that came since the last time, and are there still. Return: 0 or
 * -ENOMEM. */
int tap_cgroup_watch_read(struct tap_cgroup_watch *w, struct tap_map *cgroups);
void tap_cgroup_watch_release(struct tap_cgroup_watch *w);

#endif
