/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The newest pages of a flight recorder, in memory: nothing is written while nothing is met. Memory
 * is in slots of TAP_HELD_SLOT bytes; each CPU of each buffer has a lane, pages in a row that fill
 * one slot after the other, and slots are given back from the lane's beginning.
 *
 * One thread adds pages and gives slots back. Others read meanwhile, and never wait for it: what
 * they read may be given back, and overwritten, under their hands, and tap_held_read() tells.
 */
#ifndef TAP_FILE_HELD_H
#define TAP_FILE_HELD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TAP_HELD_SLOT ((size_t)256 << 10) /* of which a page is a part */

struct tap_held;

struct tap_held_lane {
	_Atomic(struct tap_held_lane *) next; /* lanes only become more */
	unsigned int buffer, cpu;
	uint32_t page_size;
	/* the pages that are held, counted from the first that ever was; the beginning is a slot's
	 */
	_Atomic uint64_t begin, end;
	/* who reads it in place has done with what is before; UINT64_MAX: nobody does */
	uint64_t read_to;
	_Atomic uint64_t begin_ns; /* nothing is missing from there on; 0: from the first page on */
	uint32_t slots[]; /* of the slot that is this many after the first, modulo their number */
};

/* @bytes: so much may be held, and a bit more for as long as all of it is needed. Return: 0;
 * -ENOMEM. */
int tap_held_new(uint64_t bytes, struct tap_held **out);
void tap_held_free(struct tap_held *h);

/* @page_size: not above TAP_HELD_SLOT. Return: an empty lane; NULL: out of memory. */
struct tap_held_lane *tap_held_add(struct tap_held *h, unsigned int buffer, unsigned int cpu,
				   uint32_t page_size);
/* The first one. */
struct tap_held_lane *tap_held_lanes(const struct tap_held *h);
/* or NULL */
const struct tap_held_lane *tap_held_find(const struct tap_held *h, unsigned int buffer,
					  unsigned int cpu);

/*
 * Where the lane's next bytes go, @room of them. If all memory is taken, the oldest slot is given
 * back for it, be it needed or not.
 */
unsigned char *tap_held_room(struct tap_held *h, struct tap_held_lane *lane, size_t *room);
/*
 * The slot that the lane's pages go into next, behind the @used bytes that it has; a few bytes
 * behind it may be written as well. For who adds each page to the lane in its place, where it was
 * made: tap_held_room() is not called of the same lane then.
 */
unsigned char *tap_held_slot(struct tap_held *h, struct tap_held_lane *lane, size_t *used);
/* Adds whole pages that were put there. */
void tap_held_put(struct tap_held *h, struct tap_held_lane *lane, size_t len);

/*
 * Gives back slots that hold nothing from @needed_ns on, the oldest first: all, or those beyond
 * @max_bytes if that is not 0. Return: whether more than @max_bytes are needed.
 */
bool tap_held_give_back(struct tap_held *h, uint64_t needed_ns, uint64_t max_bytes);
/* Return: since when nothing is missing, by page stamps; 0: from the beginning. */
uint64_t tap_held_whole_from(const struct tap_held *h);

/*
 * The same in place, for the thread that adds: it stays there while .read_to is not behind it.
 * Return: NULL: that was given back, or is not there yet.
 */
const unsigned char *tap_held_at(const struct tap_held *h, const struct tap_held_lane *lane,
				 uint64_t at, size_t *len);
/* What is held of the lane, without pages behind which there is one that begins before @from_ns. */
void tap_held_since(const struct tap_held *h, const struct tap_held_lane *lane, uint64_t from_ns,
		    uint64_t *from, uint64_t *to);
/* Copies what is held at @at, not beyond a slot's end. Return: how much; 0: that was given back. */
size_t tap_held_read(const struct tap_held *h, const struct tap_held_lane *lane, uint64_t at,
		     void *to, size_t len);

#endif
