/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One CPU of one buffer as a row of items: its events, and where something is missing, a loss
 * in front of the first event behind it. Pages are read where they lie in the mapped file, or
 * from one decompressed chunk at a time.
 */
#ifndef TAP_FILE_DAT_STREAM_H
#define TAP_FILE_DAT_STREAM_H

#include <schedtap/reader.h>

#include "file/budget.h"
#include "file/cursor.h"
#include "file/unpack.h"

#define TAP_DAT_MAX_CPUS 8192u /* the most that CONFIG_NR_CPUS can be */
#define TAP_CHUNK_MAX_BYTES ((size_t)64 << 20)

/* What a record's type means: a table with one slot for each of the 65536 ids. */
struct tap_slot {
	const struct tap_format *fmt; /* NULL: no record had this id yet, and no format has */
	uint64_t passed; /* how many went by, wanted or not, within the limit */
	uint32_t min_size; /* UINT32_MAX: not an ordinary record */
	uint16_t mark; /* 0: not wanted */
	bool is_marked; /* it is not 0 */
	bool is_lost; /* schedtap:events_lost, or events_off */
	bool is_off; /* the latter */
};

#define TAP_NR_SLOTS 65536u

/* What all streams of a reader share. */
struct tap_decoder {
	struct tap_slot *slots;
	struct tap_reader_span span; /* of what went by, raw times */
	uint16_t (*mark)(void *ctx, const struct tap_format *fmt); /* NULL: all are wanted */
	void *mark_ctx;
	void (*watch)(void *ctx); /* or NULL */
	void *watch_ctx;
	unsigned int nr_pages; /* opened so far */
	unsigned int nr_ready; /* events that a stream decodes at once, up to TAP_NR_READY */
	uint64_t nr_damaged; /* chunks and blocks, in this pass */
	uint64_t most_damaged; /* in one pass before it */
	bool verify; /* pages that have checksums */
	uint64_t from, to; /* of the raw stamps; what lies outside is left out */
	bool beyond; /* what lies behind is not left out, only not counted */
	bool big_endian;
	uint8_t long_size;
	struct tap_format **unknown; /* made for ids that no format describes */
	unsigned int nr_unknown, cap_unknown;
	struct tap_unpack unpack;
	struct tap_budget *budget; /* the reader's; NULL: no limit */
	unsigned char *copies; /* owned: where the streams copy pages to */
};

enum tap_item {
	TAP_ITEM_NONE, /* before the first, and at the end */
	TAP_ITEM_EVENT,
	TAP_ITEM_LOST, /* a record that tells of a loss */
	TAP_ITEM_GAP, /* a loss; behind it comes .behind */
	TAP_ITEM_TAIL, /* a loss that nothing comes after */
};

/* What of a CPU's pages is still to be read. */
struct tap_span {
	const unsigned char *page, *pages_end; /* not yet opened */
	struct tap_bytes chunks; /* not yet decompressed */
	uint32_t nr_chunks;
	bool cut; /* the file ends before this CPU's pages do */
	bool exact; /* behind the last chunk is nothing */
	bool open_end; /* the recorder did not end it: events may be missing after the last one */
};

/* The pages that one of several files of the same recorder has of a CPU (join.h). */
struct tap_part {
	struct tap_span whole;
	int fd;
	bool has_holes;
	const unsigned char *mapped;
	const unsigned char *of_blocks;
	uint32_t block;
	uint64_t size;
	/* raw time: earlier events are in the part before as well, and are left out */
	uint64_t from;
	uint64_t gap_from; /* raw time: since then events may be missing; UINT64_MAX: none are */
};

#define TAP_NR_READY 96u /* a page holds some 70 switches */

struct tap_stream {
	/*
	 * The next item, and behind the last that is decoded. A loss stands alone, with the time of
	 * its place in the order (a tail's is UINT64_MAX): tap_stream_get_loss() has the rest.
	 */
	struct tap_event *at, *end;
	int cpu;
	unsigned int buffer;
	unsigned int parent; /* in the tournament */
	struct tap_cursor cur; /* behind the items that are decoded */
	struct tap_slot *slot;
	enum tap_item item, behind;
	/* The next record needs a look: it may end a loss, or lie outside the window. */
	bool careful;
	bool fresh; /* no event of the page was taken yet */
	bool outside; /* some of the page's events may lie outside the window */
	bool grows; /* at the end more pages may come: tap_stream_feed() */
	struct tap_page_abi abi;
	struct tap_span left, whole; /* of the current part, if there are several */
	struct tap_part *parts; /* owned, in the order of time; NULL: there is one */
	unsigned int nr_parts, part;
	uint64_t from; /* raw time: events before are left out */
	struct { /* that the pages are in, if they are not compressed */
		int fd; /* -1: they are read where they are mapped */
		bool has_holes;
		const unsigned char *mapped; /* its first byte */
		const unsigned char *from; /* [from, from + len) are in .copy */
		size_t len;
		unsigned char *copy; /* .room bytes, the decoder's */
		size_t room; /* 0: there is none */
	} file;
	struct { /* of pages that are not compressed, from .whole.page on; NULL: none */
		const unsigned char *of_blocks; /* u32 each */
		uint32_t block; /* bytes */
		uint64_t size; /* of all pages, as they were written */
		uint64_t known; /* of this block, counted from 1, */
		bool fits; /* it is known whether it is what was written */
	} sums;
	struct tap_chunk now, ahead;
	struct {
		bool flag, damage;
		uint64_t flag_cnt; /* 0: not known */
		uint64_t first_ns;
	} gap;
	struct tap_event loss; /* as it is handed out */
	struct tap_event ready[TAP_NR_READY]; /* .cpu and .buffer stay as they are */
};

