/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* List the BPF programs on the kernel's tracepoints, of this and of other processes. */
#ifndef TAP_RECORD_BPF_ATTACHED_H
#define TAP_RECORD_BPF_ATTACHED_H

#include <stdint.h>

#include "schedtap/err.h"

struct btf;

struct tap_attached {
	const char *tracepoint; /* such as "sched_switch" */
	const char *program; /* its name, cut to 15 bytes by the kernel */
	uint32_t id; /* of the program */
};

/*
 * Call @report for each raw and BTF-typed tracepoint program. Programs that are attached through a
 * perf event are not listed: the kernel does not show their tracepoint. @btf: the kernel's. Return:
 * 0; -EPERM without CAP_SYS_ADMIN; -errno.
 */
int tap_attached(const struct btf *btf, void (*report)(void *ctx, const struct tap_attached *a),
		 void *ctx, struct tap_err *err);

#endif
