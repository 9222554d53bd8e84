/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Kernel symbols for a perf.data that was recorded on this machine since it booted. */
#ifndef TAP_FILE_PERF_KERNEL_H
#define TAP_FILE_PERF_KERNEL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

#define TAP_BUILD_ID_BYTES 20u

/* Identity of the recorded kernel, as stored in a perf.data. */
struct tap_perf_kernel {
	unsigned char build_id[TAP_BUILD_ID_BYTES];
	bool has_build_id;
	char symbol[16]; /* "_text" or "_stext", at address .at; "": unknown */
	uint64_t at;
};

/*
 * Fill @text, which must be empty, with /proc/kallsyms, if the build id is the running kernel's and
 * the symbol has the same address (KASLR changes it on each boot). It stays empty otherwise, or if
 * it cannot be read. Return: 0; -ENOMEM.
 */
int tap_perf_kernel_symbols(const struct tap_perf_kernel *k, struct tap_buf *text);

#endif
