// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* How the BPF programs take space and count losses: bpf/transport.h, with a clock in which
 * interrupts come. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include <linux/bpf.h>
#include <stdbool.h>

typedef uint16_t u16;
typedef uint32_t u32;
typedef int64_t s64;
typedef unsigned long long u64; /* as the ring's words */

#define SEC(name)
#define __uint(name, value) int(*name)[value]
#define bpf_get_smp_processor_id() 3
#define bpf_ktime_get_ns() time_ns()
#define bpf_map_lookup_elem(map, key) ((void)(map), (void)(key), ring_there)
#define bpf_ringbuf_reserve(map, space, flags) ((void)(map), reserve(space))
#define bpf_ringbuf_submit(rec, flags) ((void)(rec), submitted++)

static struct tap_ring *ring_there; /* NULL: none of this CPU */
static unsigned int submitted;
static u64 time_ns(void);
static void *reserve(u64 space);

#pragma GCC diagnostic ignored "-Wunknown-pragmas"
#define const /* what is constant to the programs is set by their loader */
#include "transport.h"
#undef const

#define RING_BYTES 256u

static union {
	struct tap_ring ring;
	u64 words[(TAP_RING_DATA + RING_BYTES + TAP_RING_SLACK) / 8];
} memory;

static struct tap_rec ringbuf[4];
static u64 ringbuf_room;

static void *reserve(u64 space)
{
	return space <= ringbuf_room ? ringbuf : NULL;
}

static u64 clock_ns;
static unsigned int interrupts; /* that are still to come, one whenever the clock is looked at */

static void put_stamped(u32 space, enum tap_stamp stamp)
{
	struct tap_taken taken;
	struct tap_rec *rec = tap_take(space, stamp, NULL, &taken);

	if (rec)
		tap_commit(rec, (u16)space, (u16)(space - sizeof(*rec)));
}

static void put(u32 space)
{
	put_stamped(space, TAP_STAMP_OWN);
}

static u64 time_ns(void)
{
	if (interrupts) {
		interrupts--;
		put(24);
	}
	return ++clock_ns;
}

static int begin(void **state)
{
	(void)state;
	memset(&memory, 0, sizeof(memory));
	memset(&tap_missed, 0, sizeof(tap_missed));
	ring_there = &memory.ring;
	tap_ring_bytes = RING_BYTES;
	tap_use_ringbuf = false;
	clock_ns = 0;
	submitted = 0;
	return 0;
}

static struct tap_rec *rec_at(u64 offset)
{
	return (struct tap_rec *)((char *)&memory + TAP_RING_DATA + offset);
}

static void check_lost(u64 lost, u64 first_ns, u64 last_ns)
{
	assert_int_equal(memory.ring.lost, lost);
	assert_int_equal(memory.ring.lost_first_ns, first_ns);
	assert_int_equal(memory.ring.lost_last_ns, last_ns);
}

static void test_record(void **state)
{
	const struct tap_rec *rec = rec_at(64);
	struct tap_taken taken;

	(void)state;
	put(64);
	put(32);
	assert_int_equal(memory.ring.head, 96);
	assert_int_equal(rec->space, 32);
	assert_int_equal(rec->used, 16);
	assert_int_equal(rec->cpu, 3);
	assert_int_equal(rec->ts_ns, 2);
	assert_non_null(tap_take(32, TAP_STAMP_OWN, NULL, &taken));
	assert_int_equal(rec_at(96)->space, 0); /* not real yet */
}

/* Two in one: the reader looks for the second one at the ring's beginning, though the first reaches
 * beyond its end. */
static void test_two_at_the_end(void **state)
{
	struct tap_taken taken = { 0 };
	struct tap_rec *rec;

	(void)state;
	for (unsigned int i = 0; i < 4; i++)
		put(i ? 64 : 56);
	memory.ring.tail = 128;
	rec = tap_take(40 + 32, TAP_STAMP_OWN, NULL, &taken);
	assert_ptr_equal(rec, rec_at(RING_BYTES - 8));
	assert_ptr_equal(tap_taken_at(&taken, rec, 40), rec_at(32));
	put(24);
	assert_int_equal(rec_at(64)->space, 24);
}

static void test_full(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 4; i++)
		put(64);
	assert_int_equal(memory.ring.head, RING_BYTES); /* to the last byte */
	check_lost(0, 0, 0);
	put(24);
	check_lost(1, 6, 6);
	put(24);
	check_lost(2, 6, 8);
	assert_int_equal(memory.ring.head, RING_BYTES);
	begin(state);
	memory.ring.head = 232;
	put(32); /* a word too many */
	check_lost(1, 2, 2);
}

