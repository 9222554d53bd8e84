/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Options of the kernel's configuration: a program has those that it defines as 1. */
#ifndef SCHEDTAP_KERNEL_KCONFIG_H
#define SCHEDTAP_KERNEL_KCONFIG_H

#include <schedtap/static_key.h>

#ifndef IS_ENABLED
#define IS_ENABLED(option) TAP_ENABLED(option)
#define IS_BUILTIN(option) TAP_ENABLED(option)
#define IS_REACHABLE(option) TAP_ENABLED(option)
#define IS_MODULE(option) 0
#endif

#endif
