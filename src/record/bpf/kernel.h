/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the running kernel has, from its BTF: existence decides, never a version number.
 */
#ifndef TAP_RECORD_BPF_KERNEL_H
#define TAP_RECORD_BPF_KERNEL_H

#include "event/defs.h"

struct btf;
struct tap_kernel;

/*
 * Reads /sys/kernel/btf/vmlinux in one pass.
 * Return: 0; -EOPNOTSUPP if the kernel has no BTF; -ENOMEM.
 */
int tap_kernel_new(struct tap_kernel **out, struct tap_err *err);
void tap_kernel_free(struct tap_kernel *k);

/*
 * Looks up what a definition that is not built in needs; before the BTF is dropped, and before
 * anything else is asked about it. Return: 0 or -ENOMEM.
 */
int tap_kernel_learn(struct tap_kernel *k, const struct tap_def *def);

/* Borrowed, until it is dropped: it takes megabytes, and all else needs it no more. */
const struct btf *tap_kernel_btf(const struct tap_kernel *k);
void tap_kernel_drop_btf(struct tap_kernel *k);

/* What feeds the event. NULL: BPF cannot record it here, and @why says what the kernel lacks. */
const struct tap_hook *tap_kernel_hook(const struct tap_kernel *k, const struct tap_def *def,
				       struct tap_buf *why);

/* Sets absent[i] for the fields that this kernel lacks; def->nr_fields flags. */
void tap_kernel_absent(const struct tap_kernel *k, const struct tap_def *def, bool *absent);

#endif