/* It opens when the reader has seen the loss, not when there is room. */
static void test_closed(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 5; i++)
		put(64);
	memory.ring.tail = RING_BYTES;
	put(24);
	check_lost(2, 6, 8);
	memory.ring.lost_seen = 1; /* looked at before the second one */
	put(24);
	check_lost(3, 6, 10);
	memory.ring.lost_seen = 3;
	put(24);
	assert_int_equal(memory.ring.head, RING_BYTES + 24);
	assert_int_equal(rec_at(0)->ts_ns, 11);
	for (unsigned int i = 0; i < 4; i++)
		put(64);
	check_lost(4, 16, 16); /* a hole of its own */
}

/* A record may begin just below the end, and reaches beyond it. */
static void test_end(void **state)
{
	(void)state;
	memory.ring.head = memory.ring.tail = 3 * RING_BYTES - 8;
	put(40);
	assert_int_equal(rec_at(RING_BYTES - 8)->space, 40);
	put(24);
	assert_int_equal(rec_at(32)->space, 24);
}

static void test_interrupted(void **state)
{
	(void)state;
	interrupts = 2; /* the second comes into the first */
	put(40);
	assert_int_equal(rec_at(0)->space, 24);
	assert_int_equal(rec_at(24)->space, 24);
	assert_int_equal(rec_at(48)->space, 40);
	assert_true(rec_at(0)->ts_ns < rec_at(24)->ts_ns && rec_at(24)->ts_ns < rec_at(48)->ts_ns);
	check_lost(0, 0, 0);
}

static void check_stamps(u64 first, u64 second, u64 third)
{
	assert_int_equal(rec_at(0)->ts_ns, first);
	assert_int_equal(rec_at(24)->ts_ns, second);
	assert_int_equal(rec_at(48)->ts_ns, third);
}

/* Events of one tracepoint look at the clock once. */
static void test_again(void **state)
{
	(void)state;
	put_stamped(24, TAP_STAMP_FIRST);
	put_stamped(24, TAP_STAMP_AGAIN);
	put_stamped(24, TAP_STAMP_AGAIN);
	check_stamps(1, 1, 1);
	put_stamped(24, TAP_STAMP_FIRST); /* of the next time */
	assert_int_equal(rec_at(72)->ts_ns, 2);
}

/* An interrupt's event has a later time, so the events after it must have a later time too. */
static void test_again_interrupted(void **state)
{
	(void)state;
	put_stamped(24, TAP_STAMP_FIRST);
	put(24);
	put_stamped(24, TAP_STAMP_AGAIN);
	check_stamps(1, 2, 3);
	put_stamped(24, TAP_STAMP_AGAIN); /* of that one on it is one stamp again */
	assert_int_equal(rec_at(72)->ts_ns, 3);
	begin(state);
	interrupts = 1; /* into the first */
	put_stamped(24, TAP_STAMP_FIRST);
	put_stamped(24, TAP_STAMP_AGAIN);
	assert_true(rec_at(0)->ts_ns < rec_at(24)->ts_ns);
	assert_int_equal(rec_at(48)->ts_ns, rec_at(24)->ts_ns);
}

/* What was not recorded has no stamp to take, and that of the time before is old. */
static void test_again_without_first(void **state)
{
	(void)state;
	tap_leave_out(TAP_STAMP_FIRST);
	put_stamped(24, TAP_STAMP_AGAIN); /* nothing is recorded yet */
	put_stamped(24, TAP_STAMP_FIRST);
	tap_leave_out(TAP_STAMP_FIRST);
	put_stamped(24, TAP_STAMP_AGAIN);
	check_stamps(1, 2, 3);
}

/* Between the two an event is lost, and the reader sees it: the time of the loss is over. */
static void test_again_lost(void **state)
{
	(void)state;
	put_stamped(24, TAP_STAMP_FIRST);
	put(RING_BYTES);
	check_lost(1, 3, 3);
	memory.ring.lost_seen = 1;
	put_stamped(24, TAP_STAMP_AGAIN);
	assert_int_equal(rec_at(24)->ts_ns, 4);
}

/* ---- stamps by the run queue's clock (bpf/clock.h) ---- */

#define BEHIND_NS 5000000000ull /* CLOCK_MONOTONIC minus the run queue's clock */

/*
 * Stamp a switch of which the run queue knows at @ns, CLOCK_MONOTONIC, and that the program sees
 * @late_ns after that. Return: the stamp minus @ns; *@looked: set if the program read the clock.
 */
static int64_t stamp_switch(u64 ns, u64 late_ns, bool is_fresh, bool *looked)
{
	struct tap_clock clock = { .ns = ns - BEHIND_NS, .is_fresh = is_fresh };
	u64 stamp;

	clock_ns = ns + late_ns - 1; /* time_ns() adds one */
	stamp = tap_switch_time(&memory.ring, &clock);
	*looked = clock_ns != ns + late_ns - 1;
	return (int64_t)(stamp - ns);
}

