/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Recordings as metrics (analysis/metric/measure.h): each is read once, several at a time. */
#ifndef TAP_REPORT_MEASURED_H
#define TAP_REPORT_MEASURED_H

#include "analysis/metric/measure.h"
#include "show/out/input.h"
#include "show/report/facts.h"

struct tap_measured {
	const char *path; /* borrowed; set by the caller, the rest is 0 */
	struct tap_facts facts;
	struct tap_metrics metrics;
	struct tap_measure measure; /* its blocks, where they are wanted */
	struct tap_buf notes; /* what the user should know, one a line */
	bool is_unmatched; /* options pick tasks, and fit none here */
};

struct tap_measured_opts {
	const struct tap_input_opts *input; /* but .input */
	bool by_task, has_blocks;
	bool has_bounds; /* of metrics are wanted: analysis/metric/bounds.h */
	bool has_paths; /* of tasks are wanted: analysis/metric/paths.h */
	/* and of requests, as of `schedtap critical`, checked already; or NULL */
	const char *between, *between_by;
};

/*
 * Return: 0; -errno with the sentence of the first that failed: @usage says whether the options are
 * to blame. Release each in either case.
 */
int tap_measured_read(struct tap_measured *v, unsigned int nr, const struct tap_measured_opts *opts,
		      bool *usage, struct tap_err *err);
void tap_measured_release(struct tap_measured *m);

#endif
