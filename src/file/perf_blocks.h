/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Memory for records of a perf.data that are being sorted: copied from the file, decompressed or
 * made. Released blocks are reused, because the first access to memory is expensive.
 */
#ifndef TAP_FILE_PERF_BLOCKS_H
#define TAP_FILE_PERF_BLOCKS_H

#include <stddef.h>
#include <stdint.h>

#define TAP_PERF_BLOCK_BYTES (((size_t)2 << 20) - sizeof(struct tap_perf_block))

struct tap_perf_block {
	struct tap_perf_block *older;
	uint64_t round; /* round of the last record in this block */
	size_t from; /* for a copy: the file offset of its first byte */
	size_t len, parsed;
	unsigned char data[];
};

struct tap_perf_blocks {
	struct tap_perf_block *newest, *spare;
	unsigned int nr; /* without the spare blocks */
};

/* Add an empty block, which becomes the newest. Return: the block; NULL: out of memory. */
struct tap_perf_block *tap_perf_blocks_add(struct tap_perf_blocks *blocks);
/* Release all blocks, except the newest, whose last records are from a round before @round. */
void tap_perf_blocks_let_go(struct tap_perf_blocks *blocks, uint64_t round);
void tap_perf_blocks_let_go_all(struct tap_perf_blocks *blocks);
void tap_perf_blocks_release(struct tap_perf_blocks *blocks);

#endif
