/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef TAP_BASE_SIZED_H
#define TAP_BASE_SIZED_H

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include <schedtap/err.h>

/*
 * A copy of a public struct, which begins with its size_t size. What was built with an older header
 * has less: the rest of @to, of @size bytes, stays as it is. What was built with a newer one has
 * more, which must be zero. Return: 0; -EINVAL with a sentence.
 */
static inline int tap_sized_take(void *to, size_t size, const void *from, struct tap_err *err)
{
	const unsigned char *bytes = from;
	size_t from_size = *(const size_t *)from;

	if (from_size < sizeof(size_t))
		return tap_err_set(err, -EINVAL, "the struct's size member is not set");
	for (size_t i = size; i < from_size; i++)
		if (bytes[i])
			return tap_err_set(err, -EINVAL,
					   "built for a newer libschedtap than this one");
	memcpy(to, from, from_size < size ? from_size : size);
	return 0;
}

#endif
