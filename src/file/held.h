/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A flight recorder's newest sub-buffers, kept in memory: nothing is written until a condition
 * fires. Memory is divided into slots of TAP_HELD_SLOT bytes. Each CPU of each buffer has a lane: a
 * sequence of sub-buffers that fills one slot after another. Slots are freed from the start of a
 * lane.
 *
 * One thread adds sub-buffers and frees slots. Other threads read at the same time without a lock:
 * what they read may be freed and overwritten meanwhile, which tap_held_read() detects.
 */
#ifndef TAP_FILE_HELD_H
#define TAP_FILE_HELD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TAP_HELD_SLOT ((size_t)256 << 10) /* a multiple of the sub-buffer size */

struct tap_held;

struct tap_held_lane {
	_Atomic(struct tap_held_lane *) next; /* lanes are added, never removed */
	unsigned int buffer, cpu;
	uint32_t page_size;
	/*
	 * Byte positions [begin, end) of the buffered sub-buffers, counted from the lane's first
	 * one ever. .begin is at the start of a slot.
	 */
	_Atomic uint64_t begin, end;
	/* tap_held_at()'s user needs nothing before this position; UINT64_MAX: no such user */
	uint64_t read_to;
	/* the lane is complete from this time on; 0: from its first sub-buffer */
	_Atomic uint64_t begin_ns;
	/* slot number for each TAP_HELD_SLOT bytes of position, modulo the number of slots */
	uint32_t slots[];
};

/*
 * @bytes: memory for sub-buffers. While nothing is freed, up to half of it plus 4 MiB more may be
 * used, and at least two slots per lane. Return: 0; -ENOMEM.
 */
int tap_held_new(uint64_t bytes, struct tap_held **out);
void tap_held_free(struct tap_held *h);

/*
 * Add an empty lane. @page_size: at most TAP_HELD_SLOT. Return: NULL: out of memory, or too many
 * lanes.
 */
struct tap_held_lane *tap_held_add(struct tap_held *h, unsigned int buffer, unsigned int cpu,
				   uint32_t page_size);
/* Return the first lane, or NULL; the others follow in .next. */
struct tap_held_lane *tap_held_lanes(const struct tap_held *h);
/* Return the lane of that buffer and CPU, or NULL. */
const struct tap_held_lane *tap_held_find(const struct tap_held *h, unsigned int buffer,
					  unsigned int cpu);

/*
 * Return where the lane's next bytes must be written; @room: set to the space there. If all memory
 * is used, the oldest slot is freed for it even if it is still needed.
 */
unsigned char *tap_held_room(struct tap_held *h, struct tap_held_lane *lane, size_t *room);
/*
 * Return the slot that the lane's next sub-buffers go into; @used: set to its bytes that are
 * already used. A few bytes after the slot may be written as well. For a caller that builds each
 * sub-buffer in place; it must not call tap_held_room() for the same lane.
 */
unsigned char *tap_held_slot(struct tap_held *h, struct tap_held_lane *lane, size_t *used);
/* Add @len bytes of whole sub-buffers that were written there. */
void tap_held_put(struct tap_held *h, struct tap_held_lane *lane, size_t len);

/*
 * Free slots that have no data from @needed_ns on, the oldest first: all of them, or if @max_bytes
 * is not 0, until at most that is used. Return: true if more than @max_bytes is still needed.
 */
bool tap_held_give_back(struct tap_held *h, uint64_t needed_ns, uint64_t max_bytes);
/*
 * Return the time from which no data is missing, by time stamps of sub-buffers; 0: from the start.
 */
uint64_t tap_held_whole_from(const struct tap_held *h);

/*
 * Return the data at position @at in place; @len: set to its size within the slot. Only for the
 * thread that adds; the data stays valid while .read_to is not after it. Return: NULL if it was
 * freed, or does not exist yet.
 */
const unsigned char *tap_held_at(const struct tap_held *h, const struct tap_held_lane *lane,
				 uint64_t at, size_t *len);
/*
 * Set [from, to) to the buffered positions of @lane, without leading sub-buffers that end before
 * @from_ns.
 */
void tap_held_since(const struct tap_held *h, const struct tap_held_lane *lane, uint64_t from_ns,
		    uint64_t *from, uint64_t *to);
/*
 * Copy up to @len bytes at position @at, not past the end of its slot. Return: the number of bytes;
 * 0 if they were freed, or do not exist yet.
 */
size_t tap_held_read(const struct tap_held *h, const struct tap_held_lane *lane, uint64_t at,
		     void *to, size_t len);

#endif
