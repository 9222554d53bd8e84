/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The kernel's names of integer types, for event headers. As in the kernel, u64 is unsigned long
 * long, which "%llu" prints without a cast. A program that has another u64, such as a typedef of
 * uint64_t, defines TAP_NO_KERNEL_TYPES before it includes <schedtap/tracepoint.h>.
 */
#pragma GCC system_header
#ifndef SCHEDTAP_TYPES_H
#define SCHEDTAP_TYPES_H

#ifndef TAP_NO_KERNEL_TYPES
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef signed char s8;
typedef short s16;
typedef int s32;
typedef long long s64;
#endif

#endif
