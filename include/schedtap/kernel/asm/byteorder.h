/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The system's <asm/byteorder.h>, under the names that the kernel has for it. */
#ifndef SCHEDTAP_KERNEL_BYTEORDER_H
#define SCHEDTAP_KERNEL_BYTEORDER_H

#include_next <asm/byteorder.h>

#ifndef cpu_to_be64
#define cpu_to_le64 __cpu_to_le64
#define le64_to_cpu __le64_to_cpu
#define cpu_to_le32 __cpu_to_le32
#define le32_to_cpu __le32_to_cpu
#define cpu_to_le16 __cpu_to_le16
#define le16_to_cpu __le16_to_cpu
#define cpu_to_be64 __cpu_to_be64
#define be64_to_cpu __be64_to_cpu
#define cpu_to_be32 __cpu_to_be32
#define be32_to_cpu __be32_to_cpu
#define cpu_to_be16 __cpu_to_be16
#define be16_to_cpu __be16_to_cpu
#endif

#endif
