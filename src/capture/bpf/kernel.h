/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the running kernel has, from its BTF: existence decides, never a version number.
 */
#ifndef TAP_CAPTURE_BPF_KERNEL_H
#define TAP_CAPTURE_BPF_KERNEL_H

#include "event/defs.h"

struct tap_kernel;

/*
 * Reads /sys/kernel/btf/vmlinux in one pass.
 * Return: 0; -EOPNOTSUPP if the kernel has no BTF; -ENOMEM.
 */
int tap_kernel_new(struct tap_kernel **out, struct tap_err *err);
void tap_kernel_free(struct tap_kernel *k);

/* Return: how many arguments the tracepoint passes, or -ENOENT. */
int tap_kernel_tracepoint(const struct tap_kernel *k, const char *name);

/* Whether one of the alternatives of a TRACE_NEEDS() spec is there. */
bool tap_kernel_has(const struct tap_kernel *k, const char *spec);

/*
 * Whether BPF can record the event here. Where not, @why says what the kernel lacks.
 * @hook: set to the tracepoint that feeds it.
 */
bool tap_kernel_can(const struct tap_kernel *k, const struct tap_def *def,
		    const struct tap_hook **hook, struct tap_buf *why);

/* Sets absent[i] for the fields that this kernel lacks; def->nr_fields flags. */
void tap_kernel_absent(const struct tap_kernel *k, const struct tap_def *def, bool *absent);

#endif
