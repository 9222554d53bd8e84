/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Sub-buffers that were copied out of rings which fill faster than their records can be converted.
 * The copies wait in the recorder's own memory: a busy ring holds less than a millisecond of
 * records, and copying takes a third of the time of converting.
 */
#ifndef TAP_RECORD_USER_BACKLOG_H
#define TAP_RECORD_USER_BACKLOG_H

#include <stdbool.h>
#include <stdint.h>

struct tap_user_chunk;

/* Memory for the backlogs of all rings. An all-zero pool provides no memory. */
struct tap_user_pool {
	uint64_t bytes, max; /* bytes allocated; limit */
	struct tap_user_chunk *spare; /* unused chunks whose pages are already present */
	unsigned int nr_spare;
};

/* One ring's backlog. All zero is an empty one. */
struct tap_user_backlog {
	/* range of sub-buffers, as positions in the ring's stream; from == to: empty */
	uint64_t from, to;
	struct tap_user_chunk *first, *last;
	/*
	 * index of the oldest sub-buffer in the first chunk, and of the next free one in the last
	 */
	unsigned int first_at, last_at;
};

/* Allow an eighth of the machine's memory. */
void tap_user_pool_init(struct tap_user_pool *pool);
void tap_user_pool_release(struct tap_user_pool *pool);

/*
 * Get room for the sub-buffer at ->to. The caller fills it and then advances ->to. Return: NULL if
 * the pool's limit is reached or out of memory.
 */
unsigned char *tap_user_backlog_room(struct tap_user_backlog *b, struct tap_user_pool *pool);
/* Return the oldest sub-buffer; the backlog must not be empty. */
unsigned char *tap_user_backlog_first(const struct tap_user_backlog *b);
/* Drop the oldest sub-buffer; the backlog must not be empty. */
void tap_user_backlog_pop(struct tap_user_backlog *b, struct tap_user_pool *pool);
void tap_user_backlog_release(struct tap_user_backlog *b, struct tap_user_pool *pool);

static inline bool tap_user_backlog_has(const struct tap_user_backlog *b, uint64_t pos)
{
	return pos >= b->from && pos < b->to;
}

#endif
