/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The BPF programs that the kernel's tracepoints call, whoever loaded them. */
#ifndef TAP_RECORD_BPF_ATTACHED_H
#define TAP_RECORD_BPF_ATTACHED_H

#include <stdint.h>

#include "schedtap/err.h"

struct btf;

struct tap_attached {
	const char *tracepoint; /* "sched_switch" */
	const char *program; /* its name, as far as the kernel keeps it: 15 bytes */
	uint32_t id; /* of the program */
};

/*
 * Tells of each raw and typed program; of those that are attached by a perf event the kernel does
 * not say it. @btf: the kernel's. Return: 0; -EPERM without CAP_SYS_ADMIN; -errno.
 */
int tap_attached(const struct btf *btf, void (*tell)(void *ctx, const struct tap_attached *a),
		 void *ctx, struct tap_err *err);

#endif
