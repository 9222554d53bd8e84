/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef TAP_BASE_CAP_H
#define TAP_BASE_CAP_H

#include <linux/capability.h>
#include <stdbool.h>

/* Return true if the calling thread has the capability (CAP_BPF, ...) in its effective set. */
bool tap_cap_has(unsigned int cap);

/* Return true if CAP_BPF and CAP_PERFMON are effective, or CAP_SYS_ADMIN, which includes both. */
bool tap_cap_for_bpf(void);

#endif
