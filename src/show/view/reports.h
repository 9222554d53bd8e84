/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The reports of a page that is served: made one after the other by a thread that has a reader of
 * its own, and less of the CPUs than whoever waits for a part.
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
	/* under the lock */
	unsigned int nr_made;
	bool is_ending;
};

/* @input: borrowed until the release. */
void tap_reports_init(struct tap_reports *r, const struct tap_input_opts *input);
/* When nobody makes or waits for one any more. */
void tap_reports_release(struct tap_reports *r);
/* Makes them all, or until the end. For a thread of its own. */
void tap_reports_make(struct tap_reports *r);
void tap_reports_end(struct tap_reports *r);
/* Waits for the report. @json: borrowed until the release. Return: 0; -ENOENT: there is none of
 * this name; -errno; each with a sentence. */
int tap_reports_get(struct tap_reports *r, const char *name, const struct tap_buf **json,
		    struct tap_err *err);

#endif
