/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Decompress chunks, some of them in advance: threads work on the next chunk of each stream while
 * the reader decodes the current one. Without threads (one CPU, or none could be started), or when
 * too much memory is in use, a chunk is decompressed when the reader needs it.
 *
 * All functions must be called by the reader's thread.
 */
#ifndef TAP_FILE_UNPACK_H
#define TAP_FILE_UNPACK_H

#include <stdbool.h>
#include <stddef.h>

struct ZSTD_DCtx_s;
struct tap_unpack_pool;

/* State shared by the streams of a reader. Initially all zero. */
struct tap_unpack {
	struct ZSTD_DCtx_s *zstd; /* context of the reader's thread; allocated when first needed */
	struct tap_unpack_pool *pool;
	bool no_pool;
	size_t bytes; /* size of all chunks' buffers */
};

enum tap_chunk_state {
	TAP_CHUNK_QUEUED,
	TAP_CHUNK_BUSY,
	TAP_CHUNK_DONE,
};

/*
 * A chunk. It must not be moved between tap_unpack_ahead() and tap_unpack_wait() or
 * tap_unpack_cancel().
 */
struct tap_chunk {
	const unsigned char *src; /* borrowed; NULL: no chunk */
	size_t len;
	unsigned char *data; /* owned: the decompressed chunk */
	size_t size, cap; /* decompressed size; capacity of .data */
	bool queued; /* in the threads' hands: their lock protects the members below */
	enum tap_chunk_state state;
	int ret;
	struct tap_chunk *next; /* next chunk in the queue */
};

/*
 * Decompress exactly @size bytes in the calling thread. Return: 0; -EINVAL if the frame is invalid
 * or has another size; -ENOMEM.
 */
int tap_unzstd(struct tap_unpack *u, const void *src, size_t len, void *dst, size_t size);
/* Decompress only the first @size bytes of a frame. Return: as for tap_unzstd(). */
int tap_unzstd_front(struct tap_unpack *u, const void *src, size_t len, void *dst, size_t size);

/* Queue @c (.src, .len and .size are set) for decompression by a thread, if possible now. */
void tap_unpack_ahead(struct tap_unpack *u, struct tap_chunk *c);
/* Wait until @c is decompressed in c->data. Return: as for tap_unzstd(). */
int tap_unpack_wait(struct tap_unpack *u, struct tap_chunk *c);
/* Drop the chunk, but keep its buffer. */
void tap_unpack_cancel(struct tap_unpack *u, struct tap_chunk *c);
/* Free the buffer of an unused chunk if all buffers together take much memory. */
void tap_unpack_trim(struct tap_unpack *u, struct tap_chunk *c);
void tap_chunk_release(struct tap_unpack *u, struct tap_chunk *c);
void tap_unpack_release(struct tap_unpack *u);

#endif
