// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "record/user/backlog.h"

#include <sys/mman.h>
#include <unistd.h>

#include "tracepoint/shared.h"

#ifndef MADV_POPULATE_WRITE /* since Linux 5.14 */
#define MADV_POPULATE_WRITE 23
#endif

#define CHUNK_BYTES (256u << 10) /* populating a chunk takes 60 us; a ring may fill in 700 us */
#define CHUNK_SUBS (CHUNK_BYTES / TAP_SUB_BYTES)
#define MAX_SPARE 64u /* reusing pages is ten times as fast as getting new ones */

struct tap_user_chunk {
	unsigned char data[CHUNK_BYTES];
	unsigned char slack[64]; /* makes a word-wise read past the last sub-buffer safe */
	struct tap_user_chunk *next;
};

void tap_user_pool_init(struct tap_user_pool *pool)
{
	uint64_t pages = (uint64_t)sysconf(_SC_PHYS_PAGES), page = (uint64_t)sysconf(_SC_PAGESIZE);

	*pool = (struct tap_user_pool){ .max = pages * page / 8 };
}

/*
 * Map a chunk and populate it at once, which takes half as long as page faults would. No huge
 * pages: in virtual machines they are often not backed by the host, and then take milliseconds.
 */
static struct tap_user_chunk *chunk_new(void)
{
	struct tap_user_chunk *c =
		mmap(NULL, sizeof(*c), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (c == MAP_FAILED)
		return NULL;
	madvise(c, sizeof(*c), MADV_POPULATE_WRITE);
	return c;
}

/* Return: NULL if the pool's limit is reached or out of memory. */
static struct tap_user_chunk *take_chunk(struct tap_user_pool *pool)
{
	struct tap_user_chunk *c = pool->spare;

	if (c) {
		pool->spare = c->next;
		pool->nr_spare--;
	} else if (pool->bytes + CHUNK_BYTES <= pool->max && (c = chunk_new()) != NULL) {
		pool->bytes += CHUNK_BYTES;
	}
	if (c)
		c->next = NULL;
	return c;
}

static void give_back(struct tap_user_pool *pool, struct tap_user_chunk *c)
{
	if (pool->nr_spare == MAX_SPARE) {
		pool->bytes -= CHUNK_BYTES;
		munmap(c, sizeof(*c));
		return;
	}
	c->next = pool->spare;
	pool->spare = c;
	pool->nr_spare++;
}

void tap_user_pool_release(struct tap_user_pool *pool)
{
	for (struct tap_user_chunk *c = pool->spare, *next; c; c = next) {
		next = c->next;
		munmap(c, sizeof(*c));
	}
	*pool = (struct tap_user_pool){ 0 };
}

unsigned char *tap_user_backlog_room(struct tap_user_backlog *b, struct tap_user_pool *pool)
{
	if (!b->last || b->last_at == CHUNK_SUBS) {
		struct tap_user_chunk *c = take_chunk(pool);

		if (!c)
			return NULL;
		*(b->last ? &b->last->next : &b->first) = c;
		b->last = c;
		b->last_at = 0;
	}
	return b->last->data + (size_t)b->last_at++ * TAP_SUB_BYTES;
}

unsigned char *tap_user_backlog_first(const struct tap_user_backlog *b)
{
	return b->first->data + (size_t)b->first_at * TAP_SUB_BYTES;
}

void tap_user_backlog_pop(struct tap_user_backlog *b, struct tap_user_pool *pool)
{
	struct tap_user_chunk *c = b->first;

	b->from += TAP_SUB_BYTES;
	if (++b->first_at < CHUNK_SUBS && b->from < b->to)
		return;
	b->first = c->next;
	b->first_at = 0;
	if (!b->first)
		b->last = NULL;
	give_back(pool, c);
}

void tap_user_backlog_release(struct tap_user_backlog *b, struct tap_user_pool *pool)
{
	while (b->from < b->to)
		tap_user_backlog_pop(b, pool);
}
