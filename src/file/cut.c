// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "file/cut.h"

#include "file/cursor.h"

static void set_head(unsigned char *page, uint64_t stamp, uint64_t commit)
{
	memcpy(page, &stamp, sizeof(stamp));
	memcpy(page + sizeof(stamp), &commit, sizeof(commit));
}

/*
 * Split @page at c->at: move earlier events to @first, with the count of events lost before them,
 * and keep the others in @page.
 */
static void split_page(unsigned char *page, const struct tap_page_head *head,
		       const struct tap_page_abi *abi, const struct tap_cursor *c,
		       unsigned char *first)
{
	unsigned char *data = page + abi->data_offset;
	uint32_t used = (uint32_t)(c->at - data), rest = head->used - used;
	uint64_t commit = used;

	if (head->missed)
		commit |= TAP_PAGE_MISSED | (head->missed_cnt ? TAP_PAGE_MISSED_STORED : 0);
	memcpy(first, page, abi->data_offset + used);
	memset(first + abi->data_offset + used, 0, abi->page_size - abi->data_offset - used);
	if (head->missed_cnt) /* there is space: in @page it followed even more events */
		memcpy(first + abi->data_offset + used, &head->missed_cnt,
		       sizeof(head->missed_cnt));
	set_head(first, head->stamp, commit);
	memmove(data, c->at, rest);
	memset(data + rest, 0, abi->page_size - abi->data_offset - rest);
	set_head(page, c->ts, rest);
}

enum side { EARLIER, BOTH, LATER };

/*
 * Return on which side of the cut the events of @page are. If BOTH, split the sub-buffer. Damaged
 * events count as earlier.
 */
static enum side cut_page(unsigned char *page, const struct tap_page_abi *abi, uint64_t cut_ns,
			  unsigned char *first)
{
	struct tap_cursor c = { 0 }, before;
	struct tap_page_head head;

	if (!tap_page_parse(abi, page, &head))
		return EARLIER;
	tap_cursor_open(&c, abi, page, &head, 0);
	do {
		before = c;
		if (tap_cursor_step(&c) != TAP_STEP_EVENT)
			return EARLIER;
	} while (c.ts < cut_ns);
	if (before.at == page + abi->data_offset)
		return LATER;
	split_page(page, &head, abi, &before, first);
	return BOTH;
}

static uint64_t stamp_of(const unsigned char *page)
{
	uint64_t stamp;

	memcpy(&stamp, page, sizeof(stamp));
	return stamp;
}

size_t tap_cut_pages(unsigned char *pages, size_t len, uint32_t page_size, uint64_t cut_ns,
		     unsigned char *first, bool *is_split)
{
	const struct tap_page_abi abi = { .page_size = page_size,
					  .data_offset = TAP_PAGE_HEADER,
					  .commit_size = 8,
					  .big_endian = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ };

	*is_split = false;
	for (size_t at = 0; at < len; at += page_size) {
		enum side side;

		if (at + page_size < len && stamp_of(pages + at + page_size) < cut_ns)
			continue;
		side = cut_page(pages + at, &abi, cut_ns, first);
		*is_split = side == BOTH;
		if (side != EARLIER)
			return at;
	}
	return len;
}
