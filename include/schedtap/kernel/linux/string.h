/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef SCHEDTAP_KERNEL_STRING_H
#define SCHEDTAP_KERNEL_STRING_H

#include <errno.h>
#include <string.h>
#include <sys/types.h>

/* Return: the length of the text; -E2BIG if it was cut. */
static inline __attribute__((unused)) ssize_t tap_strscpy(char *to, const char *from, size_t size)
{
	size_t len = strnlen(from, size);

	if (!size)
		return -E2BIG;
	if (len == size)
		len--;
	memcpy(to, from, len);
	to[len] = '\0';
	return from[len] ? -E2BIG : (ssize_t)len;
}

#ifndef strscpy
#define strscpy(to, from, size) tap_strscpy(to, from, size)
#endif

/* Most C libraries have none. Return: the length of what was to be copied. */
static inline __attribute__((unused)) size_t tap_strlcpy(char *to, const char *from, size_t size)
{
	tap_strscpy(to, from, size);
	return strlen(from);
}

#ifndef strlcpy
#define strlcpy(to, from, size) tap_strlcpy(to, from, size)
#endif

#endif
