/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The reading side of bpf/ring.h: converts the records in a CPU's ring to ftrace sub-buffers in the
 * spool. It does not depend on BPF, so tests can pass plain memory.
 */
#ifndef TAP_RECORD_DRAIN_H
#define TAP_RECORD_DRAIN_H

#include <string.h>

#include "file/page.h"
#include "record/backend.h"
#include "ring.h"

/* Sub-buffers of a block, which are collected before they are written. */
#define TAP_DRAIN_PAGES ((unsigned int)(TAP_BLOCK_BYTES / TAP_PAGE_SIZE))

struct tap_lane {
	unsigned int cpu, buffer;
	struct tap_ring *ring;
	unsigned char *data; /* .ring_bytes, plus TAP_RING_SLACK */
	uint64_t ring_bytes;
	/* TAP_DRAIN_PAGES sub-buffers; number .nr_full is being filled if .page_open */
	unsigned char *pages;
	unsigned int nr_full;
	unsigned int nr_added; /* of .nr_full: handed over to the page writer already */
	/* .pages is part of a flight recorder's memory (file/held.h): sub-buffers stay there */
	bool in_slot;
	struct tap_page page;
	bool page_open;
	uint64_t missed; /* lost events to report in the header of the open sub-buffer */
	uint64_t lost; /* ring->lost, read before the last look at ring->head */
	uint64_t last_lost_ns;
	uint16_t lost_id; /* common_type of schedtap:events_lost */
	/* common_type of kernel_stack; user_stack is the next number; 0: no stacks */
	uint16_t stack_id;
};

int tap_lane_init(struct tap_lane *lane); /* allocates .pages; returns 0 or -ENOMEM */
void tap_lane_release(struct tap_lane *lane);

/*
 * Reserve space for a record of @len bytes, a multiple of 4. @ts_ns: not before the previous
 * record. Return: where the record goes; up to 7 bytes after it may be overwritten.
 */
unsigned char *tap_lane_room(struct tap_lane *lane, struct tap_page_writer *writer, uint64_t ts_ns,
			     uint32_t len);
/* Count a record that was read from the ring. */
static inline void tap_lane_count(const struct tap_lane *lane, const struct tap_rec *rec,
				  struct tap_drain *res)
{
	uint16_t type;

	res->events++;
	if (!lane->stack_id)
		return;
	memcpy(&type, rec + 1, sizeof(type));
	res->stacks += (uint16_t)(type - lane->stack_id) < 2;
}

/* Add one record. @ts_ns: an earlier time than the previous record's is replaced by that one's. */
void tap_lane_add(struct tap_lane *lane, struct tap_page_writer *writer, uint64_t ts_ns,
		  const void *payload, uint32_t len);

/* Lost events: the fields of schedtap:events_lost. */
struct tap_lane_hole {
	uint64_t count, first_ns, last_ns;
	int32_t cpu, pad;
};

/* Add a schedtap:events_lost at @ts_ns. */
void tap_lane_add_lost(struct tap_lane *lane, struct tap_page_writer *writer, uint64_t ts_ns,
		       const struct tap_lane_hole *hole);

/* Event types that were switched off: the fields of schedtap:events_off. */
struct tap_lane_off {
	uint64_t count, first_ns, last_ns;
	int32_t cpu;
	uint32_t type;
};

/* Add a schedtap:events_off at @ts_ns. */
void tap_lane_add_off(struct tap_lane *lane, struct tap_page_writer *writer, uint64_t ts_ns,
		      const struct tap_lane_off *off);

/*
 * Read the ring's count of lost events. Call it before the final look at ring->head: events that
 * are lost later may come after records that this drain does not see.
 */
static inline void tap_lane_note_lost(struct tap_lane *lane)
{
	lane->lost = __atomic_load_n(&lane->ring->lost, __ATOMIC_ACQUIRE);
}

/*
 * Report the losses that tap_lane_note_lost() read. All records up to ring->head at that time must
 * have been added.
 */
void tap_lane_lost(struct tap_lane *lane, struct tap_page_writer *writer, struct tap_drain *res);

/* Add all committed records, then report lost events. */
void tap_lane_drain(struct tap_lane *lane, struct tap_page_writer *writer, struct tap_drain *res);

/*
 * Hand full sub-buffers over to the page writer; @all: also the open one. While many are queued
 * there, only full blocks are handed over unless @all.
 */
void tap_lane_flush(struct tap_lane *lane, struct tap_page_writer *writer, bool all);

#endif
