/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Short names of cgroups whose paths are long: a pod's has 125 characters. */
#ifndef TAP_ANALYSIS_CGROUP_LABEL_H
#define TAP_ANALYSIS_CGROUP_LABEL_H

#include "base/buf.h"

/*
 * Adds what @path says of a pod (the first 8 digits of its UID), a container (its runtime and the
 * first 12 digits of its id) or a systemd unit, and what is below that: "pod
 * 0123abcd/0123456789ab", "docker/0123456789ab", "nginx.service". Return: whether it says anything
 * of the kind; else nothing is added.
 */
bool tap_cgroup_label(const char *path, struct tap_buf *b);

/* Return: the length of the longest path that is @a and @b, or above both; 0: only "/" is. */
size_t tap_cgroup_common(const char *a, size_t a_len, const char *b);

#endif
