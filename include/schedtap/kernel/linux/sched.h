/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef SCHEDTAP_KERNEL_SCHED_H
#define SCHEDTAP_KERNEL_SCHED_H

#include_next <linux/sched.h>

#define TASK_COMM_LEN 16

#endif
