// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/array.h"

#include <errno.h>
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
