// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/array.h"
#include "base/buf.h"
#include "event/format.h"
#include "file/dat_stream.h"
#include "file/sums.h"

#define PREFETCH_BYTES 2048
/*
 * Some writers include the 4-byte number of chunks in a CPU's size, others do not, so up to 4 bytes
 * may remain after the last chunk.
 */
#define CHUNK_SLACK 4u

/* Start a gap, up to the next event, that lacks an unknown number of events. */
static void note_damage(struct tap_stream *s)
{
	/* no event of this part was read yet: .from is the time of the last event before it */
	if (!s->gap.flag && !s->gap.damage)
		s->gap.first_ns = s->cur.ts || !s->part ? s->cur.ts : s->from;
	s->gap.damage = true;
}

static void note_missed(struct tap_stream *s, const struct tap_page_head *head)
{
	uint64_t before = s->gap.flag ? s->gap.flag_cnt : 0;

	if (!head->missed)
		return;
	if (!s->gap.flag && !s->gap.damage)
		s->gap.first_ns = s->cur.ts ? s->cur.ts : head->stamp;
	if (!head->missed_cnt || (s->gap.flag && !before) ||
	    __builtin_add_overflow(before, head->missed_cnt, &s->gap.flag_cnt))
		s->gap.flag_cnt = 0;
	s->gap.flag = true;
}

/*
 * If it is faster (file/page_cost.h), parts of the file are copied from the page cache and read
 * from that copy.
 */
#define COPIES_BYTES ((size_t)8 << 20) /* for all streams; each copy costs a system call */
#define COPY_MIN_BYTES ((size_t)32 << 10)
#define COPY_MAX_BYTES ((size_t)256 << 10)
#define MAX_COPYING 2048u /* with more streams than this, the mapping is read */
#define HUGE_PAGE_BYTES ((size_t)2 << 20)

/* Return where the sub-buffer at @page of the mapping can be read: in the copy, or else there. */
static const unsigned char *find_copy(const struct tap_stream *s, const unsigned char *page)
{
	size_t at = (size_t)((uintptr_t)page - (uintptr_t)s->file.from);

	return at < s->file.len ? s->file.copy + at : page;
}

/* Return true if the copy lacks @page or the next sub-buffer, whose time stamp is needed too. */
static bool wants_copy(const struct tap_stream *s, const unsigned char *page)
{
	const unsigned char *last =
		s->left.pages_end - page > s->abi.page_size ? page + s->abi.page_size : page;

	return s->file.room && s->file.fd >= 0 &&
	       (find_copy(s, page) == page || find_copy(s, last) == last);
}

/*
 * Skip a hole, which a power cut leaves in place of unwritten sub-buffers and which may be too long
 * to read. Return: true if at least one whole sub-buffer was skipped.
 */
static bool pass_hole(struct tap_stream *s)
{
	off_t at = s->left.page - s->file.mapped;
	off_t data = tap_find_data(s->file.fd, at, s->left.pages_end - s->file.mapped);

	if (data - at < s->abi.page_size)
		return false;
	s->left.page += (data - at) / s->abi.page_size * s->abi.page_size;
	return true;
}

/*
 * Return true if the block that contains @page matches its checksum. The last block of a file that
 * was cut cannot be checked; the cut itself is reported as a loss.
 */
static bool block_fits(struct tap_stream *s, const unsigned char *page)
{
	uint64_t index = (uint64_t)(page - s->whole.page) / s->sums.block,
		 from = index * s->sums.block;
	uint64_t len = s->sums.size - from < s->sums.block ? s->sums.size - from : s->sums.block;

	if (s->sums.known == index + 1)
		return s->sums.fits;
	s->sums.known = index + 1;
	s->sums.fits = from + len > (uint64_t)(s->whole.pages_end - s->whole.page) ||
		       tap_sums_of(s->whole.page + from, (size_t)len) ==
			       tap_get_u32(s->sums.of_blocks + index * sizeof(uint32_t),
					   s->abi.big_endian);
	return s->sums.fits;
}

