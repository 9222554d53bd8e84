// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "file/held.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Distance between slots: a multiple of the page size on every architecture. */
#define STRIDE (TAP_HELD_SLOT + 65536)
/* Extra slots for data that arrives while a file is written and nothing is freed. */
#define MORE_SLOTS(nr) ((nr) / 2 + 16)
#define MAX_LANES 4096u
/* Keep the memory of this many free slots: what one step frees, the next ones take again. */
#define SPARE_SLOTS 16u

struct tap_held {
	unsigned char *memory;
	uint32_t *free; /* stack of free slots; the last .nr_spare have memory */
	uint32_t nr_slots, nr_free, nr_spare;
	uint32_t limit; /* maximum number of slots in use */
	uint64_t bytes; /* bytes in use by sub-buffers */
	_Atomic(struct tap_held_lane *) lanes;
	struct tap_held_lane *last;
	unsigned int nr_lanes;
};

static unsigned char *byte_at(const struct tap_held *h, const struct tap_held_lane *lane,
			      uint64_t at)
{
	uint32_t slot =
		__atomic_load_n(&lane->slots[at / TAP_HELD_SLOT % h->nr_slots], __ATOMIC_RELAXED);

	return h->memory + slot * STRIDE + at % TAP_HELD_SLOT;
}

