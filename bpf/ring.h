/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The transport from the BPF programs to the recorder: one ring per CPU, in memory that both sides
 * map. Both sides include this header.
 *
 * Free space is zero. A writer takes space by advancing `head` with one compare-and-exchange, so an
 * interrupt that records an event while another is being written simply gets the space after it. A
 * record is committed when its first word becomes nonzero. The reader takes committed records in
 * order, zeroes them and advances `tail`; it stops at the first record that is not committed and
 * retries later. The time stamp is taken between reading `head` and advancing it, so the order in
 * the ring is the order in time.
 *
 * When a record does not fit, the ring closes: until the reader has emptied it, all events are
 * lost. They are counted, and the first and last time are kept. One gap is easier to reason about
 * than a hundred small ones.
 */
#ifndef TAP_BPF_RING_H
#define TAP_BPF_RING_H

/*
 * A CPU's part of the map: struct tap_ring, padded to TAP_RING_DATA bytes, then the records. A
 * record may begin just before the ring's end and extend up to TAP_RING_SLACK bytes past it.
 */
#define TAP_RING_DATA 4096
#define TAP_RING_SLACK 4096

/* The writer's and the reader's words are on separate cache lines. */
struct tap_ring {
	unsigned long long head; /* bytes taken since the start; written by this CPU's programs */
	unsigned long long lost; /* events lost since the start */
	unsigned long long lost_first_ns, lost_last_ns; /* since the ring closed */
	/* for enum tap_stamp: last shared time stamp, and .head after its record */
	unsigned long long stamp_ns, stamp_head;
	/* for clock.h: until when, by the run queue's clock, its offset is known; the offset */
	unsigned long long clock_until_ns, clock_offset_ns;
	unsigned long long tail; /* bytes freed since the start; written by the recorder */
	/* value of .lost that the recorder has handled; ring is closed while they differ */
	unsigned long long lost_seen;
	/* whether to use the run queue's clock; if not, each stamp reads CLOCK_MONOTONIC */
	unsigned long long has_clock;
	unsigned long long pad2[5];
	/*
	 * For clock.h: this series of comparisons of clocks: when it began, by the run queue's
	 * clock, their number and the least offset. Then those two of the series before.
	 */
	unsigned long long series_ns, nr_compared, least_ns, nr_before, least_before_ns;
	unsigned long long pad3[3];
};

/*
 * The source of a record's time stamp. Reading the clock costs as much as the rest of a record, so
 * events that are recorded in sequence at one tracepoint (chain.h) read it once. If an interrupt
 * recorded an event in between, the shared stamp is not reused, because it would be earlier than
 * the interrupt's.
 */
enum tap_stamp {
	TAP_STAMP_OWN,
	TAP_STAMP_FIRST, /* reads the clock, and saves the stamp for the events that follow */
	TAP_STAMP_AGAIN, /* reuses the saved stamp if still valid, else reads the clock */
};

/* Precedes each record; the payload, in ftrace's format, follows. */
struct tap_rec {
	unsigned short space; /* bytes taken in the ring, a multiple of 8, this header included */
	unsigned short used; /* bytes of payload; text fields may use less than was reserved */
	unsigned int cpu;
	unsigned long long ts_ns; /* CLOCK_MONOTONIC */
};

/* Losses that cannot be counted in a ring; the programs' only global counters. */
struct tap_missed {
	unsigned long long no_ring; /* events on CPUs that appeared after the recording began */
	/* tasks to be recorded that did not fit into the set of tasks.h */
	unsigned long long no_task;
};

#endif