/* Skip the rest of a damaged block. */
static void pass_block(struct tap_decoder *d, struct tap_stream *s)
{
	size_t left = (size_t)(s->left.pages_end - s->left.page);
	size_t in_block = s->sums.block - (size_t)(s->left.page - s->whole.page) % s->sums.block;

	d->nr_damaged++;
	s->left.page += in_block < left ? in_block : left;
}

/* Copy sub-buffers from @page on. */
static void copy_pages(struct tap_stream *s, const unsigned char *page)
{
	size_t len = (size_t)(s->left.pages_end - page);
	ssize_t n;

	n = pread(s->file.fd, s->file.copy, len < s->file.room ? len : s->file.room,
		  page - s->file.mapped);
	s->file.from = page;
	s->file.len = n > 0 ? (size_t)n - (size_t)n % s->abi.page_size : 0;
}

/* Return the time stamp of @page for ordering; 0: it has no events or is damaged. */
static uint64_t stamp_at(const struct tap_stream *s, const unsigned char *page)
{
	struct tap_page_head head;

	if ((size_t)(s->left.pages_end - page) < s->abi.page_size ||
	    !tap_page_parse(&s->abi, find_copy(s, page), &head) || !head.used)
		return 0;
	return head.stamp;
}

/*
 * Skip sub-buffers before the limit, by binary search. The last two that start before it are kept:
 * the second may have events inside the limit, and the first shows when a loss between both began.
 * The result relies on the second one's time stamp, so nothing is skipped if its block fails its
 * checksum.
 */
static void seek_page(const struct tap_decoder *d, struct tap_stream *s)
{
	size_t low = 0, high = (size_t)(s->left.pages_end - s->left.page) / s->abi.page_size;

	if (!s->from || !high)
		return;
	while (low < high) {
		size_t mid = low + (high - low) / 2;
		uint64_t stamp = stamp_at(s, s->left.page + mid * s->abi.page_size);

		/* empty sub-buffers can only be at the end */
		if (stamp && stamp < s->from)
			low = mid + 1;
		else
			high = mid;
	}
	if (low <= 2 || (d->verify && s->sums.of_blocks &&
			 !block_fits(s, s->left.page + (low - 1) * s->abi.page_size)))
		return;
	s->left.page += (low - 2) * s->abi.page_size;
}

/* Take the next chunk from @left. Return: false at the end. */
static bool take_chunk(struct tap_span *left, struct tap_chunk *c)
{
	uint32_t len, size;

	c->src = NULL;
	if (!left->nr_chunks) { /* the number of chunks may be damaged as well */
		left->cut |= left->exact && tap_bytes_left(&left->chunks) > CHUNK_SLACK;
		left->exact = false;
		return false;
	}
	left->nr_chunks--;
	len = tap_bytes_u32(&left->chunks);
	size = tap_bytes_u32(&left->chunks);
	c->src = tap_bytes_take(&left->chunks, len);
	if (size > TAP_CHUNK_MAX_BYTES)
		c->src = NULL;
	if (!c->src) { /* the following chunks cannot be located */
		left->cut = true;
		left->exact = false;
		left->nr_chunks = 0;
	}
	c->len = len;
	c->size = size;
	return c->src;
}

/* Return the time stamp of the first sub-buffer in the chunk at @place; 0: unknown. */
static uint64_t chunk_stamp(struct tap_decoder *d, const struct tap_stream *s,
			    const unsigned char *place, unsigned char *page)
{
	struct tap_span at = s->left;
	struct tap_page_head head;
	struct tap_chunk c;

	at.chunks.at = place;
	if (!take_chunk(&at, &c) || c.size < s->abi.page_size ||
	    tap_unzstd_front(&d->unpack, c.src, c.len, page, s->abi.page_size) ||
	    !tap_page_parse(&s->abi, page, &head) || !head.used)
		return 0;
	return head.stamp;
}

/*
 * List the positions of all chunks that can be located. Return: their number; the caller frees
 * *@places.
 */
