/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* An array whose entries begin with a key, @key_size bytes without padding, each of which it has
 * once. @size: of an entry. */
#ifndef TAP_BASE_KEYED_H
#define TAP_BASE_KEYED_H

#include "base/map.h"

struct tap_keyed { /* all zero: empty */
	void *v; /* owned; entries, in the order in which their keys came */
	unsigned int nr;
	/* inside */
	unsigned int cap;
	struct tap_map by_key;
};

void tap_keyed_release(struct tap_keyed *k);
/* The entry with this key, made if need be: zero behind the key. Return: it, until the next call;
 * NULL when out of memory. */
void *tap_keyed_get(struct tap_keyed *k, const void *key, size_t key_size, size_t size);
/*
 * Of entries with a u64 right behind their key: those where it is 0 are taken out, the others
 * ordered, the greatest first, and by key where it is the same. tap_keyed_get() is not called after
 * that.
 */
void tap_keyed_greatest_first(struct tap_keyed *k, size_t key_size, size_t size);

#endif
