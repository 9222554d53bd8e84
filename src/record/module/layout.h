/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Generates kmod/layout.h for one kernel. It declares the private structs with the members that the
 * events use, at their offsets, and says which members exist. The list of members is that of the
 * BPF programs (bpf/kernel_types.h), read from their BTF.
 */
#ifndef TAP_MODULE_LAYOUT_H
#define TAP_MODULE_LAYOUT_H

#include "base/buf.h"

struct btf;

/*
 * @kernel: the kernel's types. @from: the file they were read from, for a comment in the header.
 * Return: 0; -ENODATA: a member cannot be declared in C; -ENOMEM, -errno.
 */
int tap_layout_write(const struct btf *kernel, const char *from, struct tap_buf *out,
		     struct tap_err *err);

#endif