static size_t list_chunks(const struct tap_stream *s, const unsigned char ***places)
{
	struct tap_span at = s->left;
	unsigned int nr = 0, cap = 0;
	struct tap_chunk c;

	do {
		if (tap_array_grow(places, nr, &cap, sizeof(**places)))
			return 0;
		(*places)[nr++] = at.chunks.at;
	} while (take_chunk(&at, &c));
	return nr - 1;
}

/*
 * Return true if the chunk at @place decompresses without error, so its time stamps can be trusted.
 */
static bool chunk_fits(struct tap_decoder *d, const struct tap_stream *s,
		       const unsigned char *place)
{
	struct tap_span at = s->left;
	unsigned char *pages;
	struct tap_chunk c;
	bool fits;

	at.chunks.at = place;
	if (!take_chunk(&at, &c))
		return false;
	pages = malloc(c.size + 1); /* + 1: malloc(0) may return NULL */
	fits = pages && !tap_unzstd(&d->unpack, c.src, c.len, pages, c.size);
	free(pages);
	return fits;
}

/*
 * Skip chunks before the limit like seek_page(), but decompress only the first sub-buffer of a few
 * chunks, and one whole chunk. Two chunks are kept, as the two sub-buffers may be in different
 * ones. On any failure nothing is skipped.
 */
static void seek_chunk(struct tap_decoder *d, struct tap_stream *s)
{
	const unsigned char **places = NULL;
	unsigned char *page;
	size_t low = 0, high;

	if (!s->from || s->left.nr_chunks < 3)
		return;
	high = list_chunks(s, &places);
	page = malloc(s->abi.page_size);
	while (page && low < high) {
		size_t mid = low + (high - low) / 2;
		uint64_t stamp = chunk_stamp(d, s, places[mid], page);

		if (stamp && stamp < s->from)
			low = mid + 1;
		else
			high = mid;
	}
	if (low > 2 && chunk_fits(d, s, places[low - 1])) {
		s->left.chunks.at = places[low - 2];
		s->left.nr_chunks -= (uint32_t)(low - 2);
	}
	free(page);
	free(places);
}

void tap_decoder_make_room(struct tap_decoder *d, struct tap_stream *streams, unsigned int nr)
{
	size_t room = COPIES_BYTES / (nr ? nr : 1), all;

	if (!nr || nr > MAX_COPYING)
		return;
	room = room < COPY_MIN_BYTES   ? COPY_MIN_BYTES
	       : room > COPY_MAX_BYTES ? COPY_MAX_BYTES
				       : room;
	all = (nr * room + HUGE_PAGE_BYTES - 1) / HUGE_PAGE_BYTES * HUGE_PAGE_BYTES;
	d->copies = aligned_alloc(HUGE_PAGE_BYTES, all);
	if (!d->copies)
		return;
	/* page faults are expensive in virtual machines */
	madvise(d->copies, all, MADV_HUGEPAGE);
	for (unsigned int i = 0; i < nr; i++) {
		streams[i].file.copy = d->copies + i * room;
		streams[i].file.room = room;
	}
}

static void take_part(struct tap_stream *s, unsigned int i)
{
	const struct tap_part *p = &s->parts[i];

	s->part = i;
	s->whole = p->whole;
	s->file.fd = p->fd;
	s->file.has_holes = p->has_holes;
	s->file.mapped = p->mapped;
	s->file.len = 0;
	s->sums.of_blocks = p->of_blocks;
	s->sums.block = p->block;
	s->sums.size = p->size;
	s->sums.known = 0;
}

void tap_stream_start(struct tap_decoder *d, struct tap_stream *s)
{
	tap_unpack_cancel(&d->unpack, &s->ahead);
	if (s->parts)
		take_part(s, 0);
	s->left = s->whole;
	s->from = d->from;
	s->cur = (struct tap_cursor){ 0 };
	s->at = s->end = s->ready;
	for (unsigned int i = 0; i < TAP_NR_READY; i++)
		s->ready[i] = (struct tap_event){ .cpu = s->cpu, .buffer = s->buffer };
	s->item = s->following = TAP_ITEM_NONE;
	s->careful = true;
	s->fresh = s->outside = false;
	s->gap.flag = s->gap.damage = false;
	seek_page(d, s);
	seek_chunk(d, s);
}

