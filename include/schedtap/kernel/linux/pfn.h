/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef SCHEDTAP_KERNEL_PFN_H
#define SCHEDTAP_KERNEL_PFN_H

#include <linux/types.h>

typedef struct {
	u64 val;
} pfn_t;

#endif
