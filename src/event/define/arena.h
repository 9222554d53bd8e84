/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Allocates small chunks of memory that are freed all at once. */
#ifndef TAP_DEFINE_ARENA_H
#define TAP_DEFINE_ARENA_H

#include <stddef.h>

struct tap_arena {
	struct arena_block *blocks;
	size_t left; /* free bytes in the first block */
};

/* Return @size bytes, zeroed and aligned for any type; NULL when out of memory. */
void *tap_arena_get(struct tap_arena *a, size_t size);
void *tap_arena_copy(struct tap_arena *a, const void *data, size_t size);
void tap_arena_release(struct tap_arena *a);

#endif
