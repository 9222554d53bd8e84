/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef TAP_BASE_SIZED_H
#define TAP_BASE_SIZED_H

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include <schedtap/err.h>

/*
 * Copy a public struct, which starts with its own size (a size_t). A caller built with an older
 * header passes a shorter struct: the rest of @to, which has @size bytes, keeps its values. A
 * caller built with a newer header passes a longer struct, whose extra bytes must be zero.
 * Return: 0; -EINVAL with a sentence.
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
