/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef SCHEDTAP_KERNEL_PRINTK_H
#define SCHEDTAP_KERNEL_PRINTK_H

#include <stdarg.h>
#include <stdint.h>

struct va_format {
	const char *fmt;
	va_list *va;
};

/* An address that is not to be seen in a recording. Return: 0. */
static inline __attribute__((unused)) int ptr_to_hashval(const void *ptr, unsigned long *hashval_out)
{
	*hashval_out = (uint32_t)(((uint64_t)(uintptr_t)ptr * 0x9e3779b97f4a7c15u) >> 32);
	return 0;
}

#endif
