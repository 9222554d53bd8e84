/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Pointers that may be errors. */
#ifndef SCHEDTAP_KERNEL_ERR_H
#define SCHEDTAP_KERNEL_ERR_H

#include <stdbool.h>

#define MAX_ERRNO 4095
#define IS_ERR_VALUE(x) ((unsigned long)(void *)(x) >= (unsigned long)-MAX_ERRNO)
#define IS_ERR(ptr) IS_ERR_VALUE((unsigned long)(ptr))
#define IS_ERR_OR_NULL(ptr) (!(ptr) || IS_ERR(ptr))
#define ERR_PTR(error) ((void *)(long)(error))
#define PTR_ERR(ptr) ((long)(ptr))
#define PTR_ERR_OR_ZERO(ptr) (IS_ERR(ptr) ? (int)PTR_ERR(ptr) : 0)

#endif
