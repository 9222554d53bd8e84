/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef TAP_BASE_CAP_H
#define TAP_BASE_CAP_H

#include <linux/capability.h>
#include <stdbool.h>

/* Whether this thread has the capability (CAP_BPF, ...) in effect. */
bool tap_cap_has(unsigned int cap);

/* Whether CAP_BPF and CAP_PERFMON are in effect, or CAP_SYS_ADMIN, which implies them. */
bool tap_cap_for_bpf(void);

#endif
