/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which of many streams has the earliest item: a tournament. Each inner node holds the loser of
 * the match played there, so that a new key of the winner is compared along one path only. The
 * keys lie together, apart from the streams.
 */
#ifndef TAP_RECORDING_MERGE_H
#define TAP_RECORDING_MERGE_H

#include <stdbool.h>
#include <stdint.h>

/* Of equal times the lower stream is earlier. */
struct tap_merge_key {
	uint64_t ts;
	uint64_t stream;
};

#define TAP_MERGE_END ((struct tap_merge_key){ UINT64_MAX, UINT64_MAX })

struct tap_merge {
	struct tap_merge_key *losers; /* [1, nr): node i's children are 2i and 2i + 1 */
	unsigned int nr;	      /* stream i is the leaf nr + i */
};

static inline bool tap_merge_before(struct tap_merge_key a, struct tap_merge_key b)
{
	/* no && and ||: which of two CPUs comes first cannot be predicted */
	return (a.ts < b.ts) | ((a.ts == b.ts) & (a.stream < b.stream));
}

/* The winner of the matches below @node, which are played. @first: the streams' keys. */
static inline struct tap_merge_key tap_merge_play(struct tap_merge *m, unsigned int node,
						  struct tap_merge_key (*first)(void *, unsigned int),
						  void *arg)
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

/* The winner @stream's new item has @key. Return: the winner now. */
static inline struct tap_merge_key tap_merge_replay(struct tap_merge *m, unsigned int stream,
						    struct tap_merge_key key)
{
	for (unsigned int i = (m->nr + stream) / 2; i; i /= 2) {
		struct tap_merge_key other = m->losers[i];
		bool swap = tap_merge_before(other, key);

		m->losers[i].ts = swap ? key.ts : other.ts;
		m->losers[i].stream = swap ? key.stream : other.stream;
		key.ts = swap ? other.ts : key.ts;
		key.stream = swap ? other.stream : key.stream;
	}
	return key;
}

/* Return: up to which time the winner @stream stays the winner. */
static inline uint64_t tap_merge_until(const struct tap_merge *m, unsigned int stream)
{
	struct tap_merge_key key = TAP_MERGE_END;

	for (unsigned int i = (m->nr + stream) / 2; i; i /= 2)
		if (tap_merge_before(m->losers[i], key))
			key = m->losers[i];
	return key.ts - (key.stream < stream);
}

#endif
