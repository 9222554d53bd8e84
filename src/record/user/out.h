/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where programs' events go: a buffer of the recording, and a second one for those that are older
 * than what was written before them. The thread of a late one was preempted between reading the
 * clock and committing, while a program that shares its CPU went on.
 */
#ifndef TAP_RECORD_USER_OUT_H
#define TAP_RECORD_USER_OUT_H

#include "record/drain.h"

struct tap_user_lane {
	struct tap_lane lane; /* pages: NULL until the first record */
	uint64_t last_ns;
};

struct tap_user_out {
	struct tap_page_writer *writer;
	unsigned int nr_cpus;
	int buffer, late; /* < 0: not yet made */
	struct tap_user_lane *lanes; /* nr_cpus, then nr_cpus of late ones */
};

int tap_user_out_init(struct tap_user_out *out, struct tap_page_writer *writer,
		      unsigned int nr_cpus, struct tap_err *err);
void tap_user_out_release(struct tap_user_out *out);

/* A CPU's buffer, for records that are not late: begun by the first one. NULL: there is none yet.
 */
struct tap_user_lane *tap_user_out_lane(struct tap_user_out *out, unsigned int cpu);
/*
 * Adds a record; 7 bytes behind the payload must be readable. @raised: counts one whose time had to
 * be raised, since it was late among the late. Return: 0; -ENOMEM.
 */
int tap_user_out_add(struct tap_user_out *out, unsigned int cpu, uint64_t ts_ns,
		     const void *payload, uint32_t len, uint64_t *raised, struct tap_err *err);

/* Adds a schedtap:events_lost. @count: 0: not known. @cpu: < 0: not known. */
int tap_user_out_lost(struct tap_user_out *out, int cpu, uint64_t count, uint64_t first_ns,
		      uint64_t last_ns, struct tap_err *err);

/* Hands full pages over; with @last all. */
void tap_user_out_flush(struct tap_user_out *out, bool all);

#endif
