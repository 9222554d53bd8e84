/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The reading side of bpf/ring.h: from records in a CPU's ring to ftrace sub-buffers in the
 * spool. Knows nothing of BPF: a test feeds it memory.
 */
#ifndef TAP_RECORD_DRAIN_H
#define TAP_RECORD_DRAIN_H

#include <string.h>

#include "file/page.h"
#include "record/backend.h"
#include "ring.h"

/* Pages of a block, which is gathered before it is written. */
#define TAP_DRAIN_PAGES ((unsigned int)(TAP_BLOCK_BYTES / TAP_PAGE_SIZE))

struct tap_lane {
	unsigned int cpu, buffer;
	struct tap_ring *ring;
	unsigned char *data; /* ring_bytes, and the slack behind them */
	uint64_t ring_bytes;
	unsigned char *pages; /* TAP_DRAIN_PAGES; the last one is being filled */
	unsigned int nr_full;
	unsigned int nr_added; /* of these, are handed over already */
	/* .pages are held there (file/held.h): they are handed over where they are */
	bool in_slot;
	struct tap_page page;
	bool page_open;
	uint64_t missed; /* to be noted on the open page */
	uint64_t lost; /* the ring's count before the last look at its records */
	uint64_t last_lost_ns;
	int lost_cpu; /* to report losses for: cpu, or -1 */
	uint16_t lost_id; /* common_type of schedtap:events_lost */
	/* of kernel_stack, behind which user_stack comes; 0: there are none */
	uint16_t stack_id;
};

int tap_lane_init(struct tap_lane *lane); /* allocates the pages; 0 or -ENOMEM */
void tap_lane_release(struct tap_lane *lane);

/*
 * Room for a record of @len bytes, a multiple of 4, not before the last one. Return: where it goes;
 * up to 7 bytes behind it may be written.
 */
unsigned char *tap_lane_room(struct tap_lane *lane, struct tap_page_writer *writer, uint64_t ts_ns,
			     uint32_t len);
/* Counts a record that is taken. */
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

/* Adds one record's payload. */
void tap_lane_add(struct tap_lane *lane, struct tap_page_writer *writer, uint64_t ts_ns,
		  const void *payload, uint32_t len);

/* What was lost: the fields of schedtap:events_lost. */
struct tap_lane_hole {
	uint64_t count, first_ns, last_ns;
	int32_t cpu, pad;
};

/* Adds a schedtap:events_lost at @ts_ns. */
void tap_lane_add_lost(struct tap_lane *lane, struct tap_page_writer *writer, uint64_t ts_ns,
		       const struct tap_lane_hole *hole);

/* What was switched off: the fields of schedtap:events_off. */
struct tap_lane_off {
	uint64_t count, first_ns, last_ns;
	int32_t cpu;
	uint32_t type;
};

/* Adds a schedtap:events_off. */
void tap_lane_add_off(struct tap_lane *lane, struct tap_page_writer *writer, uint64_t ts_ns,
		      const struct tap_lane_off *off);

/*
 * Takes note of how much the programs lost until now. To be followed by a look at the records:
 * what was lost later may lie behind records that this look does not see.
 */
static inline void tap_lane_note_lost(struct tap_lane *lane)
{
	lane->lost = __atomic_load_n(&lane->ring->lost, __ATOMIC_ACQUIRE);
}

/* Reports the noted loss; all records that were there at the look have been taken. */
void tap_lane_lost(struct tap_lane *lane, struct tap_page_writer *writer, struct tap_drain *res);

/* Takes all records that are there, then what was lost. */
void tap_lane_drain(struct tap_lane *lane, struct tap_page_writer *writer, struct tap_drain *res);

/* Hands the full pages over, and with @all the one being filled too. Where many are under way, only
 * full blocks. */
void tap_lane_flush(struct tap_lane *lane, struct tap_page_writer *writer, bool all);

#endif