static uint64_t span_bytes(const struct tap_span *s)
{
	return (uint64_t)(s->nr_chunks ? s->chunks.end - s->chunks.at : s->pages_end - s->page);
}

/* Return the bytes read of the current part. .left is zeroed at the end of the stream. */
static uint64_t part_done(const struct tap_stream *s)
{
	const struct tap_span *all = &s->whole, *left = &s->left;

	if (all->nr_chunks)
		return left->chunks.at ? (uint64_t)(left->chunks.at - all->chunks.at)
				       : span_bytes(all);
	return left->page ? (uint64_t)(left->page - all->page) : span_bytes(all);
}

uint64_t tap_stream_done(const struct tap_stream *s, uint64_t *whole)
{
	uint64_t before = 0;

	*whole = s->parts ? 0 : span_bytes(&s->whole);
	for (unsigned int i = 0; i < s->nr_parts; i++) {
		*whole += span_bytes(&s->parts[i].whole);
		before += i < s->part ? span_bytes(&s->parts[i].whole) : 0;
	}
	return before + part_done(s);
}

static void look_ahead(struct tap_decoder *d, struct tap_stream *s)
{
	if (s->ahead.src || take_chunk(&s->left, &s->ahead))
		tap_unpack_ahead(&d->unpack, &s->ahead);
}

/*
 * Return: 1 with sub-buffers; 0 at the end; -E2BIG: the file decompresses to too much (budget.h);
 * -ENOMEM.
 */
static int next_chunk(struct tap_decoder *d, struct tap_stream *s, struct tap_err *err)
{
	while (s->ahead.src || take_chunk(&s->left, &s->ahead)) {
		struct tap_chunk old = s->now;
		int ret = tap_unpack_wait(&d->unpack, &s->ahead);

		if (ret == -ENOMEM)
			return tap_err_set(err, ret, "out of memory");
		s->now = s->ahead;
		s->ahead = old;
		s->ahead.src = NULL;
		tap_unpack_trim(&d->unpack, &s->ahead);
		if (ret || !s->now.size || s->now.size % s->abi.page_size)
			note_damage(s);
		d->nr_damaged += !!ret;
		if (ret || s->now.size < s->abi.page_size)
			continue;
		s->left.page = s->now.data;
		s->left.pages_end = s->now.data + s->now.size - s->now.size % s->abi.page_size;
		seek_page(d, s);
		return 1;
	}
	return 0;
}

/*
 * Return true if a sub-buffer's time stamp is plausible. One that is far too late would make all
 * later sub-buffers look like the past. So if the following sub-buffer is earlier, the one after
 * that decides which of the two is damaged.
 */
static bool stamp_fits(const struct tap_stream *s, uint64_t stamp, uint64_t next)
{
	if (stamp < s->cur.ts)
		return s->cur.ts - stamp <= TAP_CURSOR_SLACK_NS;
	if (!next || next < s->cur.ts || next + TAP_CURSOR_SLACK_NS >= stamp)
		return true;
	return stamp_at(s, s->left.page + s->abi.page_size) >= stamp;
}

/*
 * Charge a decompressed sub-buffer with @used bytes of events to the budget. Empty ones cost a
 * quarter of their size: zstd compresses them to nearly nothing, and real recordings may have many.
 * Return: 0; -E2BIG.
 */
static int charge_page(const struct tap_decoder *d, const struct tap_stream *s, uint32_t used,
		       struct tap_err *err)
{
	if (!s->now.src || !d->budget)
		return 0;
	return tap_budget_add(d->budget, TAP_COST_PAGES, used + s->abi.page_size / 4, err);
}

