/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef SCHEDTAP_KERNEL_BITS_H
#define SCHEDTAP_KERNEL_BITS_H

#define BITS_PER_BYTE 8
#ifndef BITS_PER_LONG
#define BITS_PER_LONG (__SIZEOF_LONG__ * BITS_PER_BYTE)
#endif
#ifndef BIT
#define BIT(nr) (1ul << (nr))
#endif
#ifndef BIT_ULL
#define BIT_ULL(nr) (1ull << (nr))
#endif

#endif
