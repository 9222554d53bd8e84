/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef SCHEDTAP_KERNEL_NETDEVICE_H
#define SCHEDTAP_KERNEL_NETDEVICE_H

/* the system's <linux/if.h> leaves out what the C library has, if that was there when it was asked first */
#if !defined(_LIBC_COMPAT_H) && !defined(_UAPI_LIBC_COMPAT_H)
#include <net/if.h>
#endif
#include_next <linux/netdevice.h>

#include <linux/skbuff.h>

#endif
