/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The symbols of this machine's kernel, for a perf.data that was made while it ran, as it runs now.
 */
#ifndef TAP_FILE_PERF_KERNEL_H
#define TAP_FILE_PERF_KERNEL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

#define TAP_BUILD_ID_BYTES 20u

/* What a perf.data says of the kernel that it is of. */
struct tap_perf_kernel {
	unsigned char build_id[TAP_BUILD_ID_BYTES];
	bool has_build_id;
	char symbol[16]; /* "_text" or "_stext", and where that was; "": not known */
	uint64_t at;
};

/*
 * Fills in @text, which is empty, with /proc/kallsyms, if the build is this machine's, and the
 * symbol is where it was: each boot may have another place. Otherwise, and if it cannot be read, it
 * stays empty. Return: 0; -ENOMEM.
 */
int tap_perf_kernel_symbols(const struct tap_perf_kernel *k, struct tap_buf *text);

#endif