/* Note missing events if the file, or the recording, ended before this CPU's events did. */
static void note_end(struct tap_decoder *d, struct tap_stream *s)
{
	if (s->left.cut) {
		note_damage(s);
		d->nr_damaged++;
	}
	if (s->left.open_end)
		note_damage(s);
}

/*
 * Continue with the next part, if there is one. Its events that are before the last event read are
 * skipped. Return: false if there is no other part.
 */
static bool next_part(struct tap_decoder *d, struct tap_stream *s)
{
	const struct tap_part *p;

	if (s->part + 1 >= s->nr_parts)
		return false;
	p = &s->parts[s->part + 1];
	note_end(d, s);
	if (p->gap_from != UINT64_MAX) {
		if (!s->gap.flag && !s->gap.damage)
			s->gap.first_ns = p->gap_from > s->cur.ts ? p->gap_from : s->cur.ts;
		s->gap.damage = true;
	}
	if (s->from < s->cur.ts)
		s->from = s->cur.ts;
	if (s->from < p->from)
		s->from = p->from;
	take_part(s, s->part + 1);
	s->cur = (struct tap_cursor){ 0 };
	s->now.src = NULL;
	s->left = s->whole;
	seek_page(d, s);
	seek_chunk(d, s);
	return true;
}

/*
 * Open the next sub-buffer that has events. Return: 1; 0 at the end; -E2BIG or -ENOMEM, see
 * next_chunk().
 */
static int next_page(struct tap_decoder *d, struct tap_stream *s, struct tap_err *err)
{
	for (;;) {
		const unsigned char *page = s->left.page;
		struct tap_page_head head;
		uint64_t next;
		bool is_page;

		if (page == s->left.pages_end) {
			int ret = next_chunk(d, s, err);

			if (ret < 0)
				return ret;
			if (!ret && !next_part(d, s))
				return 0;
			continue;
		}
		look_ahead(d, s);
		if (d->verify && s->sums.of_blocks && !block_fits(s, page)) {
			note_damage(s);
			pass_block(d, s);
			continue;
		}
		if (wants_copy(s, page)) {
			if (s->file.has_holes && pass_hole(s)) {
				note_damage(s);
				continue;
			}
			copy_pages(s, page);
		}
		s->left.page += s->abi.page_size;
		page = find_copy(s, page);
		next = stamp_at(s, s->left.page);
		/* its time stamp is needed next */
		__builtin_prefetch(find_copy(s, s->left.page) + s->abi.page_size);
		is_page = tap_page_parse(&s->abi, page, &head);
		if (charge_page(d, s, is_page ? head.used : s->abi.page_size, err))
			return -E2BIG;
		/*
		 * The kernel never writes an empty sub-buffer without a time stamp; a power cut
		 * leaves those.
		 */
		if (!is_page || !(head.used || head.stamp || head.missed) ||
		    (head.used && !stamp_fits(s, head.stamp, next))) {
			note_damage(s);
			continue;
		}
		note_missed(s, &head);
		if (!head.used)
			continue;
		tap_cursor_open(&s->cur, &s->abi, page, &head, next);
		s->outside = s->cur.ts < s->from || s->cur.max_ts > d->to;
		s->careful = s->fresh = true;
		tap_decoder_page(d);
		return 1;
	}
}

static void mark_slots(struct tap_decoder *d, struct tap_format *const *formats, unsigned int nr)
{
	for (unsigned int i = 0; i < nr; i++) {
		struct tap_slot *slot = &d->slots[formats[i]->id];

		slot->mark = d->mark && !slot->is_lost ? d->mark(d->mark_ctx, formats[i]) : 1;
		slot->is_marked = slot->mark;
	}
}

void tap_decoder_mark(struct tap_decoder *d, struct tap_format *const *formats, unsigned int nr,
		      uint16_t (*mark)(void *ctx, const struct tap_format *fmt), void *ctx)
{
	d->mark = mark;
	d->mark_ctx = ctx;
	mark_slots(d, formats, nr);
	mark_slots(d, d->unknown, d->nr_unknown);
}

