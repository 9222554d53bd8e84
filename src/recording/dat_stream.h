/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One CPU of one buffer as a row of items: its events, and where something is missing, a loss
 * in front of the first event behind it. Pages are read where they lie in the mapped file, or
 * from one decompressed chunk at a time.
 */
#ifndef TAP_RECORDING_DAT_STREAM_H
#define TAP_RECORDING_DAT_STREAM_H

#include <schedtap/event.h>

#include "recording/cursor.h"

#define TAP_CHUNK_MAX_BYTES ((size_t)64 << 20)

/* What a record's type means: a table with one slot for each of the 65536 ids. */
struct tap_slot {
	const struct tap_format *fmt; /* NULL: no record had this id yet, and no format has */
	uint32_t min_size;	      /* UINT32_MAX: not an ordinary record, see .kind */
	enum tap_slot_kind {
		TAP_SLOT_PLAIN,
		TAP_SLOT_LOST, /* schedtap:events_lost */
	} kind;
};

#define TAP_NR_SLOTS 65536u

struct ZSTD_DCtx_s;

/* What all streams of a reader share. */
struct tap_decoder {
	struct tap_slot *slots;
	uint64_t from, to; /* of the raw stamps; what lies outside is left out */
	bool big_endian;
	uint8_t long_size;
	struct tap_format **unknown; /* made for ids that no format describes */
	unsigned int nr_unknown;
	struct ZSTD_DCtx_s *zstd; /* made when first needed */
};

enum tap_item {
	TAP_ITEM_NONE, /* before the first, and at the end */
	TAP_ITEM_EVENT,
	TAP_ITEM_LOST, /* a record that tells of a loss */
	TAP_ITEM_GAP,  /* a loss; behind it comes .behind */
	TAP_ITEM_TAIL, /* a loss that nothing comes after */
};

struct tap_stream {
	struct tap_cursor cur;
	const struct tap_slot *slot;
	enum tap_item item, behind;
	int cpu;
	unsigned int buffer;
	struct tap_page_abi abi;
	const unsigned char *page, *pages_end; /* not yet opened */
	struct tap_bytes chunks;	       /* not yet decompressed */
	uint32_t nr_chunks;
	unsigned char *chunk; /* owned */
	size_t chunk_cap;
	bool cut;   /* the file ends before this CPU's pages do */
	bool fresh; /* no event of the page was taken yet */
	struct {
		bool flag, damage;
		uint64_t flag_cnt; /* 0: not known */
		uint64_t first_ns;
	} gap;
};

/*
 * Moves to the next item: s->item. TAP_ITEM_NONE is the end.
 * Return: 0; -ENOMEM.
 */
int tap_stream_next(struct tap_decoder *d, struct tap_stream *s, struct tap_err *err);

/* Leaves out the pages at hand that end before the window. */
void tap_stream_seek(const struct tap_decoder *d, struct tap_stream *s);

/* Fills in an event for the current item. Of a tail the end is not known here: .last_ns is where
 * the stream stopped. */
void tap_stream_get(const struct tap_stream *s, struct tap_event *ev);

/* The key of the merge: raw time of the item. */
static inline uint64_t tap_stream_ts(const struct tap_stream *s)
{
	return s->item == TAP_ITEM_TAIL ? UINT64_MAX : s->cur.ts;
}

void tap_stream_release(struct tap_stream *s);
void tap_decoder_release(struct tap_decoder *d);

/*
 * Decompresses exactly @size bytes.
 * Return: 0; -EINVAL if that is not what they hold; -ENOMEM.
 */
int tap_unzstd(struct tap_decoder *d, const unsigned char *src, size_t len, unsigned char *dst,
	       size_t size);

#endif
