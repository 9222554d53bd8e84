/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Moving one CPU's pages from its spool file into the packed file: as they are, or in zstd
 * chunks, into which they may have been put while recording.
 */
#ifndef TAP_FILE_PACK_DATA_H
#define TAP_FILE_PACK_DATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "file/held.h"

/*
 * Measured, bytes and ns of one CPU per event: 11 MB of sched_switch and sched_waking pages (57
 * bytes per event), and 5 MB with every default event (47), where time stamps alone take 2.8.
 *
 *   level, chunk     1, 256k    3, 256k    5, 256k     1, 1M      9, 1M
 *   switch, waking   4.5  60    4.6  75    4.3 230    4.4  55    3.8  530
 *   all              8.4 115    8.1 135    7.6 300    8.1 110    7.1  750
 *
 * A reader holds one chunk per CPU: small ones keep it small.
 */
#define TAP_PACK_LEVEL 1
#define TAP_PACK_CHUNK_BYTES ((size_t)256 << 10)

struct tap_packer_data;

/* The packed file. All append at its .pos and move that on. */
struct tap_pack_out {
	int fd;
	uint64_t pos;
	uint64_t done, whole; /* bytes: how far all pages have come */
	void (*show)(void *ctx, uint64_t done, uint64_t whole); /* or NULL */
	void *ctx;
};

/* Return: 0; -ENOMEM. */
int tap_packer_data_new(int level, struct tap_packer_data **out);
void tap_packer_data_free(struct tap_packer_data *d);

/* An interval of a page file, or of what is held in memory: whole pages. */
struct tap_pages {
	uint64_t from, to;
	uint32_t page_size;
	int fd; /* unless .lane */
	const struct tap_held *held;
	const struct tap_held_lane *lane;
};

/*
 * The pages in the first @pages->to bytes of the file. Of empty ones at its end only the first
 * counts: a power cut may leave a file longer than what reached the disk. Return: 0; -EINVAL if it
 * is no regular file; -errno.
 */
int tap_pages_find(struct tap_pages *pages);

/* Return: 0; -ENODATA if the file has become shorter; -ENOSPC, ... What is held no more is empty
 * pages. */
int tap_pages_copy(const struct tap_pages *pages, struct tap_pack_out *out);
/*
 * A page file that is compressed while recording looks as a CPU's data in a trace.dat: a u32 for
 * the number of chunks, here 0, and the chunks. The last one may be cut.
 */
#define TAP_CHUNKS_HEADER 4u
/* Makes a chunk of whole pages. @chunk: its bytes, until the next call. Return: 0; -ENOMEM. */
int tap_chunk_make(struct tap_packer_data *d, const void *pages, size_t len, const void **chunk,
		   size_t *chunk_len);
/* Where chunks were never written, by a power cut, an empty page stands for them and what followed.
 */
int tap_chunks_copy(struct tap_packer_data *d, int fd, uint32_t page_size,
		    struct tap_pack_out *out);
/* Chunks are compressed by as many threads as there are CPUs, two at most. */
int tap_pages_compress(struct tap_packer_data *d, const struct tap_pages *pages,
		       struct tap_pack_out *out);

#endif
