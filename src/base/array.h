/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Arrays that grow by one. */
#ifndef TAP_BASE_ARRAY_H
#define TAP_BASE_ARRAY_H

#include <stddef.h>

/*
 * Makes room for one more in an array of which @nr are used. @array: the address of the pointer to
 * it; it and @cap stay as they are on failure. Return: 0 or -ENOMEM.
 */
int tap_array_grow(void *array, unsigned int nr, unsigned int *cap, size_t size);

#endif
