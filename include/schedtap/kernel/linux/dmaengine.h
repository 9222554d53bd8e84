/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef SCHEDTAP_KERNEL_DMAENGINE_H
#define SCHEDTAP_KERNEL_DMAENGINE_H

#include <linux/types.h>

typedef s32 dma_cookie_t;

#endif
