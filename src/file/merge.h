/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Find the stream with the earliest item, by a tournament tree. Each inner node holds the loser of
 * its match, so a new key of the winner is compared along one path only. The keys are stored
 * together, apart from the streams.
 */
#ifndef TAP_FILE_MERGE_H
#define TAP_FILE_MERGE_H

#include <stdbool.h>
#include <stdint.h>

/* At equal times, the stream at the lower address wins. .stream NULL: the stream has ended. */
struct tap_merge_key {
	uint64_t ts; /* UINT64_MAX if the stream has ended */
	void *stream;
};

struct tap_merge {
	struct tap_merge_key *losers; /* [1, nr): node i's children are 2i and 2i + 1 */
	unsigned int nr; /* stream i is the leaf nr + i */
};

static inline bool tap_merge_before(struct tap_merge_key a, struct tap_merge_key b)
{
	/* NULL - 1 is larger than any pointer */
	return a.ts < b.ts || (a.ts == b.ts && (uintptr_t)a.stream - 1 < (uintptr_t)b.stream - 1);
}

/* Play all matches below @node. @first returns a stream's key. Return: the winner. */
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
 * Give the winner, which is the leaf below @parent, a new @key. Return: the new winner. Branches
 * are used because they are often predicted correctly; conditional moves would make each turn
 * depend on the previous one.
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

/* Return the time up to which the winner @stream remains the winner. */
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
