/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The stream of one CPU in one buffer: a sequence of events, with a loss before the first event
 * that follows missing data. Sub-buffers are read in place from the mapped file, or from one
 * decompressed chunk at a time.
 */
#ifndef TAP_FILE_DAT_STREAM_H
#define TAP_FILE_DAT_STREAM_H

#include <schedtap/reader.h>

#include "file/budget.h"
#include "file/cursor.h"
#include "file/unpack.h"

#define TAP_DAT_MAX_CPUS 8192u /* the kernel's largest CONFIG_NR_CPUS */
#define TAP_CHUNK_MAX_BYTES ((size_t)64 << 20)

/* What the reader knows about an event id. A table has one slot for each of the 65536 ids. */
struct tap_slot {
	/* NULL: no format has this id, and no record with it was read yet */
	const struct tap_format *fmt;
	uint64_t passed; /* events read within the limit, wanted or not */
	uint32_t min_size; /* smallest valid record; UINT32_MAX: needs special handling */
	uint16_t mark; /* value for the event's .mark; 0: not wanted */
	bool is_marked; /* .mark is not 0 */
	bool is_lost; /* schedtap:events_lost or schedtap:events_off */
	bool is_off; /* schedtap:events_off */
};

#define TAP_NR_SLOTS 65536u

/* State shared by all streams of a reader. */
struct tap_decoder {
	struct tap_slot *slots;
	struct tap_reader_span span; /* what was read so far, in raw time stamps */
	/* see tap_reader_mark(); NULL: all are wanted */
	uint16_t (*mark)(void *ctx, const struct tap_format *fmt);
	void *mark_ctx;
	void (*watch)(void *ctx); /* see tap_reader_watch(); may be NULL */
	void *watch_ctx;
	unsigned int nr_pages; /* sub-buffers opened so far */
	unsigned int nr_ready; /* events that a stream decodes at once, 1..TAP_NR_READY */
	uint64_t nr_damaged; /* damaged chunks and blocks in this pass */
	uint64_t most_damaged; /* the largest number of an earlier pass */
	bool verify; /* compare sub-buffers with their checksums */
	uint64_t from, to; /* limit in raw time stamps; events outside are skipped */
	bool beyond; /* return events after .to, but do not count them */
	bool big_endian;
	uint8_t long_size;
	struct tap_format **unknown; /* formats made for ids that the recording does not describe */
	unsigned int nr_unknown, cap_unknown;
	struct tap_unpack unpack;
	struct tap_budget *budget; /* the reader's; NULL: no limits */
	unsigned char *copies; /* owned: memory into which streams copy sub-buffers */
};

enum tap_item {
	TAP_ITEM_NONE, /* before the first item, and at the end */
	TAP_ITEM_EVENT,
	TAP_ITEM_LOST, /* a record that reports a loss */
	TAP_ITEM_GAP, /* a loss, followed by the event in .following, if any */
	TAP_ITEM_TAIL, /* a loss that no event follows */
};

/* A CPU's data that remains to be read. */
struct tap_span {
	const unsigned char *page, *pages_end; /* sub-buffers not yet opened */
	struct tap_bytes chunks; /* chunks not yet decompressed */
	uint32_t nr_chunks;
	bool cut; /* the file ends before this CPU's data does */
	bool exact; /* no data may follow the last chunk */
	bool open_end; /* the recorder did not finish this data: the last events may be missing */
};

/*
 * One CPU's data in one of several files of the same recorder (join.h). The members without a
 * comment are as in struct tap_stream.
 */
struct tap_part {
	struct tap_span whole;
	int fd;
	bool has_holes;
	const unsigned char *mapped;
	const unsigned char *of_blocks;
	uint32_t block;
	uint64_t size;
	/* raw time: earlier events are in the preceding part as well, and are skipped */
	uint64_t from;
	/* raw time from which events may be missing; UINT64_MAX: none are missing */
	uint64_t gap_from;
};

#define TAP_NR_READY 96u /* a sub-buffer holds about 70 sched_switch events */

