// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "record/stack_seen.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define SET_WORDS (TAP_STACK_WORDS / 64)

/* The words in which each address of a stack was found in all walks so far. */
struct sight {
	unsigned int below, nr; /* range of addresses: the first one, and one after the last */
	/* a bit for each word; index 0 is address .below */
	uint64_t places[TAP_STACK_SEEN_FRAMES][SET_WORDS];
};

/*
 * Find the highest possible word for each address, in the order of the addresses. Return: the
 * number of leading addresses for which there is none.
 */
static unsigned int find_highest(const struct tap_stack_shown *shown, unsigned int nr,
				 uint16_t *places)
{
	for (unsigned int at = (unsigned int)shown->nr_words; at && nr;) {
		at--;
		if (shown->words[at] == shown->addrs[nr - 1])
			places[--nr] = (uint16_t)at;
	}
	return nr;
}

/* Find the lowest possible word for each address from @below on. */
static void find_lowest(const struct tap_stack_shown *shown, unsigned int below, unsigned int nr,
			uint16_t *places)
{
	for (unsigned int at = 0; at < shown->nr_words && below < nr; at++)
		if (shown->words[at] == shown->addrs[below])
			places[below++] = (uint16_t)at;
}

/*
 * Find all words in which each address may be, given the order of the addresses. Return: false:
 * they are not there.
 */
static bool find_places(const struct tap_stack_shown *shown, unsigned int own, unsigned int nr,
			struct sight *now)
{
	uint16_t low[TAP_STACK_MAX_DEPTH], high[TAP_STACK_MAX_DEPTH];

	*now = (struct sight){ .below = find_highest(shown, nr, high), .nr = nr };
	if (now->below > own || now->below == nr || nr - now->below > TAP_STACK_SEEN_FRAMES)
		return false;
	find_lowest(shown, now->below, nr, low);
	for (unsigned int i = now->below; i < nr; i++)
		for (unsigned int at = low[i]; at <= high[i]; at++)
			if (shown->words[at] == shown->addrs[i])
				now->places[i - now->below][at / 64] |= 1ull << at % 64;
	return true;
}

static void intersect_places(struct sight *s, const struct sight *now)
{
	/*
	 * The range of addresses differs, because copies were taken for the return addresses of
	 * lower frames: start over.
	 */
	if (s->below != now->below || s->nr != now->nr) {
		*s = *now;
		return;
	}
	for (unsigned int i = 0; i < TAP_STACK_SEEN_FRAMES; i++)
		for (unsigned int k = 0; k < SET_WORDS; k++)
			s->places[i][k] &= now->places[i][k];
}

/* Return: the only bit; -1: there are none or several. */
static int only_place(const uint64_t *places)
{
	int place = -1;

	for (unsigned int k = 0; k < SET_WORDS; k++) {
		if (!places[k])
			continue;
		if (place >= 0 || (places[k] & (places[k] - 1)))
			return -1;
		place = (int)(k * 64) + __builtin_ctzll(places[k]);
	}
	return place;
}

static bool fill_seen(const struct sight *s, const struct tap_stack_shown *shown,
		      struct tap_stack_seen *seen)
{
	for (unsigned int i = 0; i < s->nr - s->below; i++) {
		int place = only_place(s->places[i]);

		if (place < 0 || (i && place <= seen->places[i - 1]))
			return false;
		seen->places[i] = (unsigned short)place;
		seen->addrs[i] = shown->addrs[s->below + i];
		seen->words = (unsigned int)place + 1;
	}
	seen->nr = s->nr - s->below;
	return true;
}

static struct sight *get_sight(struct tap_stack_sights *s, uint32_t number)
{
	uint64_t *slot;

	if (s->v.nr >= TAP_STACK_SIGHTS_MAX && !tap_map_get(&s->v, number))
		tap_stack_sights_release(s);
	slot = tap_map_put(&s->v, number);
	if (slot && !*slot)
		*slot = (uint64_t)(uintptr_t)calloc(1, sizeof(struct sight));
	return slot ? (struct sight *)(uintptr_t)*slot : NULL;
}

bool tap_stack_sights_add(struct tap_stack_sights *s, const struct tap_stack_shown *shown,
			  unsigned int own, unsigned int nr, struct tap_stack_seen *seen)
{
	struct sight now, *all;

	if (!nr || nr > TAP_STACK_MAX_DEPTH || shown->nr_words >= TAP_STACK_WORDS)
		return false;
	*seen = (struct tap_stack_seen){ .number = shown->seen_number, .key = shown->key };
	if (shown->top == shown->addrs[nr - 1]) {
		seen->top = shown->top;
		nr--;
	}
	if (!find_places(shown, own, nr, &now))
		return false;
	all = get_sight(s, shown->seen_number);
	if (!all)
		return false;
	if (all->nr)
		intersect_places(all, &now);
	else
		*all = now;
	return fill_seen(all, shown, seen);
}

void tap_stack_sights_release(struct tap_stack_sights *s)
{
	tap_map_for_each(&s->v, slot)
		free((void *)(uintptr_t)slot->value);
	tap_map_release(&s->v);
}

/* Return: the stack's entry in the set, or an empty one, or the one to replace next. */
static struct tap_stack_seen *choose_slot(struct tap_stack_sights *s, struct tap_stack_seen *set,
					  const struct tap_stack_seen *seen)
{
	struct tap_stack_seen *empty = NULL;

	for (unsigned int i = 0; i < TAP_STACK_WAYS; i++) {
		if (set[i].key == seen->key && set[i].number == seen->number)
			return &set[i];
		if (!set[i].key && !empty)
			empty = &set[i];
	}
	return empty ? empty : &set[s->turn++ % TAP_STACK_WAYS];
}

void tap_stack_sights_put(struct tap_stack_sights *s, struct tap_stack_seen *table,
			  const struct tap_stack_seen *seen)
{
	struct tap_stack_seen *to = choose_slot(
		s, table + tap_stack_set(seen->key, TAP_STACK_LOOK_SETS) * TAP_STACK_WAYS, seen);
	unsigned int version = to->version;

	__atomic_store_n(&to->version, version + 1, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	memcpy((char *)to + sizeof(version), (const char *)seen + sizeof(version),
	       sizeof(*seen) - sizeof(version));
	__atomic_store_n(&to->version, version + 2, __ATOMIC_RELEASE);
}
