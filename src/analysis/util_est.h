/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Checks the kernel's estimates of tasks' utilisation (util_est). When a task goes to sleep,
 * sched_util_est_se shows its util and the estimate that is kept for its next activation. At the
 * end of that activation its util is what it needed. So each two consecutive events of a task make
 * one comparison: the estimate of the first with the util of the second.
 *
 * Until v6.8 the estimate is the larger one of two values, later it is one value. The kernel makes
 * no estimate if a task's util is above its CPU's capacity: such an activation has no event, and is
 * left out.
 */
#ifndef TAP_ANALYSIS_UTIL_EST_H
#define TAP_ANALYSIS_UTIL_EST_H

#include "base/hist.h"
#include "timeline/sched_fields.h"
#include "timeline/timeline.h"
#include "analysis/losses.h"

/* Sums of one task, or of all; values are in 1/1024. */
struct tap_util_est_sums {
	uint64_t sleeps; /* sleeps with an estimate */
	uint64_t unknown; /* sleeps before which other events of the task may have been lost */
	struct tap_hist need; /* util at the end of compared activations; .count: their number */
	struct tap_hist error; /* absolute error of the estimate */
	/* errors of estimates that were too high (.over) or too low (.under) */
	struct tap_hist over, under;
	uint64_t max_at_ns; /* time of the greatest .error */
};

struct tap_util_est_task {
	const struct tap_task *task; /* NULL: not selected */
	struct tap_util_est_sums sums;
	/* private */
	bool known; /* .estimate is known, since .at_ns */
	uint64_t estimate, at_ns;
};

struct tap_util_est_opts {
	/* the timeline, to which tasks of events are added: switches need not be recorded */
	struct tap_timeline *const *timeline;
	const struct tap_survey *survey;
	bool (*want)(void *ctx, const struct tap_task *task);
	void *ctx;
};

struct tap_util_est {
	struct tap_util_est_task *tasks; /* owned; indexed by tap_task.index */
	unsigned int nr_tasks;
	struct tap_util_est_sums all;

	/* private */
	struct tap_util_est_opts opts;
	const struct tap_format *fmt; /* the format that the fields below belong to */
	struct tap_num tid, util, enqueued, ewma;
	struct tap_losses losses;
};

/* Call after tap_survey_end(). @opts is copied. */
void tap_util_est_init(struct tap_util_est *u, const struct tap_util_est_opts *opts);
void tap_util_est_release(struct tap_util_est *u);
/* ctx: struct tap_util_est. */
extern const struct tap_watcher_ops tap_util_est_ops;

#endif
