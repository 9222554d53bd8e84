/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which members of the kernel's structs the module reads: those that the BPF programs name
 * (bpf/kernel_types.h), read from their BTF, so that there is one list.
 */
#ifndef TAP_MODULE_WANTED_H
#define TAP_MODULE_WANTED_H

#include <stddef.h>

#include <schedtap/err.h>

struct tap_wanted {
	struct tap_wanted_member {
		char *of, *member; /* "rq", "avg_rt": as the kernel calls them */
	} *v;			   /* each once */
	size_t nr;
};

/* Return: 0; -EINVAL: the embedded BPF object has no types; -ENOMEM. */
int tap_wanted_init(struct tap_wanted *w, struct tap_err *err);
void tap_wanted_release(struct tap_wanted *w);

#endif
