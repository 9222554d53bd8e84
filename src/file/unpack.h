/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Decompressing chunks, some of them ahead of their use: threads work on the next chunk of each
 * stream while the reader decodes the current one. Without threads (one CPU, or none can be
 * made) and where the memory for it is used up, a chunk is decompressed when it is waited for.
 *
 * All functions are called by the reader's thread.
 */
#ifndef TAP_FILE_UNPACK_H
#define TAP_FILE_UNPACK_H

#include <stdbool.h>
#include <stddef.h>

struct ZSTD_DCtx_s;
struct tap_unpack_pool;

/* Shared by the streams of a reader; all zero at first. */
struct tap_unpack {
	struct ZSTD_DCtx_s *zstd; /* of the reader's thread; made when first needed */
	struct tap_unpack_pool *pool;
	bool no_pool;
	size_t bytes; /* of all chunks' buffers */
};

enum tap_chunk_state {
	TAP_CHUNK_QUEUED,
	TAP_CHUNK_BUSY,
	TAP_CHUNK_DONE,
};

/* Stays where it is from tap_unpack_ahead() to tap_unpack_wait() or tap_unpack_cancel(). */
struct tap_chunk {
	const unsigned char *src; /* borrowed; NULL: no chunk */
	size_t len;
	unsigned char *data; /* owned */
	size_t size, cap; /* decompressed; of the buffer */
	bool queued; /* the threads know of it: what follows is under their lock */
	enum tap_chunk_state state;
	int ret;
	struct tap_chunk *next; /* in the queue */
};

/*
 * Decompresses exactly @size bytes, here and now.
 * Return: 0; -EINVAL if that is not what they hold; -ENOMEM.
 */
int tap_unzstd(struct tap_unpack *u, const void *src, size_t len, void *dst, size_t size);
/* The first @size bytes of more. Return: as tap_unzstd(). */
int tap_unzstd_front(struct tap_unpack *u, const void *src, size_t len, void *dst, size_t size);

/* Has @c (with .src, .len and .size) decompressed by a thread, if that is possible now. */
void tap_unpack_ahead(struct tap_unpack *u, struct tap_chunk *c);
/* Until @c is there, in c->data. Return: as tap_unzstd(). */
int tap_unpack_wait(struct tap_unpack *u, struct tap_chunk *c);
/* Gives up the chunk; the buffer stays. */
void tap_unpack_cancel(struct tap_unpack *u, struct tap_chunk *c);
/* Frees the buffer of a chunk nobody works on, unless there is memory to keep it. */
void tap_unpack_trim(struct tap_unpack *u, struct tap_chunk *c);
void tap_chunk_release(struct tap_unpack *u, struct tap_chunk *c);
void tap_unpack_release(struct tap_unpack *u);

#endif
