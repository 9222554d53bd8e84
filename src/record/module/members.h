/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the module asks of a kernel's types. Which members of its structs it reads: those that the
 * BPF programs name (bpf/kernel_types.h), read from their BTF, so that there is one list.
 */
#ifndef TAP_MODULE_MEMBERS_H
#define TAP_MODULE_MEMBERS_H

#include <schedtap/err.h>

/* Functions: what calls a tracepoint's probes (void *data, and its arguments); since v5.18 */
#define TAP_TRACEITER "__traceiter_"
#define TAP_CGROUP_FROM_ID "cgroup_get_from_id"

struct tap_members {
	struct tap_member {
		char *of, *member; /* "rq", "avg_rt": as the kernel calls them */
	} * v; /* each once */
	unsigned int nr, cap;
};

/* Return: 0; -EINVAL: the embedded BPF object has no types; -ENOMEM. */
int tap_members_init(struct tap_members *w, struct tap_err *err);
void tap_members_release(struct tap_members *w);

#endif
