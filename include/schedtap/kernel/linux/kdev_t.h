/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Device numbers: a program has them from stat(2), as the C library lays them out. */
#ifndef SCHEDTAP_KERNEL_KDEV_T_H
#define SCHEDTAP_KERNEL_KDEV_T_H

#include <linux/types.h>

#define MAJOR(dev)                                                                                 \
	((unsigned int)(((dev) >> 8 & 0xfff) | ((unsigned long long)(dev) >> 32 & 0xfffff000)))
#define MINOR(dev) ((unsigned int)(((dev)&0xff) | ((dev) >> 12 & 0xffffff00)))

#endif
