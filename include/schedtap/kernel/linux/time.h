/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The C library's: the system's <linux/time.h> is not for programs that have that. */
#ifndef SCHEDTAP_KERNEL_TIME_H
#define SCHEDTAP_KERNEL_TIME_H

#include <sys/time.h>
#include <time.h>

#endif
