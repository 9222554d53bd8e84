/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The system's <linux/types.h>, and the names that it keeps for the kernel alone. */
#ifndef SCHEDTAP_KERNEL_TYPES_H
#define SCHEDTAP_KERNEL_TYPES_H

#include_next <linux/types.h>

#include <linux/compiler.h>
#include <linux/kconfig.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <schedtap/types.h>

typedef __u64 dma_addr_t, phys_addr_t, resource_size_t, sector_t;
typedef unsigned int gfp_t, fmode_t, isolate_mode_t;
typedef unsigned short umode_t;
typedef unsigned long pgoff_t;
typedef __s64 ktime_t, time64_t;

#endif
