/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef SCHEDTAP_KERNEL_KTHREAD_H
#define SCHEDTAP_KERNEL_KTHREAD_H

struct kthread_work;
typedef void (*kthread_work_func_t)(struct kthread_work *work);

#endif
