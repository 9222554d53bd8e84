/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef SCHEDTAP_KERNEL_WORKQUEUE_H
#define SCHEDTAP_KERNEL_WORKQUEUE_H

struct work_struct;
typedef void (*work_func_t)(struct work_struct *work);

#endif
