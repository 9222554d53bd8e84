/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Functions that take and commit records; ring.h describes the protocol of writer and reader. */
#ifndef TAP_BPF_TRANSPORT_H
#define TAP_BPF_TRANSPORT_H

#include "clock.h"
#include "ring.h"

/* Set by the loader; constants to the verifier, which removes the code that they disable. */
const volatile u64 tap_ring_bytes = 1 << 20; /* per CPU, a power of two */
const volatile bool tap_use_ringbuf = false;

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1); /* the loader sets it to the number of CPUs */
	__uint(key_size, sizeof(u32));
	__uint(value_size, TAP_RING_DATA + (1 << 20) + TAP_RING_SLACK);
} tap_rings SEC(".maps");

/* A BPF ring buffer for all CPUs, used if the kernel cannot allocate tap_rings. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 12);
} tap_ringbuf SEC(".maps");

struct tap_missed tap_missed SEC(".bss.missed"); /* alone in this map: the recorder reads it */

static __always_inline void tap_forget_stamp(struct tap_ring *ring)
{
	ring->stamp_head = ~0ull;
}

/* Called when an event is not recorded: the events after it must not reuse an old stamp. */
static __always_inline void tap_leave_out(enum tap_stamp stamp)
{
	u32 cpu = bpf_get_smp_processor_id();
	struct tap_ring *ring =
		stamp == TAP_STAMP_FIRST ? bpf_map_lookup_elem(&tap_rings, &cpu) : NULL;

	if (ring)
		tap_forget_stamp(ring);
}

/*
 * Count a lost event. The times are stored before the count, because the reader reads the count
 * first.
 */
static __always_inline void tap_lost(struct tap_ring *ring)
{
	u64 now = bpf_ktime_get_ns();

	if (ring->lost == ring->lost_seen)
		ring->lost_first_ns = now;
	ring->lost_last_ns = now;
	tap_forget_stamp(ring);
	__sync_fetch_and_add(&ring->lost, 1);
}

static __always_inline struct tap_rec *tap_take_ringbuf(struct tap_ring *ring, u32 cpu, u32 space)
{
	struct tap_rec *rec;

	if (ring->lost != ring->lost_seen)
		return NULL;
	rec = bpf_ringbuf_reserve(&tap_ringbuf, space, 0);
	if (rec) {
		rec->cpu = cpu;
		rec->ts_ns = bpf_ktime_get_ns();
	}
	return rec;
}

/* The space that was taken, for callers that put several records into it. */
struct tap_taken {
	struct tap_ring *ring;
	u64 head;
};

/* Return the record @offset bytes after @first. It must be committed before @first is. */
static __always_inline struct tap_rec *tap_taken_at(const struct tap_taken *taken,
						    struct tap_rec *first, u32 offset)
{
	if (tap_use_ringbuf)
		return (void *)first + offset;
	return (void *)taken->ring + TAP_RING_DATA +
	       ((taken->head + offset) & (tap_ring_bytes - 8));
}

/* Return the time of the record that follows @head. @clock: of a switch, or NULL. */
static __always_inline u64 tap_time(struct tap_ring *ring, u64 head, enum tap_stamp stamp,
				    const struct tap_clock *clock)
{
	if (stamp == TAP_STAMP_AGAIN && head == ring->stamp_head)
		return ring->stamp_ns;
	return clock ? tap_switch_time(ring, clock) : bpf_ktime_get_ns();
}

/*
 * Take @space bytes in the current CPU's ring. An interrupt may record an event between the load of
 * head and the exchange, which is rare; after four of these in a row the event counts as lost.
 */
static __always_inline struct tap_rec *
tap_take(u32 space, enum tap_stamp stamp, const struct tap_clock *clock, struct tap_taken *taken)
{
	u32 cpu = bpf_get_smp_processor_id();
	struct tap_ring *ring = bpf_map_lookup_elem(&tap_rings, &cpu);

	if (!ring) {
		__sync_fetch_and_add(&tap_missed.no_ring, 1);
		return NULL;
	}
	if (tap_use_ringbuf) {
		struct tap_rec *rec = tap_take_ringbuf(ring, cpu, space);

		if (!rec)
			tap_lost(ring);
		return rec;
	}
#pragma clang loop unroll(disable)
	for (int i = 0; i < 4; i++) {
		u64 head = *(volatile u64 *)&ring->head;
		u64 now = tap_time(ring, head, stamp, clock);
		struct tap_rec *rec;

		if (ring->lost != ring->lost_seen ||
		    head + space - *(volatile u64 *)&ring->tail > tap_ring_bytes)
			break;
		if (__sync_val_compare_and_swap(&ring->head, head, head + space) != head)
			continue;
		rec = (void *)ring + TAP_RING_DATA + (head & (tap_ring_bytes - 8));
		rec->cpu = cpu;
		rec->ts_ns = now;
		if (stamp != TAP_STAMP_OWN) {
			ring->stamp_ns = now;
			ring->stamp_head = head + space;
		}
		*taken = (struct tap_taken){ ring, head };
		return rec;
	}
	tap_lost(ring);
	return NULL;
}

static __always_inline void tap_make_real(struct tap_rec *rec, u16 space, u16 used)
{
	u32 word = (u32)used << 16 | space;

#ifdef __TARGET_ARCH_x86
	/* x86 does not reorder stores: a plain store does if the compiler keeps it last. */
	barrier();
	*(volatile u32 *)rec = word;
#else
	__sync_lock_test_and_set((u32 *)rec, word);
#endif
}

static __always_inline void tap_commit(struct tap_rec *rec, u16 space, u16 used)
{
	if (tap_use_ringbuf) {
		*(u32 *)rec = (u32)used << 16 | space;
		bpf_ringbuf_submit(rec, BPF_RB_NO_WAKEUP);
		return;
	}
	tap_make_real(rec, space, used);
}

#endif
