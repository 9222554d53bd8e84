/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Writes programs' events: into a buffer of the recording, and into a second one if they are older
 * than an event written before. An event is late if its thread was preempted between reading the
 * clock and committing, while another program on the same CPU went on.
 */
#ifndef TAP_RECORD_USER_OUT_H
#define TAP_RECORD_USER_OUT_H

#include "record/drain.h"

struct tap_user_lane {
	struct tap_lane lane; /* lane.pages is NULL until the first record */
	uint64_t last_ns;
};

struct tap_user_out {
	struct tap_page_writer *writer;
	unsigned int nr_cpus;
	int buffer, late; /* buffer numbers; < 0: not made yet */
	struct tap_user_lane *lanes; /* nr_cpus lanes, then nr_cpus lanes for late events */
};

int tap_user_out_init(struct tap_user_out *out, struct tap_page_writer *writer,
		      unsigned int nr_cpus, struct tap_err *err);
void tap_user_out_release(struct tap_user_out *out);

/* Return a CPU's lane for events that are not late; NULL before its first record. */
struct tap_user_lane *tap_user_out_lane(struct tap_user_out *out, unsigned int cpu);
/*
 * Add a record; 7 bytes after the payload must be readable. @raised: incremented if the time had to
 * be raised because the event was late even among late ones. Return: 0; -ENOMEM.
 */
int tap_user_out_add(struct tap_user_out *out, unsigned int cpu, uint64_t ts_ns,
		     const void *payload, uint32_t len, uint64_t *raised, struct tap_err *err);

/* Add a schedtap:events_lost event. @count: 0: unknown. @cpu: < 0: unknown. */
int tap_user_out_lost(struct tap_user_out *out, int cpu, uint64_t count, uint64_t first_ns,
		      uint64_t last_ns, struct tap_err *err);

/* Hand over full pages; all pages if @all. */
void tap_user_out_flush(struct tap_user_out *out, bool all);

#endif