int tap_decoder_add_unknown(struct tap_decoder *d, unsigned int id, struct tap_err *err)
{
	static const char fields[] =
		"format:\n"
		"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
		"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
		"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
		"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n"
		"\n"
		"print fmt: \"\"\n";
	struct tap_abi abi = { .big_endian = d->big_endian, .long_size = d->long_size };
	struct tap_format *fmt;
	char text[sizeof(fields) + 32];
	int ret;

	if (tap_array_grow(&d->unknown, d->nr_unknown, &d->cap_unknown, sizeof(*d->unknown)))
		return tap_err_nomem(err);
	snprintf(text, sizeof(text), "name: unknown\nID: %u\n%s", id, fields);
	ret = tap_format_parse("", text, strlen(text), abi, &fmt, err);
	if (ret)
		return ret;
	d->unknown[d->nr_unknown++] = fmt;
	d->slots[id] = (struct tap_slot){ .fmt = fmt, .min_size = fmt->min_size };
	mark_slots(d, &fmt, 1);
	return 0;
}

/* The first record of a sub-buffer ends the loss before it. */
static void first_record(struct tap_stream *s)
{
	s->fresh = false;
	if (s->item == TAP_ITEM_LOST)
		s->gap.flag = false; /* the record reports the same loss more exactly */
	if (!s->gap.flag && !s->gap.damage)
		return;
	s->following = s->slot->mark ? s->item : TAP_ITEM_NONE;
	s->item = TAP_ITEM_GAP;
}

static bool in_window(const struct tap_decoder *d, const struct tap_stream *s)
{
	return s->cur.ts >= s->from && s->cur.ts <= d->to;
}

static void finish_stream(struct tap_decoder *d, struct tap_stream *s)
{
	tap_unpack_cancel(&d->unpack, &s->ahead);
	s->left = (struct tap_span){ 0 };
	s->careful = true;
	s->cur.at = s->cur.end = NULL;
	s->item = TAP_ITEM_NONE;
}

static void put_tail(struct tap_decoder *d, struct tap_stream *s)
{
	note_end(d, s);
	finish_stream(d, s);
	if (s->grows)
		return;
	if (s->gap.flag || s->gap.damage)
		s->item = TAP_ITEM_TAIL;
}

static uint64_t lost_field(const struct tap_stream *s, const char *name)
{
	return tap_field_u64(tap_format_field(s->slot->fmt, name), s->cur.rec, s->cur.size);
}

/*
 * Handle an item outside the limit. A loss that began inside is still returned. Return: true if the
 * stream's next item, or its end, is now known.
 */
static bool take_outside(struct tap_decoder *d, struct tap_stream *s)
{
	enum tap_item item = s->item;

	if (s->cur.ts < s->from) {
		d->span.before |= s->cur.ts < d->from;
		s->gap.flag = s->gap.damage = false;
		return false;
	}
	d->span.beyond = true;
	finish_stream(d, s);
	if ((item == TAP_ITEM_GAP && s->gap.first_ns <= d->to) ||
	    (item == TAP_ITEM_LOST && lost_field(s, "first_ns") <= d->to))
		s->item = item;
	s->following = TAP_ITEM_NONE;
	return true;
}

/* Leave a loss. Return: true if the next item is already known: the event after the gap. */
static bool leave_gap(struct tap_stream *s)
{
	s->careful = s->outside;
	s->gap.flag = s->gap.damage = false;
	s->item = s->item == TAP_ITEM_GAP ? s->following : TAP_ITEM_NONE;
	return s->item != TAP_ITEM_NONE;
}

