/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A hash table from 64-bit keys to 64-bit values (numbers, or pointers that the caller owns). Any
 * key is allowed. Open addressing: a value's address is valid until the next tap_map_put().
 */
#ifndef TAP_BASE_MAP_H
#define TAP_BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tap_map_slot {
	uint64_t key, value;
	bool used;
};

struct tap_map {
	struct tap_map_slot *slots;
	size_t nr, cap; /* cap is a power of two, or 0 */
};

void tap_map_release(struct tap_map *m);
/* Return the value's address, or NULL if the key is not in the table. */
uint64_t *tap_map_get(const struct tap_map *m, uint64_t key);
/* Return the value's address (a new value is 0), or NULL when out of memory. */
uint64_t *tap_map_put(struct tap_map *m, uint64_t key);
int tap_map_set(struct tap_map *m, uint64_t key, uint64_t value); /* Return: 0 or -ENOMEM */

/* Hash bytes to a key (FNV-1a). Different bytes may have the same key. */
static inline uint64_t tap_map_key(const void *data, size_t len)
{
	const unsigned char *p = data;
	uint64_t key = 0xcbf29ce484222325u;

	for (size_t i = 0; i < len; i++)
		key = (key ^ p[i]) * 0x100000001b3u;
	return key;
}

#define tap_map_for_each(m, s)                                                                     \
	for (struct tap_map_slot *s = (m)->slots; s && s < (m)->slots + (m)->cap; s++)             \
		if (s->used)

#endif