/* Once all streams are there: room for what each copies of its file. Without memory there is none.
 */
void tap_decoder_make_room(struct tap_decoder *d, struct tap_stream *streams, unsigned int nr);

/* Begins again with the first page that may reach into the window. */
void tap_stream_start(struct tap_decoder *d, struct tap_stream *s);

/* Bytes of the stream in the file that were begun, and all of them. */
uint64_t tap_stream_done(const struct tap_stream *s, uint64_t *whole);

/* tap_reader_watch() is told of one page more. */
static inline void tap_decoder_page(struct tap_decoder *d)
{
	if (__builtin_expect(!(++d->nr_pages % 256) && d->watch, 0))
		d->watch(d->watch_ctx);
}

/*
 * Moves on, where no item is left that was decoded: to s->at. At the end that is s->end, and
 * s->item is TAP_ITEM_NONE. Events are decoded a few at a time, as far as nothing comes between.
 * Return: 0; -E2BIG: the recording decompresses to too much (budget.h); -ENOMEM.
 */
int tap_stream_refill(struct tap_decoder *d, struct tap_stream *s, struct tap_err *err);

/*
 * Of a stream that grows, which is at its end: the whole pages in [@pages, @end) come next. They
 * stay where they are until the stream is at its end again.
 */
void tap_stream_feed(struct tap_stream *s, const unsigned char *pages, const unsigned char *end);

/* Passes over all that is left. */
void tap_stream_skip(struct tap_decoder *d, struct tap_stream *s);

/*
 * Fills in s->loss, of the current item. Of a tail the end is not known here: .last_ns is where
 * the stream stopped.
 */
void tap_stream_get_loss(const struct tap_decoder *d, struct tap_stream *s);

void tap_stream_release(struct tap_decoder *d, struct tap_stream *s);
void tap_decoder_release(struct tap_decoder *d);

/* Forgets what went by of the @formats, and of those that none has. */
static inline void tap_decoder_begin(struct tap_decoder *d, struct tap_format *const *formats,
				     unsigned int nr)
{
	for (unsigned int i = 0; i < nr; i++)
		d->slots[formats[i]->id].passed = 0;
	for (unsigned int i = 0; i < d->nr_unknown; i++)
		d->slots[d->unknown[i]->id].passed = 0;
	if (d->budget)
		d->budget->bytes[TAP_COST_PAGES] = d->budget->bytes[TAP_COST_PARENTS] = 0;
	d->span = (struct tap_reader_span){ .first_ns = UINT64_MAX };
	if (d->nr_damaged > d->most_damaged)
		d->most_damaged = d->nr_damaged;
	d->nr_damaged = 0;
}

static inline void tap_decoder_span(struct tap_decoder *d, uint64_t first_ts, uint64_t last_ts,
				    uint64_t bytes)
{
	d->span.bytes += bytes;
	if (first_ts < d->span.first_ns)
		d->span.first_ns = first_ts;
	if (last_ts > d->span.last_ns)
		d->span.last_ns = last_ts;
}

static inline void tap_decoder_passed(struct tap_decoder *d, struct tap_slot *slot, uint64_t ts,
				      size_t bytes)
{
	slot->passed++;
	tap_decoder_span(d, ts, ts, bytes);
}

/* Makes a format with the common fields alone for an @id that has none. Return: 0; -ENOMEM. */
int tap_decoder_add_unknown(struct tap_decoder *d, unsigned int id, struct tap_err *err);

/* tap_reader_mark(), of the @formats and those that none has. */
void tap_decoder_mark(struct tap_decoder *d, struct tap_format *const *formats, unsigned int nr,
		      uint16_t (*mark)(void *ctx, const struct tap_format *fmt), void *ctx);

#endif
