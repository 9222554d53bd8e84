// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/array.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>

int tap_array_grow(void *array, unsigned int nr, unsigned int *cap, size_t size)
{
	void **at = array, *grown;

	if (nr < *cap)
		return 0;
	grown = reallocarray(*at, *cap ? 2 * (size_t)*cap : 64, size);
	if (!grown)
		return -ENOMEM;
	*cap = *cap ? 2 * *cap : 64;
	*at = grown;
	return 0;
}

int tap_array_reach(void *array, unsigned int *nr, unsigned int index, size_t size,
		    const void *fresh)
{
	size_t more = 2 * (size_t)index + 64;
	void **at = array;
	unsigned char *grown = more <= UINT_MAX ? reallocarray(*at, more, size) : NULL;

	if (!grown)
		return -ENOMEM;
	*at = grown;
	for (; *nr < more; ++*nr) {
		if (fresh)
			memcpy(grown + *nr * size, fresh, size);
		else
			memset(grown + *nr * size, 0, size);
	}
	return 0;
}