/* Take the record at the cursor. Return: 1 with s->item set; 0 if it is not wanted; -errno. */
static int take_odd(struct tap_decoder *d, struct tap_stream *s, struct tap_err *err)
{
	if (!s->slot->fmt) {
		int ret = tap_decoder_add_unknown(d, (unsigned int)(s->slot - d->slots), err);

		if (ret)
			return ret;
	}
	if (s->cur.size < s->slot->fmt->min_size) {
		note_damage(s);
		s->cur.at = s->cur.end;
		return 0;
	}
	s->item = s->slot->is_lost ? TAP_ITEM_LOST : TAP_ITEM_EVENT;
	if (s->fresh)
		first_record(s);
	s->careful = s->item == TAP_ITEM_GAP || s->outside;
	if (d->beyond && s->cur.ts > d->to)
		d->span.beyond = true;
	else if (!in_window(d, s))
		return take_outside(d, s);
	else if (!s->slot->is_lost)
		tap_decoder_passed(d, s->slot, s->cur.ts, s->cur.size);
	return s->item != TAP_ITEM_EVENT || s->slot->mark;
}

/*
 * Decode ordinary events to @from, as many as there are and fit. @big_endian is a constant after
 * inlining.
 */
static inline __attribute__((always_inline)) bool
decode_as(bool big_endian, struct tap_decoder *d, struct tap_stream *s, struct tap_event *from)
{
	struct tap_cursor cur = s->cur;
	struct tap_event *to = from, *full = s->ready + d->nr_ready;
	struct tap_slot *slots = d->slots;
	uint64_t bytes = 0;

	cur.big_endian = big_endian;
	while (to < full) {
		struct tap_cursor next = cur;
		struct tap_slot *slot;

		if (!tap_cursor_plain(&next))
			break;
		slot = &slots[tap_get_u16(next.rec, big_endian)];
		/*
		 * 0 for an id without a format: 0 - 1 wraps, and all its records are left to
		 * take_odd()
		 */
		if (__builtin_expect(next.size <= slot->min_size - 1, 0))
			break;
		/* hardware prefetchers cannot follow many streams */
		__builtin_prefetch(next.at + PREFETCH_BYTES);
		slot->passed++;
		bytes += next.size;
		to->ts_ns = next.ts;
		to->fmt = slot->fmt;
		to->data = next.rec;
		to->size = next.size;
		to->mark = slot->mark;
		to += slot->is_marked;
		cur = next;
	}
	/*
	 * The first event of a sub-buffer is never decoded here, so only the end of the span can
	 * grow.
	 */
	if (cur.ts > d->span.last_ns)
		d->span.last_ns = cur.ts;
	d->span.bytes += bytes;
	s->cur.at = cur.at;
	s->cur.ts = cur.ts;
	s->at = s->ready;
	s->end = to;
	return to > from;
}

/* Not inlined: registers are scarce even so. */
static __attribute__((noinline)) bool decode_big(struct tap_decoder *d, struct tap_stream *s,
						 struct tap_event *from)
{
	return decode_as(true, d, s, from);
}

static __attribute__((noinline)) bool decode_little(struct tap_decoder *d, struct tap_stream *s,
						    struct tap_event *from)
{
	return decode_as(false, d, s, from);
}

/* Decode events to @from and after it. Return: true if there is at least one. */
static bool decode_events(struct tap_decoder *d, struct tap_stream *s, struct tap_event *from)
{
	if (s->careful)
		return false;
	return d->big_endian ? decode_big(d, s, from) : decode_little(d, s, from);
}

/* Store the single item that was found. */
static void put_item(struct tap_stream *s)
{
	bool is_event = s->item == TAP_ITEM_EVENT;

	s->at = s->ready;
	s->end = s->ready + (s->item != TAP_ITEM_NONE);
	*s->ready = (struct tap_event){
		.ts_ns = s->item == TAP_ITEM_TAIL ? UINT64_MAX : s->cur.ts,
		.fmt = is_event ? s->slot->fmt : NULL,
		.data = is_event ? s->cur.rec : NULL,
		.size = is_event ? s->cur.size : 0,
		.mark = is_event ? s->slot->mark : 0,
		.cpu = s->cpu,
		.buffer = s->buffer,
	};
}

