/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reports of the served page, made one after the other by a thread with its own reader, at a lower
 * priority than the threads that serve parts.
 */
#ifndef TAP_VIEW_REPORTS_H
#define TAP_VIEW_REPORTS_H

#include <pthread.h>

#include "show/out/input.h"

#define TAP_REPORTS_MAX 16u

struct tap_reports {
	const struct tap_input_opts *input;
	struct {
		struct tap_buf json;
		struct tap_err err;
	} of[TAP_REPORTS_MAX];
	pthread_mutex_t lock;
	pthread_cond_t changed;
	/* protected by .lock */
	unsigned int nr_made;
	bool is_ending;
};

/* @input: borrowed until the release. */
void tap_reports_init(struct tap_reports *r, const struct tap_input_opts *input);
/* Call it when no thread makes reports or waits for one. */
void tap_reports_release(struct tap_reports *r);
/* Thread function: make all reports, or until tap_reports_end(). */
void tap_reports_make(struct tap_reports *r);
void tap_reports_end(struct tap_reports *r);
/*
 * Wait for a report. @json: borrowed until the release. Return: 0; -ENOENT: no report of this name;
 * -errno; each with a sentence.
 */
int tap_reports_get(struct tap_reports *r, const char *name, const struct tap_buf **json,
		    struct tap_err *err);

#endif
