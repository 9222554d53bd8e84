/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef SCHEDTAP_KERNEL_ERRSEQ_H
#define SCHEDTAP_KERNEL_ERRSEQ_H

#include <linux/types.h>

typedef u32 errseq_t;

#endif
