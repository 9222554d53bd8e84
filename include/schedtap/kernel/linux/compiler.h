/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the kernel's headers say to its checkers and to the compiler. Not in C++, whose library has
 * uses of its own for such names.
 */
#ifndef SCHEDTAP_KERNEL_COMPILER_H
#define SCHEDTAP_KERNEL_COMPILER_H

#if __has_include_next(<linux/compiler.h>)
#include_next <linux/compiler.h>
#endif

#ifndef __cplusplus
#ifndef __user
#define __user
#endif
#ifndef __iomem
#define __iomem
#endif
#ifndef __percpu
#define __percpu
#endif
#ifndef __rcu
#define __rcu
#endif
#ifndef __force
#define __force
#endif
#ifndef __bitwise
#define __bitwise
#endif
#ifndef __maybe_unused
#define __maybe_unused __attribute__((unused))
#endif
#ifndef __always_unused
#define __always_unused __attribute__((unused))
#endif
#ifndef __mode
#define __mode(x) __attribute__((mode(x)))
#endif
#endif

#endif
