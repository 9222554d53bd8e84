/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How long a queue was, from when to when, as long as it may yet turn out to have been otherwise.
 * What is right goes into a histogram, weighted with time. What is older than some thousand steps
 * is kept as histograms of a while each: a doubt that begins within such a while is about all of
 * it.
 */
#ifndef TAP_ANALYSIS_LENGTH_LOG_H
#define TAP_ANALYSIS_LENGTH_LOG_H

#include "base/hist.h"

/* {0} is empty. */
struct tap_length_log {
	struct tap_length_step {
		uint64_t since_ns; /* until the next one's, or now */
		int64_t length; /* -1: not known */
	} * steps; /* owned */
	unsigned int head, nr, cap; /* steps[head] is the oldest */
	struct tap_length_while {
		uint64_t from_ns; /* until the next one's, or steps[head]'s */
		struct tap_hist known;
	} * older; /* owned */
	unsigned int nr_older;
};

#define TAP_LENGTH_LOG_STEPS 4096u /* at most */

void tap_length_log_release(struct tap_length_log *log);

/* From @ns on the length is another. Return: 0 or -ENOMEM, here and below. */
int tap_length_log_set(struct tap_length_log *log, uint64_t ns, int64_t length);
/* From @from_ns until now the length is not known. */
int tap_length_log_doubt(struct tap_length_log *log, uint64_t from_ns, uint64_t now_ns);
/* What was before @ns is right, and counts. */
int tap_length_log_commit(struct tap_length_log *log, struct tap_hist *h, uint64_t ns);

#endif
