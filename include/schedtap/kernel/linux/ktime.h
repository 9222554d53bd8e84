/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef SCHEDTAP_KERNEL_KTIME_H
#define SCHEDTAP_KERNEL_KTIME_H

#include <linux/types.h>

#define NSEC_PER_SEC 1000000000L
#define ktime_to_ns(kt) (kt)
#define ktime_to_us(kt) ((kt) / 1000)
#define ktime_to_ms(kt) ((kt) / 1000000)

#endif
