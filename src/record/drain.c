// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "record/drain.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

/*
 * The reader frees space in steps of this size, so that a nearly full ring does not overflow while
 * it is drained.
 */
#define RELEASE_BYTES (256u << 10)
#define PREFETCH_BYTES 512

int tap_lane_init(struct tap_lane *lane)
{
	lane->pages = tap_page_writer_block();
	return lane->pages ? 0 : -ENOMEM;
}

void tap_lane_release(struct tap_lane *lane)
{
	if (!lane->in_slot)
		free(lane->pages);
	lane->pages = NULL;
}

static void close_page(struct tap_lane *lane, struct tap_page_writer *writer)
{
	if (!lane->page_open)
		return;
	tap_page_end(&lane->page, lane->missed);
	lane->page_open = false;
	lane->missed = 0;
	lane->nr_full++;
	if (lane->nr_full == TAP_DRAIN_PAGES)
		tap_lane_flush(lane, writer, false);
}

/*
 * Continue in the CPU's slot of the flight recorder's memory, if there is one. Earlier sub-buffers
 * were copied to its beginning.
 */
static void move_to_slot(struct tap_lane *lane, struct tap_page_writer *writer)
{
	size_t used;
	unsigned char *slot = tap_page_writer_slot(writer, lane->buffer, lane->cpu, &used);

	if (!slot)
		return;
	if (lane->page_open)
		memcpy(slot + used, lane->pages, TAP_PAGE_SIZE);
	if (!lane->in_slot)
		free(lane->pages);
	lane->in_slot = true;
	lane->pages = slot;
	lane->page.bytes = slot + used;
	lane->nr_full = lane->nr_added = (unsigned int)(used / TAP_PAGE_SIZE);
}

void tap_lane_flush(struct tap_lane *lane, struct tap_page_writer *writer, bool all)
{
	if (all)
		close_page(lane, writer);
	if (lane->nr_full == lane->nr_added)
		return;
	if (lane->in_slot) {
		tap_page_writer_add(writer, lane->buffer, lane->cpu,
				    (size_t)(lane->nr_full - lane->nr_added) * TAP_PAGE_SIZE);
		lane->nr_added = lane->nr_full;
		if (lane->nr_full == TAP_DRAIN_PAGES)
			move_to_slot(lane, writer);
		return;
	}
	if (!all && lane->nr_full < TAP_DRAIN_PAGES && tap_page_writer_is_behind(writer))
		return;
	tap_page_writer_put(writer, lane->buffer, lane->cpu, &lane->pages,
			    (size_t)lane->nr_full * TAP_PAGE_SIZE,
			    lane->page_open ? TAP_PAGE_SIZE : 0);
	lane->page.bytes = lane->pages;
	lane->nr_full = 0;
	move_to_slot(lane, writer);
}

/*
 * Copy in units of 8 bytes, up to 7 bytes too many. After the payload there is padding of the ring
 * or the record, or the slack; after its place in the block there is free space, or the extra word
 * after the last sub-buffer.
 */
static inline void copy_words(unsigned char *to, const unsigned char *from, uint32_t len)
{
	for (uint32_t i = 0; i < len; i += 8)
		memcpy(to + i, from + i, 8);
}

static inline void zero_words(unsigned char *at, uint32_t len)
{
	for (uint32_t i = 0; i < len; i += 8)
		memset(at + i, 0, 8);
}

static __attribute__((noinline)) unsigned char *
add_on_new_page(struct tap_lane *lane, struct tap_page_writer *writer, uint64_t ts_ns, uint32_t len)
{
	unsigned char *to;

	close_page(lane, writer);
	tap_page_begin(&lane->page, lane->pages + (size_t)lane->nr_full * TAP_PAGE_SIZE, ts_ns);
	lane->page_open = true;
	to = tap_page_add(&lane->page, ts_ns, len);
	assert(to); /* the programs' longest record is much shorter than a sub-buffer */
	return to;
}

inline unsigned char *tap_lane_room(struct tap_lane *lane, struct tap_page_writer *writer,
				    uint64_t ts_ns, uint32_t len)
{
	unsigned char *to = lane->page_open ? tap_page_add(&lane->page, ts_ns, len) : NULL;

	return to ? to : add_on_new_page(lane, writer, ts_ns, len);
}

