// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "file/perf_blocks.h"

#include <stdlib.h>
#include <sys/mman.h>

#define HUGE_PAGE_BYTES ((size_t)2 << 20)

_Static_assert(sizeof(struct tap_perf_block) + TAP_PERF_BLOCK_BYTES == HUGE_PAGE_BYTES,
	       "one huge page each");

struct tap_perf_block *tap_perf_blocks_add(struct tap_perf_blocks *blocks)
{
	struct tap_perf_block *b = blocks->spare;

	if (b) {
		blocks->spare = b->older;
	} else {
		b = aligned_alloc(HUGE_PAGE_BYTES, HUGE_PAGE_BYTES);
		if (!b)
			return NULL;
		madvise(b, HUGE_PAGE_BYTES, MADV_HUGEPAGE);
	}
	*b = (struct tap_perf_block){ .older = blocks->newest };
	blocks->newest = b;
	blocks->nr++;
	return b;
}

/* Move the block at *@link, and all older ones, to the spare list. */
static void let_go(struct tap_perf_blocks *blocks, struct tap_perf_block **link)
{
	while (*link) {
		struct tap_perf_block *b = *link;

		*link = b->older;
		b->older = blocks->spare;
		blocks->spare = b;
		blocks->nr--;
	}
}

void tap_perf_blocks_let_go(struct tap_perf_blocks *blocks, uint64_t round)
{
	struct tap_perf_block **link;

	if (!blocks->newest)
		return;
	link = &blocks->newest->older;
	while (*link && (*link)->round >= round)
		link = &(*link)->older;
	let_go(blocks, link);
}

void tap_perf_blocks_let_go_all(struct tap_perf_blocks *blocks)
{
	let_go(blocks, &blocks->newest);
}

void tap_perf_blocks_release(struct tap_perf_blocks *blocks)
{
	tap_perf_blocks_let_go_all(blocks);
	while (blocks->spare) {
		struct tap_perf_block *b = blocks->spare;

		blocks->spare = b->older;
		free(b);
	}
}
