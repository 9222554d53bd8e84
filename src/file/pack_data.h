/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Copy one CPU's sub-buffers from its page file into the packed file: unchanged, or in zstd chunks,
 * which may already have been made while recording.
 */
#ifndef TAP_FILE_PACK_DATA_H
#define TAP_FILE_PACK_DATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "file/held.h"

/*
 * Measured bytes and CPU time in ns per event, for 11 MB of sched_switch and sched_waking
 * sub-buffers (57 bytes per event), and for 5 MB of all default events (47 bytes), where time
 * stamps alone take 2.8 bytes:
 *
 *   level, chunk     1, 256k    3, 256k    5, 256k     1, 1M      9, 1M
 *   switch, waking   4.5  60    4.6  75    4.3 230    4.4  55    3.8  530
 *   all              8.4 115    8.1 135    7.6 300    8.1 110    7.1  750
 *
 * A reader has one decompressed chunk per CPU, so small chunks save its memory.
 */
#define TAP_PACK_LEVEL 1
#define TAP_PACK_CHUNK_BYTES ((size_t)256 << 10)

struct tap_packer_data;

/* The packed file. All functions append at .pos and advance it. */
struct tap_pack_out {
	int fd;
	uint64_t pos;
	uint64_t done, whole; /* progress over all CPUs, in bytes */
	void (*show)(void *ctx, uint64_t done, uint64_t whole); /* reports progress; may be NULL */
	void *ctx;
};

/* Allocate the compression state. Return: 0; -ENOMEM. */
int tap_packer_data_new(int level, struct tap_packer_data **out);
void tap_packer_data_free(struct tap_packer_data *d);

/* A range of whole sub-buffers in a page file, or in a lane in memory. */
struct tap_pages {
	uint64_t from, to;
	uint32_t page_size;
	int fd; /* used if .lane is NULL */
	const struct tap_held *held;
	const struct tap_held_lane *lane;
};

/*
 * Limit @pages->to, initially an upper bound, to the whole sub-buffers in the page file. Of empty
 * sub-buffers at its end only the first is kept: after a power cut a file may be longer than the
 * data that reached the disk. Return: 0; -EINVAL if it is not a regular file; -errno.
 */
int tap_pages_find(struct tap_pages *pages);

/*
 * Copy @pages unchanged. Sub-buffers that were freed from memory meanwhile become empty ones.
 * Return: 0; -ENODATA if the file has become shorter; -ENOSPC, ...
 */
int tap_pages_copy(const struct tap_pages *pages, struct tap_pack_out *out);
/*
 * A page file that is compressed while recording has the layout of a CPU's data in a trace.dat: a
 * u32 with the number of chunks (here 0), followed by the chunks. The last may be incomplete.
 */
#define TAP_CHUNKS_HEADER 4u
/*
 * Compress whole sub-buffers into a chunk. @chunk: set to its bytes, valid until the next call.
 * Return: 0; -ENOMEM.
 */
int tap_chunk_make(struct tap_packer_data *d, const void *pages, size_t len, const void **chunk,
		   size_t *chunk_len);
/*
 * Copy a compressed page file. Where chunks never reached the disk before a power cut, an empty
 * sub-buffer replaces them and all that follows. Return: 0; -errno.
 */
int tap_chunks_copy(struct tap_packer_data *d, int fd, uint32_t page_size,
		    struct tap_pack_out *out);
/*
 * Compress @pages into chunks, in one thread per CPU, at most two. Return: 0; -EFBIG; -ENOMEM;
 * -errno.
 */
int tap_pages_compress(struct tap_packer_data *d, const struct tap_pages *pages,
		       struct tap_pack_out *out);

#endif
