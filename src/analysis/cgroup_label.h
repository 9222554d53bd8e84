/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Short names for cgroups with long paths: a Kubernetes pod's path has 125 characters. */
#ifndef TAP_ANALYSIS_CGROUP_LABEL_H
#define TAP_ANALYSIS_CGROUP_LABEL_H

#include "base/buf.h"

/*
 * Append a short name for a cgroup's path: the pod (first 8 digits of its UID), the container (its
 * runtime and the first 12 digits of its id) or the systemd unit that @path names, and what is
 * below it: "pod 0123abcd/0123456789ab", "docker/0123456789ab", "nginx.service". Return: true if
 * @path names any of these; otherwise nothing is appended.
 */
bool tap_cgroup_label(const char *path, struct tap_buf *b);

/*
 * Return the length of the longest path that equals or is an ancestor of both @a and @b; 0: only
 * "/" is.
 */
size_t tap_cgroup_common(const char *a, size_t a_len, const char *b);

#endif
