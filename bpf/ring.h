/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The transport from the programs to the recorder: one ring per CPU, memory that both sides
 * map. This header is read by both.
 *
 * Free space is zero. A writer takes space by moving `head` with one compare-and-exchange, so
 * that an interrupt that records an event in the middle of another simply gets the space behind
 * it. A record becomes real when its first word stops being zero. The reader takes real records
 * in order, zeroes them and moves `tail`; at a record that is not yet real it stops and comes
 * back. A time stamp is taken between reading `head` and moving it: so the order in the ring is
 * the order in time.
 *
 * When a record does not fit, the ring closes: all that comes until the reader has emptied it
 * is lost, counted, and timed. One hole is easier to reason about than a hundred small ones.
 */
#ifndef TAP_BPF_RING_H
#define TAP_BPF_RING_H

/*
 * A CPU's part of the map: struct tap_ring, padded to TAP_RING_DATA bytes, then the records. One
 * may begin just below the ring's end and reach TAP_RING_SLACK bytes beyond it.
 */
#define TAP_RING_DATA 4096
#define TAP_RING_SLACK 4096

/* Each side's words are on a cache line of their own. */
struct tap_ring {
	unsigned long long head; /* bytes ever taken; moved by the CPU's programs */
	unsigned long long lost; /* events ever lost */
	unsigned long long lost_first_ns, lost_last_ns; /* since the ring closed */
	/* enum tap_stamp: of the last one, and .head behind its record */
	unsigned long long stamp_ns, stamp_head;
	unsigned long long pad1[2];
	unsigned long long tail; /* bytes ever given back; moved by the recorder */
	unsigned long long lost_seen; /* != lost: closed; moved by the recorder */
	unsigned long long pad2[6];
};

/*
 * Whose time a record has. Events of one tracepoint that are recorded one behind the other
 * (chain.h) look at the clock once, for that costs as much as all the rest of a record. It is not
 * taken again where an interrupt has recorded an event in between: its time is later.
 */
enum tap_stamp {
	TAP_STAMP_OWN,
	TAP_STAMP_FIRST, /* is there for those behind it, or they look themselves */
	TAP_STAMP_AGAIN, /* that of the one in front, if it was recorded */
};

/* In front of each record; the ftrace payload follows. */
struct tap_rec {
	unsigned short space; /* bytes taken in the ring, a multiple of 8, this header included */
	unsigned short used; /* bytes of payload: text fields take less than was reserved */
	unsigned int cpu;
	unsigned long long ts_ns; /* CLOCK_MONOTONIC */
};

/* What no ring tells: the programs' only variable. */
struct tap_missed {
	unsigned long long no_ring; /* events on CPUs that came after the recording began */
	/* tasks that came to be recorded, but not into the set (tasks.h) */
	unsigned long long no_task;
};

#endif
