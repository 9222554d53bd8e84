/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The container that a cgroup belongs to, and its names in Kubernetes, from the runtime's files. */
#ifndef TAP_SHOW_METRICS_CONTAINER_H
#define TAP_SHOW_METRICS_CONTAINER_H

#include <stdbool.h>

struct tap_container { /* owned; NULL: not known */
	char *name, *pod, *pod_namespace;
};

/*
 * Find the container by the 64 hex digits of its id in the cgroup's path, in the files of
 * containerd, CRI-O and Docker below @root (""; tests have another one). These are usually only
 * readable by root. @c: set, all NULL if nothing was found.
 */
void tap_container_find(const char *path, const char *root, struct tap_container *c);
void tap_container_release(struct tap_container *c);

#endif
