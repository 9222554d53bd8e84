// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/keyed.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

void tap_keyed_release(struct tap_keyed *k)
{
	free(k->v);
	tap_map_release(&k->by_key);
}

static unsigned char *entry_at(const struct tap_keyed *k, size_t i, size_t size)
{
	return (unsigned char *)k->v + i * size;
}

void *tap_keyed_get(struct tap_keyed *k, const void *key, size_t key_size, size_t size)
{
	/* if keys have the same hash, the later one takes the next free hash value */
	for (uint64_t hash = tap_map_key(key, key_size);; hash++) {
		uint64_t *slot = tap_map_put(&k->by_key, hash);

		if (!slot || tap_array_grow(&k->v, k->nr, &k->cap, size))
			return NULL;
		if (!*slot) {
			memset(entry_at(k, k->nr, size), 0, size);
			memcpy(entry_at(k, k->nr, size), key, key_size);
			*slot = ++k->nr;
		}
		if (!memcmp(entry_at(k, *slot - 1, size), key, key_size))
			return entry_at(k, *slot - 1, size);
	}
}

static uint64_t value_of(const void *entry, size_t key_size)
{
	uint64_t value;

	memcpy(&value, (const unsigned char *)entry + key_size, sizeof(value));
	return value;
}

static int by_value(const void *a, const void *b, void *key_size)
{
	uint64_t x = value_of(a, *(size_t *)key_size), y = value_of(b, *(size_t *)key_size);

	if (x != y)
		return x > y ? -1 : 1;
	return memcmp(a, b, *(size_t *)key_size);
}

void tap_keyed_greatest_first(struct tap_keyed *k, size_t key_size, size_t size)
{
	unsigned int nr = 0;

	for (unsigned int i = 0; i < k->nr; i++)
		if (value_of(entry_at(k, i, size), key_size))
			memmove(entry_at(k, nr++, size), entry_at(k, i, size), size);
	k->nr = nr;
	if (nr)
		qsort_r(k->v, nr, size, by_value, &key_size);
}
