/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Arrays that grow: by one, or up to an index. */
#ifndef TAP_BASE_ARRAY_H
#define TAP_BASE_ARRAY_H

#include <stddef.h>
#include <string.h>

/*
 * Makes room for one more in an array of which @nr are used. @array: the address of the pointer to
 * it; it and @cap stay as they are on failure. Return: 0 or -ENOMEM.
 */
int tap_array_grow(void *array, unsigned int nr, unsigned int *cap, size_t size);

/* Makes the array longer than @index, with @fresh at each new place; see below. Return: 0 or
 * -ENOMEM. */
int tap_array_reach(void *array, unsigned int *nr, unsigned int index, size_t size,
		    const void *fresh);

/*
 * The element at @index of an array of @nr, which is made longer if it must be: what is new is as
 * @fresh, or zero if that is NULL. @array: the address of the pointer to it; it and @nr stay as
 * they are on failure. Return: the element, NULL when out of memory.
 */
static inline void *tap_array_at(void *array, unsigned int *nr, unsigned int index, size_t size,
				 const void *fresh)
{
	unsigned char *first;

	if (index >= *nr && tap_array_reach(array, nr, index, size, fresh))
		return NULL;
	memcpy(&first, array, sizeof(first)); /* a pointer of any type */
	return first + index * size;
}

#endif
