/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What was copied out of rings that fill faster than their records are converted: whole
 * sub-buffers, which wait in our own memory. A ring holds a fraction of a millisecond then, and to
 * copy costs a third of converting.
 */
#ifndef TAP_RECORD_USER_BACKLOG_H
#define TAP_RECORD_USER_BACKLOG_H

#include <stdbool.h>
#include <stdint.h>

struct tap_user_chunk;

/* The memory of all rings' backlogs. All 0 is one that gives nothing. */
struct tap_user_pool {
	uint64_t bytes, max; /* taken; at most */
	struct tap_user_chunk *spare; /* used before: its pages are there */
	unsigned int nr_spare;
};

/* A ring's; all 0 is an empty one. */
struct tap_user_backlog {
	/* positions in the ring's stream, of sub-buffers; from == to: it is empty */
	uint64_t from, to;
	struct tap_user_chunk *first, *last;
	/* the oldest sub-buffer in the first chunk; the next free one in the last */
	unsigned int first_at, last_at;
};

/* Room for an eighth of the machine's memory. */
void tap_user_pool_init(struct tap_user_pool *pool);
void tap_user_pool_release(struct tap_user_pool *pool);

/*
 * Room for the sub-buffer at ->to, which the caller fills and counts (->to).
 * Return: NULL: there is no more memory.
 */
unsigned char *tap_user_backlog_room(struct tap_user_backlog *b, struct tap_user_pool *pool);
/* The oldest one; there must be one. */
unsigned char *tap_user_backlog_first(const struct tap_user_backlog *b);
/* It is no longer needed. */
void tap_user_backlog_pop(struct tap_user_backlog *b, struct tap_user_pool *pool);
void tap_user_backlog_release(struct tap_user_backlog *b, struct tap_user_pool *pool);

static inline bool tap_user_backlog_has(const struct tap_user_backlog *b, uint64_t pos)
{
	return pos >= b->from && pos < b->to;
}

#endif
