/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Lists the members of kernel structs that the module reads: those that the BPF programs name
 * (bpf/kernel_types.h), read from the programs' BTF, so that there is a single list.
 */
#ifndef TAP_MODULE_MEMBERS_H
#define TAP_MODULE_MEMBERS_H

#include <schedtap/err.h>

/*
 * Functions whose presence the module depends on. __traceiter_NAME() calls a tracepoint's probes;
 * its parameters are void *data and the tracepoint's arguments. cgroup_get_from_id() exists since
 * v5.18.
 */
#define TAP_TRACEITER "__traceiter_"
#define TAP_CGROUP_FROM_ID "cgroup_get_from_id"

struct tap_members {
	struct tap_member {
		char *of, *member; /* "rq", "avg_rt": the kernel's names */
	} * v; /* without duplicates */
	unsigned int nr, cap;
};

/* Return: 0; -EINVAL: the embedded BPF object has no types; -ENOMEM. */
int tap_members_init(struct tap_members *w, struct tap_err *err);
void tap_members_release(struct tap_members *w);

#endif
