/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef SCHEDTAP_KERNEL_INIT_H
#define SCHEDTAP_KERNEL_INIT_H

typedef int (*initcall_t)(void);

#endif
