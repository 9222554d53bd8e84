/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Arrays that grow: by one element, or up to an index. */
#ifndef TAP_BASE_ARRAY_H
#define TAP_BASE_ARRAY_H

#include <stddef.h>
#include <string.h>

/*
 * Make room for one more element in an array that has @nr elements. @array: the address of the
 * pointer to the elements. On failure the pointer and @cap do not change. Return: 0 or -ENOMEM.
 */
int tap_array_grow(void *array, unsigned int nr, unsigned int *cap, size_t size);

/*
 * Make the array longer than @index elements; see tap_array_at() for the arguments. Return: 0 or
 * -ENOMEM.
 */
int tap_array_reach(void *array, unsigned int *nr, unsigned int index, size_t size,
		    const void *fresh);

/*
 * Return the element at @index of an array of @nr elements, and make the array longer if needed.
 * New elements are copies of @fresh, or zero if @fresh is NULL. @array: the address of the pointer
 * to the elements. On failure that pointer and @nr do not change. Return: NULL when out of memory.
 */
static inline void *tap_array_at(void *array, unsigned int *nr, unsigned int index, size_t size,
				 const void *fresh)
{
	unsigned char *first;

	if (index >= *nr && tap_array_reach(array, nr, index, size, fresh))
		return NULL;
	memcpy(&first, array, sizeof(first)); /* *array may be a pointer of any type */
	return first + index * size;
}

#endif
