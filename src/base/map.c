// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/map.h"

#include <errno.h>
#include <stdlib.h>

static struct tap_map_slot *find_slot(const struct tap_map *m, uint64_t key)
{
	/* Fibonacci hashing spreads consecutive IDs; the multiplier must be odd */
	size_t i = (size_t)((key * 0x9e3779b97f4a7c15ULL) >> 32) & (m->cap - 1);

	while (m->slots[i].used && m->slots[i].key != key)
		i = (i + 1) & (m->cap - 1);
	return &m->slots[i];
}

void tap_map_release(struct tap_map *m)
{
	free(m->slots);
	*m = (struct tap_map){ 0 };
}

uint64_t *tap_map_get(const struct tap_map *m, uint64_t key)
{
	struct tap_map_slot *s;

	if (!m->nr)
		return NULL;
	s = find_slot(m, key);
	return s->used ? &s->value : NULL;
}

static bool grow_table(struct tap_map *m)
{
	struct tap_map bigger = { .nr = m->nr, .cap = m->cap ? m->cap * 2 : 64 };

	bigger.slots = calloc(bigger.cap, sizeof(*bigger.slots));
	if (!bigger.slots)
		return false;
	tap_map_for_each(m, s)
		*find_slot(&bigger, s->key) = *s;
	free(m->slots);
	*m = bigger;
	return true;
}

uint64_t *tap_map_put(struct tap_map *m, uint64_t key)
{
	struct tap_map_slot *s;

	if (m->nr >= m->cap / 2 && !grow_table(m))
		return NULL;
	s = find_slot(m, key);
	if (!s->used) {
		*s = (struct tap_map_slot){ .key = key, .used = true };
		m->nr++;
	}
	return &s->value;
}

int tap_map_set(struct tap_map *m, uint64_t key, uint64_t value)
{
	uint64_t *place = tap_map_put(m, key);

	if (place)
		*place = value;
	return place ? 0 : -ENOMEM;
}
