/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef TAP_BASE_CAP_H
#define TAP_BASE_CAP_H

#include <linux/capability.h>
#include <stdbool.h>

/* Whether this thread has the capability (CAP_BPF, ...) in effect. */
bool tap_cap_has(unsigned int cap);

/*
 * The first of CAP_BPF and CAP_PERFMON that is not in effect, by name; NULL if both are, or
 * CAP_SYS_ADMIN, which implies them.
 */
const char *tap_cap_missing_for_bpf(void);

#endif
