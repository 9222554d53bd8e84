/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Convert between a recording's clock and the time of day. CLOCK_MONOTONIC (and BOOTTIME) and
 * CLOCK_REALTIME advance at the same rate, as NTP adjusts both. Their difference changes only when
 * the clock is set, at a leap second (by -1 s) or, for CLOCK_MONOTONIC, while the machine is
 * suspended. So one difference is used for the whole recording. If a second reading of both clocks
 * differs, the time of the change is unknown.
 *
 * CLOCK_REALTIME has no leap seconds, nor has this code: 23:59:60 is shown as the following second.
 */
#ifndef TAP_BASE_WALL_H
#define TAP_BASE_WALL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

/* Which clock text output uses. */
enum tap_clock {
	TAP_SHOW_MONO, /* "1326.749619000", on the recording's own clock */
	TAP_SHOW_WALL, /* "2026-11-20 00:47:05.824000000", in the local time zone */
	TAP_SHOW_TOD, /* "00:47:05.824000000" */
};

/* The last second that was formatted: the next time is often within the same second. */
struct tap_wall_second {
	int64_t second;
	char text[48]; /* "2026-11-20 00:47:05" */
};

/* Zeroed: the wall time is unknown, and text output uses the recording's clock. */
struct tap_wall {
	bool is_known;
	int64_t offset_ns; /* CLOCK_REALTIME minus the recording's clock */
	int64_t moved_ns; /* change of the difference between two readings; 0: unchanged */
	enum tap_clock shown;
	struct tap_wall_second local, utc;
};

/*
 * Learn from a reading of both clocks; @ts_ns was read first. Of several readings the smallest
 * difference counts: a reader that is preempted between the two clocks measures too much, never too
 * little.
 */
void tap_wall_learn(struct tap_wall *w, uint64_t ts_ns, uint64_t realtime_ns);

/*
 * Convert to CLOCK_REALTIME. Only if the wall time is known. Return: ns since 1970, at most
 * INT64_MAX.
 */
int64_t tap_wall_from(const struct tap_wall *w, uint64_t ts_ns);
/* Convert to the recording's clock. Return: ns; 0 for times before that clock started. */
uint64_t tap_wall_to(const struct tap_wall *w, int64_t realtime_ns);

/* Return the columns of a time that tap_wall_add() adds; 0 if it uses the recording's clock. */
unsigned int tap_wall_width(const struct tap_wall *w);
/*
 * Write a wall time as tap_wall_add() does; only if tap_wall_width() is not 0. Return: its length.
 */
#define TAP_WALL_TEXT 64
size_t tap_wall_text(struct tap_wall *w, uint64_t ts_ns, char to[TAP_WALL_TEXT]);
/* Add a time in the form of @w->shown, or on the recording's clock if the wall time is unknown. */
void tap_wall_add(struct tap_wall *w, struct tap_buf *out, uint64_t ts_ns);
/* Add a date to be read by people: "2026-11-20 00:47:05 +0100". */
void tap_wall_add_date(struct tap_wall *w, struct tap_buf *out, uint64_t ts_ns);
/* Add an ISO 8601 time in UTC: "2026-11-20T00:47:05.824000000Z". */
void tap_wall_add_iso(struct tap_wall *w, struct tap_buf *out, uint64_t ts_ns);

#endif
