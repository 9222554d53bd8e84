/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Queue lengths over time that may still be revised. Lengths that are final are added to a
 * histogram, weighted with time. Entries older than TAP_LENGTH_LOG_STEPS steps are merged into
 * histograms, one per interval: if a length within such an interval is revised, all of it becomes
 * unknown.
 */
#ifndef TAP_ANALYSIS_LENGTH_LOG_H
#define TAP_ANALYSIS_LENGTH_LOG_H

#include "base/hist.h"

/* {0} is empty. */
struct tap_length_log {
	struct tap_length_step {
		uint64_t since_ns; /* the step lasts until the next one's .since_ns, or until now */
		int64_t length; /* -1: not known */
	} * steps; /* owned */
	unsigned int head, nr, cap; /* a ring: steps[head] is the oldest */
	struct tap_length_while {
		uint64_t from_ns; /* until the next one's .from_ns, or steps[head].since_ns */
		struct tap_hist known;
	} * older; /* owned */
	unsigned int nr_older;
};

#define TAP_LENGTH_LOG_STEPS 4096u /* limit */

void tap_length_log_release(struct tap_length_log *log);

/*
 * The length is @length from @ns on; -1: not known. Return: 0 or -ENOMEM, like the functions below.
 */
int tap_length_log_set(struct tap_length_log *log, uint64_t ns, int64_t length);
/* The length was not known from @from_ns until @now_ns. */
int tap_length_log_doubt(struct tap_length_log *log, uint64_t from_ns, uint64_t now_ns);
/* Lengths before @ns are final: add them to @h. */
int tap_length_log_commit(struct tap_length_log *log, struct tap_hist *h, uint64_t ns);

#endif
