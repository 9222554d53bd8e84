/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * An array of entries with unique keys. Each entry, @size bytes long, starts with its key:
 * @key_size bytes without padding.
 */
#ifndef TAP_BASE_KEYED_H
#define TAP_BASE_KEYED_H

#include "base/map.h"

struct tap_keyed { /* zeroed: empty */
	void *v; /* owned; the entries, in the order in which they were added */
	unsigned int nr;
	/* internal */
	unsigned int cap;
	struct tap_map by_key;
};

void tap_keyed_release(struct tap_keyed *k);
/*
 * Find the entry with this key, or add one that is zero after the key. Return: the entry, valid
 * until the next call; NULL when out of memory.
 */
void *tap_keyed_get(struct tap_keyed *k, const void *key, size_t key_size, size_t size);
/*
 * For entries with a u64 right after the key: remove those whose u64 is 0, and sort the others by
 * descending u64, then by key. tap_keyed_get() must not be called afterwards.
 */
void tap_keyed_greatest_first(struct tap_keyed *k, size_t key_size, size_t size);

#endif
