/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef SCHEDTAP_KERNEL_INET_DSCP_H
#define SCHEDTAP_KERNEL_INET_DSCP_H

#include <linux/types.h>

typedef u8 dscp_t;

#endif
