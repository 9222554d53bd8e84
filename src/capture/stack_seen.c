// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "capture/stack_seen.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define MAX_BELOW 4u /* frames of the program and of what called it with its context, which lie below that */

/* As high as they can be. Return: how many of the first have none. */
static unsigned int find_highest(const struct tap_stack_shown *shown, unsigned int nr, uint16_t *places)
{
	for (unsigned int at = (unsigned int)shown->nr_words; at && nr;) {
		at--;
		if (shown->words[at] == shown->addrs[nr - 1])
			places[--nr] = (uint16_t)at;
	}
	return nr;
}

/* Whether they are as low as they can be, too: then there are no others. */
static bool are_lowest(const struct tap_stack_shown *shown, unsigned int below, unsigned int nr, const uint16_t *places)
{
	for (unsigned int at = 0; at < shown->nr_words && below < nr; at++)
		if (shown->words[at] == shown->addrs[below] && places[below++] != at)
			return false;
	return true;
}

bool tap_stack_seen_find(const struct tap_stack_shown *shown, unsigned int nr, struct tap_stack_seen *seen)
{
	uint16_t places[TAP_STACK_MAX_DEPTH];
	unsigned int below;

	if (nr > TAP_STACK_MAX_DEPTH || shown->nr_words >= TAP_STACK_WORDS)
		return false;
	below = find_highest(shown, nr, places);
	if (below > MAX_BELOW || below == nr || nr - below > TAP_STACK_SEEN_FRAMES || !are_lowest(shown, below, nr, places))
		return false;
	*seen = (struct tap_stack_seen){
		.number = shown->seen_number,
		.key = shown->key,
		.nr = nr - below,
		.words = places[nr - 1] + 1u,
	};
	memcpy(seen->places, places + below, seen->nr * sizeof(*places));
	memcpy(seen->addrs, shown->addrs + below, seen->nr * sizeof(*seen->addrs));
	return true;
}

/* The same, or one where nothing is, or whose turn it is. */
static struct tap_stack_seen *choose(struct tap_stack_seen *set, unsigned int *turn, const struct tap_stack_seen *seen)
{
	struct tap_stack_seen *empty = NULL;

	for (unsigned int i = 0; i < TAP_STACK_WAYS; i++) {
		if (set[i].key == seen->key && set[i].number == seen->number)
			return &set[i];
		if (!set[i].key && !empty)
			empty = &set[i];
	}
	return empty ? empty : &set[(*turn)++ % TAP_STACK_WAYS];
}

void tap_stack_seen_put(struct tap_stack_seen *table, unsigned int *turn, const struct tap_stack_seen *seen)
{
	struct tap_stack_seen *to = choose(table + tap_stack_set(seen->key, TAP_STACK_LOOK_SETS) * TAP_STACK_WAYS, turn, seen);
	unsigned int version = to->version;

	__atomic_store_n(&to->version, version + 1, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	memcpy((char *)to + sizeof(version), (const char *)seen + sizeof(version), sizeof(*seen) - sizeof(version));
	__atomic_store_n(&to->version, version + 2, __ATOMIC_RELEASE);
}
