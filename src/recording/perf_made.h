/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Events that a perf.data does not hold, but says in other records: sched_switch from its SWITCH and EXIT
 * records. Each has a format of its own, with an id that no event of the file has, so that readers need
 * not know of it. docs/perf-data.md says what is in them.
 */
#ifndef TAP_RECORDING_PERF_MADE_H
#define TAP_RECORDING_PERF_MADE_H

#include "recording/dat_file.h"
#include "recording/perf_blocks.h"

/* prev_state, by the kernel's own numbers. */
enum tap_perf_left {
	TAP_PERF_LEFT_PREEMPTED = 0,
	TAP_PERF_LEFT_ASLEEP = 1, /* or blocked, or stopped */
	TAP_PERF_LEFT_DEAD = 0x10,
	TAP_PERF_LEFT_UNKNOWN = 0x200,
};

/* A switch as SWITCH records say it. */
struct tap_perf_switch {
	int prev, next; /* -1: not known */
	enum tap_perf_left left;
};

struct tap_perf_made {
	const struct tap_format *sched_switch; /* NULL: none are made */
	struct tap_perf_blocks blocks; /* that the records lie in */
};

/*
 * Adds the format of switches to the reader's, unless it has a sched_switch: that says more.
 * Return: 0; -ENOMEM.
 */
int tap_perf_made_switches(struct tap_perf_made *m, struct tap_reader *r, struct tap_err *err);

/*
 * Makes a record of @round, whose block goes with those of its round.
 * Return: 0; -E2BIG; -ENOMEM.
 */
int tap_perf_made_switch(struct tap_perf_made *m, uint64_t round, const struct tap_perf_switch *s,
			 const unsigned char **data, uint32_t *size, struct tap_err *err);

#endif
