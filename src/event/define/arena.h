/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Memory in small pieces that goes as a whole. */
#ifndef TAP_DEFINE_ARENA_H
#define TAP_DEFINE_ARENA_H

#include <stddef.h>

struct tap_arena {
	struct arena_block *blocks;
	size_t left; /* bytes of the first one */
};

/* @size bytes, zeroed, aligned for anything. Return: NULL when out of memory. */
void *tap_arena_get(struct tap_arena *a, size_t size);
void *tap_arena_copy(struct tap_arena *a, const void *data, size_t size);
void tap_arena_release(struct tap_arena *a);

#endif
