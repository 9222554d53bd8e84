/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef SCHEDTAP_KERNEL_EXT4_H
#define SCHEDTAP_KERNEL_EXT4_H

#include <linux/jbd2.h>
#include <linux/types.h>

typedef int ext4_grpblk_t;
typedef unsigned long long ext4_fsblk_t;
typedef __u32 ext4_lblk_t;
typedef unsigned int ext4_group_t;

#endif
