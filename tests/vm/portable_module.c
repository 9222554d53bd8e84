// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The events of tests/tracepoint/portable.h in a kernel: a write to its parameter `fire` fires
 * them. */
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/version.h>
#include <linux/printk.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 10, 0)
#define PORTABLE_ASSIGN_TWO
#endif
#define CREATE_TRACE_POINTS
#include "portable.h"

#include "portable_fire.h"

static int fire(const char *val, const struct kernel_param *kp)
{
	portable_fire();
	return 0;
}

static const struct kernel_param_ops fire_ops = { .set = fire };
module_param_cb(fire, &fire_ops, NULL, 0200);

static int __init portable_init(void)
{
	return 0;
}

static void __exit portable_exit(void)
{
}

module_init(portable_init);
module_exit(portable_exit);
MODULE_DESCRIPTION("events of a program, in a kernel");
MODULE_LICENSE("GPL");
