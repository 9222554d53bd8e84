/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef SCHEDTAP_KERNEL_NODEMASK_H
#define SCHEDTAP_KERNEL_NODEMASK_H

#include <linux/bits.h>

#define MAX_NUMNODES 1024

typedef struct {
	unsigned long bits[MAX_NUMNODES / BITS_PER_LONG];
} nodemask_t;

#endif