inline void tap_lane_add(struct tap_lane *lane, struct tap_page_writer *writer, uint64_t ts_ns,
			 const void *payload, uint32_t len)
{
	unsigned char *to;

	/*
	 * in a BPF ring buffer, an interrupt's record may follow the later record that it
	 * interrupted
	 */
	if (lane->page_open && ts_ns < lane->page.last_ns)
		ts_ns = lane->page.last_ns;
	to = tap_lane_room(lane, writer, ts_ns, len);
	copy_words(to, payload, len);
	if (len & 3) /* clear the bytes of the ring that were copied too much */
		memset(to + len, 0, 4 - (len & 3));
}

void tap_lane_add_lost(struct tap_lane *lane, struct tap_page_writer *writer, uint64_t ts_ns,
		       const struct tap_lane_hole *hole)
{
	struct { /* events/lost.h, after the common fields */
		uint16_t type;
		uint8_t flags, preempt_count;
		int32_t pid;
		struct tap_lane_hole hole;
	} rec = { .type = lane->lost_id, .hole = *hole };

	/* begin a new sub-buffer, for readers that know only its missed-events flag */
	close_page(lane, writer);
	tap_lane_add(lane, writer, ts_ns, &rec, sizeof(rec));
	lane->missed = hole->count;
}

void tap_lane_add_off(struct tap_lane *lane, struct tap_page_writer *writer, uint64_t ts_ns,
		      const struct tap_lane_off *off)
{
	struct { /* events/lost.h, after the common fields */
		uint16_t type;
		uint8_t flags, preempt_count;
		int32_t pid;
		struct tap_lane_off off;
	} rec = { .type = (uint16_t)tap_def_find("schedtap", "events_off")->id, .off = *off };

	tap_lane_add(lane, writer, ts_ns, &rec, sizeof(rec));
}

void tap_lane_lost(struct tap_lane *lane, struct tap_page_writer *writer, struct tap_drain *res)
{
	uint64_t count = lane->lost - lane->ring->lost_seen;
	struct tap_lane_hole hole = { .count = count, .cpu = (int)lane->cpu };

	if (!count)
		return;
	hole.first_ns = __atomic_load_n(&lane->ring->lost_first_ns, __ATOMIC_RELAXED);
	hole.last_ns = __atomic_load_n(&lane->ring->lost_last_ns, __ATOMIC_RELAXED);
	/*
	 * Events were lost between the previous reading of the count and the change of ->lost_seen,
	 * so that ->lost_first_ns is still the previous gap's: this gap continues after it.
	 */
	if (hole.first_ns <= lane->last_lost_ns)
		hole.first_ns = lane->last_lost_ns + 1;
	if (hole.last_ns < hole.first_ns)
		hole.last_ns = hole.first_ns;
	tap_lane_add_lost(lane, writer, hole.last_ns, &hole);
	lane->last_lost_ns = hole.last_ns;
	res->lost += count;
	__atomic_store_n(&lane->ring->lost_seen, lane->lost, __ATOMIC_RELEASE);
}

void tap_lane_drain(struct tap_lane *lane, struct tap_page_writer *writer, struct tap_drain *res)
{
	uint64_t head = __atomic_load_n(&lane->ring->head, __ATOMIC_ACQUIRE);
	uint64_t tail = lane->ring->tail, released = tail;
	unsigned int fill = (unsigned int)((head - tail) * 100 / lane->ring_bytes);

	if (fill > res->fill_pct)
		res->fill_pct = fill;
	while (tail != head) {
		unsigned char *at = lane->data + (tail & (lane->ring_bytes - 1));
		uint32_t word = __atomic_load_n((uint32_t *)at, __ATOMIC_ACQUIRE);
		uint32_t space = word & 0xffff;
		const struct tap_rec *rec = (const struct tap_rec *)at;

		if (!word)
			break; /* reserved, not committed: its writer was interrupted */
		/* the data is in the other CPU's cache */
		__builtin_prefetch(at + PREFETCH_BYTES, 1);
		tap_lane_add(lane, writer, rec->ts_ns, rec + 1, word >> 16);
		tap_lane_count(lane, rec, res);
		zero_words(at, space);
		tail += space;
		if (tail - released >= RELEASE_BYTES) {
			__atomic_store_n(&lane->ring->tail, tail, __ATOMIC_RELEASE);
			released = tail;
		}
	}
	__atomic_store_n(&lane->ring->tail, tail, __ATOMIC_RELEASE);
	tap_lane_note_lost(lane);
	if (tail == __atomic_load_n(&lane->ring->head, __ATOMIC_ACQUIRE))
		tap_lane_lost(lane, writer, res);
	tap_lane_flush(lane, writer, false);
}
