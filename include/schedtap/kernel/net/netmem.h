/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef SCHEDTAP_KERNEL_NETMEM_H
#define SCHEDTAP_KERNEL_NETMEM_H

typedef unsigned long netmem_ref;

#endif