/* Switches every @every_ns, that the program sees 100 to 1,000 ns late. Return: the last time. */
static u64 switch_until(u64 from_ns, u64 to_ns, u64 every_ns, unsigned int *nr_looked)
{
	bool looked;
	u64 ns = from_ns;

	*nr_looked = 0;
	for (; ns < to_ns; ns += every_ns) {
		stamp_switch(ns, 100 + ns / every_ns * 7 % 901, true, &looked);
		*nr_looked += looked;
	}
	return ns;
}

static void test_clock_is_learned(void **state)
{
	unsigned int nr_looked;
	bool looked;
	u64 ns;

	(void)state;
	memory.ring.has_clock = 1;
	assert_int_equal(stamp_switch(7000000000, 300, true, &looked), 300);
	assert_true(looked);
	ns = switch_until(7000000000, 7010100000, 10000, &nr_looked);
	/* 400 in the first series, then one per 250 us */
	assert_in_range(nr_looked, 400, 430);
	/* the stamp is as late as the least late comparison was */
	assert_in_range(stamp_switch(ns, 60000, true, &looked), 100, 200);
	assert_false(looked);
	assert_int_equal(stamp_switch(ns + 1000, 700, false, &looked), 700);
	assert_true(looked);
}

static void test_clock_is_forgotten(void **state)
{
	unsigned int nr_looked;
	bool looked;
	u64 ns;

	(void)state;
	memory.ring.has_clock = 1;
	ns = switch_until(7000000000, 7010100000, 10000, &nr_looked);
	stamp_switch(ns + 20000000, 500, true, &looked); /* nothing was compared meanwhile */
	assert_true(looked);
	stamp_switch(ns + 20010000, 500, true, &looked); /* too few comparisons */
	assert_true(looked);
	/* a CPU that switches twice in 4 ms reads the clock always */
	switch_until(ns + 20010000, ns + 220010000, 2000000, &nr_looked);
	assert_int_equal(nr_looked, 100);
	ns = switch_until(ns + 220010000, ns + 240110000, 10000, &nr_looked);
	stamp_switch(ns, 500, true, &looked);
	assert_false(looked);
	memory.ring.has_clock = 0; /* the recorder no longer trusts it */
	stamp_switch(ns, 500, true, &looked);
	assert_true(looked);
}

/* CLOCK_MONOTONIC steps ahead and back against the run queue's clock: within 8 ms stamps follow. */
static void test_clock_moves(void **state)
{
	unsigned int nr_looked;
	bool looked;
	u64 ns;

	(void)state;
	memory.ring.has_clock = 1;
	ns = switch_until(7000000000, 7010100000, 10000, &nr_looked);
	for (u64 to = ns + 10100000; ns < to; ns += 10000)
		stamp_switch(ns, 50100, true, &looked); /* 50 us ahead */
	assert_int_equal(stamp_switch(ns, 50100, true, &looked), 50100);
	assert_false(looked);
	ns = switch_until(ns, ns + 1100000, 10000, &nr_looked); /* back: at the next comparison */
	assert_in_range(stamp_switch(ns, 700, true, &looked), 100, 1000);
	assert_false(looked);
}

static void test_no_ring(void **state)
{
	(void)state;
	ring_there = NULL;
	put(24);
	put(24);
	assert_int_equal(tap_missed.no_ring, 2);
}

static void test_ringbuf(void **state)
{
	(void)state;
	tap_use_ringbuf = true;
	ringbuf_room = 64;
	put(32);
	assert_int_equal(submitted, 1);
	assert_int_equal(ringbuf[0].used, 16);
	assert_int_equal(ringbuf[0].cpu, 3);
	ringbuf_room = 0;
	put(32);
	ringbuf_room = 64; /* closed all the same */
	put(32);
	assert_int_equal(submitted, 1);
	check_lost(2, 2, 3);
	memory.ring.lost_seen = 2;
	put(32);
	assert_int_equal(submitted, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_record, begin),
		cmocka_unit_test_setup(test_two_at_the_end, begin),
		cmocka_unit_test_setup(test_full, begin),
		cmocka_unit_test_setup(test_closed, begin),
		cmocka_unit_test_setup(test_end, begin),
		cmocka_unit_test_setup(test_interrupted, begin),
		cmocka_unit_test_setup(test_again, begin),
		cmocka_unit_test_setup(test_again_interrupted, begin),
		cmocka_unit_test_setup(test_again_without_first, begin),
		cmocka_unit_test_setup(test_again_lost, begin),
		cmocka_unit_test_setup(test_clock_is_learned, begin),
		cmocka_unit_test_setup(test_clock_is_forgotten, begin),
		cmocka_unit_test_setup(test_clock_moves, begin),
		cmocka_unit_test_setup(test_no_ring, begin),
		cmocka_unit_test_setup(test_ringbuf, begin),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
