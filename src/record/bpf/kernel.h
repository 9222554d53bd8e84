/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Features of the running kernel, from its BTF. Existence decides, never a version number. */
#ifndef TAP_RECORD_BPF_KERNEL_H
#define TAP_RECORD_BPF_KERNEL_H

#include "event/defs.h"

struct btf;
struct tap_kernel;

/*
 * Read /sys/kernel/btf/vmlinux in one pass.
 * Return: 0; -EOPNOTSUPP if the kernel has no BTF; -ENOMEM.
 */
int tap_kernel_new(struct tap_kernel **out, struct tap_err *err);
void tap_kernel_free(struct tap_kernel *k);

/*
 * Look up the struct members that a definition needs that is not built in. Call it before
 * tap_kernel_hook() or tap_kernel_absent() of @def, and before tap_kernel_drop_btf(). Return: 0 or
 * -ENOMEM.
 */
int tap_kernel_learn(struct tap_kernel *k, const struct tap_def *def);

/*
 * Return: the BTF, borrowed until tap_kernel_drop_btf(). It takes megabytes; the other functions do
 * not need it.
 */
const struct btf *tap_kernel_btf(const struct tap_kernel *k);
void tap_kernel_drop_btf(struct tap_kernel *k);

/*
 * Return: the tracepoint or probe from which BPF records the event; NULL: BPF cannot record it
 * here, and @why has the reason.
 */
const struct tap_hook *tap_kernel_hook(const struct tap_kernel *k, const struct tap_def *def,
				       struct tap_buf *why);

/* Return: whether programs can call bpf_rdonly_cast() (bpf/cast.h). */
bool tap_kernel_has_cast(const struct tap_kernel *k);

/* Set absent[i] for each of the def->nr_fields fields: true if this kernel lacks it. */
void tap_kernel_absent(const struct tap_kernel *k, const struct tap_def *def, bool *absent);

#endif