int tap_held_new(uint64_t bytes, struct tap_held **out)
{
	uint64_t nr = bytes / TAP_HELD_SLOT + !!(bytes % TAP_HELD_SLOT), all;
	struct tap_held *h = NULL;

	*out = NULL;
	nr += MORE_SLOTS(nr);
	all = nr + 2 * MAX_LANES;
	if (all <= UINT32_MAX && all <= SIZE_MAX / STRIDE)
		h = calloc(1, sizeof(*h));
	if (!h)
		return -ENOMEM;
	h->limit = (uint32_t)nr;
	h->nr_slots = h->nr_free = (uint32_t)all;
	h->free = malloc(all * sizeof(*h->free));
	h->memory = mmap(NULL, all * STRIDE, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (!h->free || h->memory == MAP_FAILED) {
		free(h->free);
		free(h);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < h->nr_slots; i++)
		h->free[i] = i;
	*out = h;
	return 0;
}

void tap_held_free(struct tap_held *h)
{
	if (!h)
		return;
	for (struct tap_held_lane *lane = h->lanes, *next; lane; lane = next) {
		next = lane->next;
		free(lane);
	}
	munmap(h->memory, h->nr_slots * STRIDE);
	free(h->free);
	free(h);
}

struct tap_held_lane *tap_held_add(struct tap_held *h, unsigned int buffer, unsigned int cpu,
				   uint32_t page_size)
{
	struct tap_held_lane *lane = NULL;

	if (h->nr_lanes < MAX_LANES)
		lane = calloc(1, sizeof(*lane) + h->nr_slots * sizeof(*lane->slots));
	if (!lane)
		return NULL;
	lane->buffer = buffer;
	lane->cpu = cpu;
	lane->page_size = page_size;
	lane->read_to = UINT64_MAX;
	h->nr_lanes++;
	if (h->limit < 2 * h->nr_lanes) /* the slot being filled, and its predecessor */
		h->limit = 2 * h->nr_lanes;
	atomic_store_explicit(h->last ? &h->last->next : &h->lanes, lane, memory_order_release);
	h->last = lane;
	return lane;
}

struct tap_held_lane *tap_held_lanes(const struct tap_held *h)
{
	return atomic_load_explicit(&h->lanes, memory_order_acquire);
}

const struct tap_held_lane *tap_held_find(const struct tap_held *h, unsigned int buffer,
					  unsigned int cpu)
{
	const struct tap_held_lane *lane = tap_held_lanes(h);

	while (lane && (lane->buffer != buffer || lane->cpu != cpu))
		lane = lane->next;
	return lane;
}

/* ---- slots ---- */

/* Populate the whole slot at once: one page fault per page would cost several times as much. */
static uint32_t take_slot(struct tap_held *h)
{
	uint32_t slot = h->free[--h->nr_free];

	if (h->nr_spare)
		h->nr_spare--;
	else
		madvise(h->memory + slot * STRIDE, TAP_HELD_SLOT, MADV_POPULATE_WRITE);
	return slot;
}

static void free_slot(struct tap_held *h, uint32_t slot)
{
	uint32_t *first_spare = &h->free[h->nr_free - h->nr_spare];

	if (h->nr_spare < SPARE_SLOTS) {
		h->nr_spare++;
		h->free[h->nr_free++] = slot;
		return;
	}
	madvise(h->memory + slot * STRIDE, STRIDE, MADV_DONTNEED);
	h->free[h->nr_free++] = *first_spare;
	*first_spare = slot;
}

/* Return the time stamp of the sub-buffer at @at. */
static uint64_t stamp_at(const struct tap_held *h, const struct tap_held_lane *lane, uint64_t at)
{
	uint64_t stamp;

	memcpy(&stamp, byte_at(h, lane, at), sizeof(stamp));
	return stamp;
}

/*
 * Return the lane whose second slot starts first, as nothing in its first slot is later than that;
 * @next_ns: set to that time. Lanes with one slot, or whose first is still read in place, are
 * skipped. NULL: none is left.
 */
static struct tap_held_lane *find_oldest(const struct tap_held *h, uint64_t *next_ns)
{
	struct tap_held_lane *oldest = NULL;

	for (struct tap_held_lane *lane = tap_held_lanes(h); lane; lane = lane->next) {
		uint64_t stamp;

		if (lane->end - lane->begin <= TAP_HELD_SLOT ||
		    lane->read_to < lane->begin + TAP_HELD_SLOT)
			continue;
		stamp = stamp_at(h, lane, lane->begin + TAP_HELD_SLOT);
		if (oldest && *next_ns <= stamp)
			continue;
		oldest = lane;
		*next_ns = stamp;
	}
	return oldest;
}

/*
 * Free the lane's first slot. @next_ns: time stamp of the following slot. .begin is advanced before
 * the slot can be reused, so readers notice.
 */
static void give_back_first(struct tap_held *h, struct tap_held_lane *lane, uint64_t next_ns)
{
	uint32_t slot = lane->slots[lane->begin / TAP_HELD_SLOT % h->nr_slots];

	atomic_store_explicit(&lane->begin, lane->begin + TAP_HELD_SLOT, memory_order_relaxed);
	atomic_thread_fence(memory_order_release);
	h->bytes -= TAP_HELD_SLOT;
	if (next_ns > lane->begin_ns)
		lane->begin_ns = next_ns;
	free_slot(h, slot);
}

bool tap_held_give_back(struct tap_held *h, uint64_t needed_ns, uint64_t max_bytes)
{
	struct tap_held_lane *lane;
	uint64_t next_ns;

	while ((!max_bytes || h->bytes > max_bytes) && (lane = find_oldest(h, &next_ns)) != NULL) {
		if (next_ns >= needed_ns)
			return max_bytes != 0;
		give_back_first(h, lane, next_ns);
	}
	return false;
}

uint64_t tap_held_whole_from(const struct tap_held *h)
{
	uint64_t from_ns = 0;

	for (const struct tap_held_lane *lane = tap_held_lanes(h); lane; lane = lane->next)
		if (lane->begin_ns > from_ns)
			from_ns = lane->begin_ns;
	return from_ns;
}

/* ---- sub-buffers ---- */

unsigned char *tap_held_slot(struct tap_held *h, struct tap_held_lane *lane, size_t *used)
{
	struct tap_held_lane *oldest;
	uint64_t next_ns;

	*used = lane->end % TAP_HELD_SLOT;
	if (*used)
		return byte_at(h, lane, lane->end - *used);
	if (h->nr_slots - h->nr_free >= h->limit && (oldest = find_oldest(h, &next_ns)) != NULL)
		give_back_first(h, oldest, next_ns);
	__atomic_store_n(&lane->slots[lane->end / TAP_HELD_SLOT % h->nr_slots], take_slot(h),
			 __ATOMIC_RELAXED);
	return byte_at(h, lane, lane->end);
}

unsigned char *tap_held_room(struct tap_held *h, struct tap_held_lane *lane, size_t *room)
{
	size_t used;
	unsigned char *slot = tap_held_slot(h, lane, &used);

	*room = TAP_HELD_SLOT - used;
	return slot + used;
}

void tap_held_put(struct tap_held *h, struct tap_held_lane *lane, size_t len)
{
	h->bytes += len;
	atomic_store_explicit(&lane->end, lane->end + len, memory_order_release);
}

size_t tap_held_read(const struct tap_held *h, const struct tap_held_lane *lane, uint64_t at,
		     void *to, size_t len)
{
	size_t in_slot = TAP_HELD_SLOT - at % TAP_HELD_SLOT;
	uint64_t end = atomic_load_explicit(&lane->end, memory_order_acquire);

	if (at >= end || at < lane->begin)
		return 0;
	len = len < in_slot ? len : in_slot;
	len = len < end - at ? len : (size_t)(end - at);
	memcpy(to, byte_at(h, lane, at), len);
	atomic_thread_fence(memory_order_acquire);
	return atomic_load_explicit(&lane->begin, memory_order_relaxed) <= at ? len : 0;
}

const unsigned char *tap_held_at(const struct tap_held *h, const struct tap_held_lane *lane,
				 uint64_t at, size_t *len)
{
	uint64_t in_slot = TAP_HELD_SLOT - at % TAP_HELD_SLOT, there = lane->end - at;

	if (at >= lane->end || at < lane->begin)
		return NULL;
	*len = (size_t)(in_slot < there ? in_slot : there);
	return byte_at(h, lane, at);
}

/*
 * Return the last of the positions @from, @from + @step, ... whose sub-buffer starts before
 * @from_ns, or @from.
 */
static uint64_t last_before(const struct tap_held *h, const struct tap_held_lane *lane,
			    uint64_t from_ns, uint64_t from, uint64_t to, size_t step)
{
	uint64_t stamp;

	for (uint64_t next = from + step; next < to; next += step) {
		if (tap_held_read(h, lane, next, &stamp, sizeof(stamp)) && stamp >= from_ns)
			break;
		from = next;
	}
	return from;
}

void tap_held_since(const struct tap_held *h, const struct tap_held_lane *lane, uint64_t from_ns,
		    uint64_t *from, uint64_t *to)
{
	*to = atomic_load_explicit(&lane->end, memory_order_acquire);
	/* first by slots, then by sub-buffers: there may be a million of them */
	*from = last_before(h, lane, from_ns, lane->begin, *to, TAP_HELD_SLOT);
	*from = last_before(h, lane, from_ns, *from, *to, lane->page_size);
}
