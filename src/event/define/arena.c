// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "event/define/arena.h"

#include <stdlib.h>
#include <string.h>

#define BLOCK_BYTES ((size_t)64 << 10)
#define ALIGN 16u

struct arena_block {
	struct arena_block *next;
	_Alignas(ALIGN) unsigned char bytes[];
};

void *tap_arena_get(struct tap_arena *a, size_t size)
{
	size = (size + ALIGN - 1) & ~(size_t)(ALIGN - 1);
	if (!a->blocks || size > a->left) {
		size_t bytes = size > BLOCK_BYTES ? size : BLOCK_BYTES;
		struct arena_block *b = calloc(1, sizeof(*b) + bytes);

		if (!b)
			return NULL;
		b->next = a->blocks;
		a->blocks = b;
		a->left = bytes;
	}
	a->left -= size;
	return a->blocks->bytes + a->left;
}

void *tap_arena_copy(struct tap_arena *a, const void *data, size_t size)
{
	void *copy = tap_arena_get(a, size);

	return copy && size ? memcpy(copy, data, size) : copy;
}

void tap_arena_release(struct tap_arena *a)
{
	struct arena_block *next;

	for (struct arena_block *b = a->blocks; b; b = next) {
		next = b->next;
		free(b);
	}
	*a = (struct tap_arena){ 0 };
}
