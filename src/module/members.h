/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which members of the kernel's structs the module reads: those that the BPF programs name
 * (bpf/kernel_types.h), read from their BTF, so that there is one list.
 */
#ifndef TAP_MODULE_MEMBERS_H
#define TAP_MODULE_MEMBERS_H

#include <stddef.h>

#include <schedtap/err.h>

struct tap_members {
	struct tap_member {
		char *of, *member; /* "rq", "avg_rt": as the kernel calls them */
	} *v;			   /* each once */
	size_t nr;
};

/* Return: 0; -EINVAL: the embedded BPF object has no types; -ENOMEM. */
int tap_members_init(struct tap_members *w, struct tap_err *err);
void tap_members_release(struct tap_members *w);

#endif