/* Return: 1 with decoded events; 0 with s->item set; -E2BIG or -ENOMEM, see next_chunk(). */
static int find_item(struct tap_decoder *d, struct tap_stream *s, struct tap_err *err)
{
	if (s->item >= TAP_ITEM_GAP && leave_gap(s))
		return 0;
	while (!decode_events(d, s, s->ready)) {
		enum tap_step step = tap_cursor_step(&s->cur);
		int ret;

		if (step == TAP_STEP_EVENT) {
			s->slot = &d->slots[tap_get_u16(s->cur.rec, s->cur.big_endian)];
			ret = take_odd(d, s, err);
			if (ret)
				return ret < 0 ? ret : 0;
			continue;
		}
		if (step == TAP_STEP_DAMAGE)
			note_damage(s);
		ret = next_page(d, s, err);
		if (ret < 0)
			return ret;
		if (!ret) {
			put_tail(d, s);
			return 0;
		}
	}
	s->item = TAP_ITEM_EVENT;
	return 1;
}

int tap_stream_refill(struct tap_decoder *d, struct tap_stream *s, struct tap_err *err)
{
	int ret = find_item(d, s, err);

	if (!ret) {
		put_item(s);
		/* usually the first event of its sub-buffer: decode those that follow */
		if (s->item == TAP_ITEM_EVENT)
			decode_events(d, s, s->end);
	}
	return ret < 0 ? ret : 0;
}

void tap_stream_feed(struct tap_stream *s, const unsigned char *pages, const unsigned char *end)
{
	s->left.page = pages;
	s->left.pages_end = end;
}

void tap_stream_skip(struct tap_decoder *d, struct tap_stream *s)
{
	finish_stream(d, s);
	s->gap.flag = s->gap.damage = false;
	s->at = s->end;
}

static const struct tap_format *format_of(const struct tap_decoder *d, uint64_t type)
{
	return type && type < TAP_NR_SLOTS ? d->slots[type].fmt : NULL;
}

void tap_stream_get_loss(const struct tap_decoder *d, struct tap_stream *s)
{
	struct tap_event *ev = &s->loss;

	*ev = (struct tap_event){ .ts_ns = s->cur.ts, .cpu = s->cpu, .buffer = s->buffer };
	if (s->item == TAP_ITEM_LOST) {
		ev->cpu = (int32_t)lost_field(s, s->slot->is_off ? "off_cpu" : "lost_cpu");
		ev->lost.count = lost_field(s, "count");
		ev->lost.first_ns = lost_field(s, "first_ns");
		ev->lost.last_ns = lost_field(s, "last_ns");
		ev->lost.is_off = s->slot->is_off;
		if (ev->lost.is_off)
			ev->lost.off = format_of(d, lost_field(s, "event_type"));
	} else {
		ev->lost.count = s->gap.damage ? 0 : s->gap.flag_cnt;
		ev->lost.first_ns = s->gap.first_ns;
		/* a CPU may have a loss, but no event */
		ev->lost.last_ns = s->cur.ts ? s->cur.ts : s->gap.first_ns;
	}
	if (ev->cpu < -1 || ev->cpu >= (int)TAP_DAT_MAX_CPUS)
		ev->cpu = -1;
	if (ev->lost.last_ns > TAP_CURSOR_MAX_NS)
		ev->lost.last_ns = TAP_CURSOR_MAX_NS;
	if (ev->lost.first_ns > ev->lost.last_ns)
		ev->lost.first_ns = ev->lost.last_ns;
}

void tap_stream_release(struct tap_decoder *d, struct tap_stream *s)
{
	tap_unpack_cancel(&d->unpack, &s->ahead);
	tap_chunk_release(&d->unpack, &s->ahead);
	tap_chunk_release(&d->unpack, &s->now);
	free(s->parts);
}

void tap_decoder_release(struct tap_decoder *d)
{
	for (unsigned int i = 0; i < d->nr_unknown; i++)
		tap_format_free(d->unknown[i]);
	free(d->unknown);
	free(d->slots);
	free(d->copies);
	tap_unpack_release(&d->unpack);
}
