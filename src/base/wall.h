/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * From a recording's clock to the time of day and back. Linux' CLOCK_MONOTONIC (and BOOTTIME) and
 * CLOCK_REALTIME run at one rate: what NTP does to the rate it does to both. The distance between
 * them changes only where the clock is set, which a leap second does as well (by -1 s), or for
 * CLOCK_MONOTONIC while the machine sleeps. So one distance holds for a whole recording, unless
 * a second reading of both clocks says otherwise; then nobody knows since when.
 *
 * CLOCK_REALTIME knows no leap seconds, and neither does what is here: 23:59:60 is read as the
 * second behind it.
 */
#ifndef TAP_BASE_WALL_H
#define TAP_BASE_WALL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

/* How text shows a time. */
enum tap_clock {
	TAP_SHOW_MONO, /* "1326.749619000", the recording's own clock */
	TAP_SHOW_WALL, /* "2026-11-20 00:47:05.824000000", in the local time zone */
	TAP_SHOW_TOD, /* "00:47:05.824000000" */
};

/* The last whole second that was written out: the next time is often within it. */
struct tap_wall_second {
	int64_t second;
	char text[48]; /* "2026-11-20 00:47:05" */
};

/* {0}: the wall time is not known, and text shows the recording's clock. */
struct tap_wall {
	bool is_known;
	int64_t offset_ns; /* CLOCK_REALTIME less the recording's clock */
	int64_t moved_ns; /* by how much that changed between the readings; 0: it did not */
	enum tap_clock shown;
	struct tap_wall_second local, utc;
};

/*
 * A reading of both clocks, @ts_ns first. Of two the closer one counts: a reader that is preempted
 * between the clocks makes the distance too big, never too small.
 */
void tap_wall_learn(struct tap_wall *w, uint64_t ts_ns, uint64_t realtime_ns);

/* Where the wall time is known. Return: CLOCK_REALTIME, ns since 1970, at most INT64_MAX. */
int64_t tap_wall_from(const struct tap_wall *w, uint64_t ts_ns);
/* Return: the recording's time; 0 for what was before its clock began. */
uint64_t tap_wall_to(const struct tap_wall *w, int64_t realtime_ns);

/* The columns that tap_wall_add() takes; 0: it shows the recording's clock. */
unsigned int tap_wall_width(const struct tap_wall *w);
/* Writes a time as tap_wall_add() shows it, where that is the wall time. Return: its length. */
#define TAP_WALL_TEXT 64
size_t tap_wall_text(struct tap_wall *w, uint64_t ts_ns, char to[TAP_WALL_TEXT]);
/* Adds a time as @w->shown says; where the wall time is not known, as the recording's clock. */
void tap_wall_add(struct tap_wall *w, struct tap_buf *out, uint64_t ts_ns);
/* Adds "2026-11-20 00:47:05 +0100": a date for people. */
void tap_wall_add_date(struct tap_wall *w, struct tap_buf *out, uint64_t ts_ns);
/* Adds "2026-11-20T00:47:05.824000000Z": ISO 8601, UTC. */
void tap_wall_add_iso(struct tap_wall *w, struct tap_buf *out, uint64_t ts_ns);

#endif
