/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Memory that records of a perf.data lie in while they are put into order: copied from the file, or
 * unpacked. What was let go is taken again, for memory that is touched for the first time is dear.
 */
#ifndef TAP_FILE_PERF_BLOCKS_H
#define TAP_FILE_PERF_BLOCKS_H

#include <stddef.h>
#include <stdint.h>

#define TAP_PERF_BLOCK_BYTES (((size_t)2 << 20) - sizeof(struct tap_perf_block))

struct tap_perf_block {
	struct tap_perf_block *older;
	uint64_t round; /* that had the last of its records */
	size_t from; /* of a copy: where in the file its first byte is */
	size_t len, parsed;
	unsigned char data[];
};

struct tap_perf_blocks {
	struct tap_perf_block *newest, *spare;
	unsigned int nr; /* without the spare ones */
};

/* Adds an empty block: it is the newest then. Return: it, or NULL: out of memory. */
struct tap_perf_block *tap_perf_blocks_add(struct tap_perf_blocks *blocks);
/* Lets go all blocks but the newest whose last records were of a round before @round. */
void tap_perf_blocks_let_go(struct tap_perf_blocks *blocks, uint64_t round);
void tap_perf_blocks_let_go_all(struct tap_perf_blocks *blocks);
void tap_perf_blocks_release(struct tap_perf_blocks *blocks);

#endif