struct tap_stream {
	/*
	 * The next item, and the end of the decoded ones. A loss is always a single item: its time
	 * stamp places it in the order (UINT64_MAX for a tail), and tap_stream_get_loss() returns
	 * the rest.
	 */
	struct tap_event *at, *end;
	int cpu;
	unsigned int buffer;
	unsigned int parent; /* its node in the tournament (merge.h) */
	struct tap_cursor cur; /* after the decoded items */
	struct tap_slot *slot;
	enum tap_item item, following;
	/* The next record needs checking: it may end a loss, or be outside the limit. */
	bool careful;
	bool fresh; /* no event of the current sub-buffer was read yet */
	bool outside; /* some events of the current sub-buffer may be outside the limit */
	bool grows; /* after its end, tap_stream_feed() may add sub-buffers */
	struct tap_page_abi abi;
	struct tap_span left, whole; /* of the current part, if there are several */
	struct tap_part *parts; /* owned, in time order; NULL: there is only one */
	unsigned int nr_parts, part;
	uint64_t from; /* raw time: earlier events are skipped */
	struct { /* the file with the sub-buffers, if they are not compressed */
		int fd; /* -1: read from the mapping only */
		bool has_holes;
		const unsigned char *mapped; /* start of the mapping */
		/* .copy has the bytes [from, from + len) of the mapping */
		const unsigned char *from;
		size_t len;
		unsigned char *copy; /* .room bytes of the decoder's .copies */
		size_t room; /* 0: no copy is made */
	} file;
	struct { /* checksums of uncompressed sub-buffers, from .whole.page on */
		const unsigned char *of_blocks; /* one u32 per block; NULL: no checksums */
		uint32_t block; /* bytes per block */
		uint64_t size; /* bytes of all sub-buffers when they were written */
		uint64_t known; /* block that was checked last, counted from 1; 0: none */
		bool fits; /* that block matches its checksum */
	} sums;
	struct tap_chunk now, ahead;
	struct {
		bool flag, damage;
		uint64_t flag_cnt; /* number of lost events; 0: unknown */
		uint64_t first_ns;
	} gap;
	struct tap_event loss; /* see tap_stream_get_loss() */
	struct tap_event ready[TAP_NR_READY]; /* .cpu and .buffer never change */
};

/*
 * Allocate the memory into which streams copy parts of their files. Call it once all streams exist.
 * If that fails, they read from the mappings.
 */
void tap_decoder_make_room(struct tap_decoder *d, struct tap_stream *streams, unsigned int nr);

/* Start over with the first sub-buffer that may have events within the limit. */
void tap_stream_start(struct tap_decoder *d, struct tap_stream *s);

/*
 * Return the number of the stream's bytes in the file that reading has reached. @whole: set to
 * their total.
 */
uint64_t tap_stream_done(const struct tap_stream *s, uint64_t *whole);

/* Count a sub-buffer for tap_reader_watch(). */
static inline void tap_decoder_page(struct tap_decoder *d)
{
	if (__builtin_expect(!(++d->nr_pages % 256) && d->watch, 0))
		d->watch(d->watch_ctx);
}

/*
 * Decode the next items once s->at has reached s->end. At the end of the stream both are equal, and
 * s->item is TAP_ITEM_NONE. Several events are decoded at once unless something unusual is between
 * them. Return: 0; -E2BIG if the recording decompresses to too much (budget.h); -ENOMEM.
 */
int tap_stream_refill(struct tap_decoder *d, struct tap_stream *s, struct tap_err *err);

/*
 * Append the sub-buffers in [@pages, @end) to a stream that grows and is at its end. The memory
 * must stay valid until the stream is at its end again.
 */
void tap_stream_feed(struct tap_stream *s, const unsigned char *pages, const unsigned char *end);

/* Skip the rest of the stream. */
void tap_stream_skip(struct tap_decoder *d, struct tap_stream *s);

/*
 * Fill in s->loss for the current item. The end of a tail is unknown here: .last_ns is the stream's
 * last time stamp.
 */
void tap_stream_get_loss(const struct tap_decoder *d, struct tap_stream *s);

void tap_stream_release(struct tap_decoder *d, struct tap_stream *s);
void tap_decoder_release(struct tap_decoder *d);

/* Reset all counts for a new pass: those of @formats and of ids without a format. */
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

/* Make a format with only the common fields for @id, which has none. Return: 0; -ENOMEM. */
int tap_decoder_add_unknown(struct tap_decoder *d, unsigned int id, struct tap_err *err);

/* Apply tap_reader_mark() to @formats and to the formats made for unknown ids. */
void tap_decoder_mark(struct tap_decoder *d, struct tap_format *const *formats, unsigned int nr,
		      uint16_t (*mark)(void *ctx, const struct tap_format *fmt), void *ctx);

#endif
