/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * kmod/layout.h for one kernel: the members of its private structs that the events use, at their
 * places, and which members it has at all. The list of members is that of the BPF programs
 * (bpf/kernel_types.h), read from their BTF.
 */
#ifndef TAP_MODULE_LAYOUT_H
#define TAP_MODULE_LAYOUT_H

#include "base/buf.h"

struct btf;

/*
 * @kernel: its types. @from: where they were read from, for a comment in the header.
 * Return: 0; -ENODATA: a struct or a member that every kernel has is missing; -ENOMEM, -errno.
 */
int tap_layout_write(const struct btf *kernel, const char *from, struct tap_buf *out,
		     struct tap_err *err);

#endif
