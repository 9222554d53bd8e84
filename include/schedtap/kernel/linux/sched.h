/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef SCHEDTAP_KERNEL_SCHED_H
#define SCHEDTAP_KERNEL_SCHED_H

#include_next <linux/sched.h>

#include <linux/nodemask.h>

#define TASK_COMM_LEN 16

/*
 * A condition in v7.3's trace/events/sched.h uses the member __state, so it must be known wherever that is included.
 * A program with a struct task_struct of its own defines TAP_OWN_TASK_STRUCT.
 */
#ifndef TAP_OWN_TASK_STRUCT
struct task_struct {
	unsigned int __state;
};
#endif

#endif
