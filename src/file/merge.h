/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which of many streams has the earliest item: a tournament. Each inner node holds the loser of
 * the match played there, so that a new key of the winner is compared along one path only. The
 * keys lie together, apart from the streams.
 */
#ifndef TAP_FILE_MERGE_H
#define TAP_FILE_MERGE_H

#include <stdbool.h>
#include <stdint.h>

/* Of equal times the stream that lies first in the array is earlier. NULL: an ended one. */
struct tap_merge_key {
	uint64_t ts; /* of an ended one: UINT64_MAX */
	void *stream;
};

struct tap_merge {
	struct tap_merge_key *losers; /* [1, nr): node i's children are 2i and 2i + 1 */
	unsigned int nr; /* stream i is the leaf nr + i */
};

static inline bool tap_merge_before(struct tap_merge_key a, struct tap_merge_key b)
{
	/* NULL - 1 is behind all */
	return a.ts < b.ts || (a.ts == b.ts && (uintptr_t)a.stream - 1 < (uintptr_t)b.stream - 1);
}

/* Plays all matches below @node. @first: the streams' keys. Return: the winner. */
static inline struct tap_merge_key
tap_merge_play(struct tap_merge *m, unsigned int node,
	       struct tap_merge_key (*first)(void *, unsigned int), void *arg)
{
	struct tap_merge_key a, b;
	bool swap;

	if (node >= m->nr)
		return first(arg, node - m->nr);
	a = tap_merge_play(m, 2 * node, first, arg);
	b = tap_merge_play(m, 2 * node + 1, first, arg);
	swap = tap_merge_before(b, a);
	m->losers[node] = swap ? a : b;
	return swap ? b : a;
}

/*
 * The winner, the leaf below node @parent, has a new @key. Return: the winner now. With
 * branches, as they are often foretold rightly; without, each turn would wait for the last.
 */
static inline struct tap_merge_key tap_merge_replay(struct tap_merge *m, unsigned int parent,
						    struct tap_merge_key key)
{
	for (unsigned int i = parent; i; i /= 2) {
		struct tap_merge_key other = m->losers[i];

		if (tap_merge_before(other, key)) {
			m->losers[i] = key;
			key = other;
		}
	}
	return key;
}

/* Return: up to which time the winner @stream stays the winner. */
static inline uint64_t tap_merge_until(const struct tap_merge *m, unsigned int parent,
				       const void *stream)
{
	struct tap_merge_key key = { UINT64_MAX, NULL };

	for (unsigned int i = parent; i; i /= 2)
		if (tap_merge_before(m->losers[i], key))
			key = m->losers[i];
	return key.ts - (key.stream && key.stream < stream);
}

#endif
