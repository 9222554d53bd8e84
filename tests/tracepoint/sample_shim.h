/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* All that the kernel's sample of events uses of the kernel besides <linux/tracepoint.h>. */
#define strlcpy(to, from, size) snprintf(to, size, "%s", from)
