/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The kernel's estimates of utilisation judged. When a task goes to sleep, sched_util_est_se tells
 * its util and the estimate that is kept for its next activation; at the end of that one its util
 * is what it needed. So each two events of a task in a row make one judgement: the estimate of the
 * first against the util of the second.
 *
 * Until v6.8 the estimate is the greater one of two, from then on one value. The kernel makes no
 * estimate where a task's util is above its CPU's capacity: such an activation is not told of, and
 * its neighbours make the judgement.
 */
#ifndef TAP_ANALYSIS_UTIL_EST_H
#define TAP_ANALYSIS_UTIL_EST_H

#include "base/hist.h"
#include "timeline/sched_fields.h"
#include "timeline/timeline.h"
#include "analysis/losses.h"

/* Of one task, or of all; values in parts of 1024. */
struct tap_util_est_sums {
	uint64_t sleeps; /* with an estimate */
	uint64_t unknown; /* that may have others, lost, between them and the one before */
	struct tap_hist need; /* util at the end of what is judged; .count: how many are */
	struct tap_hist error; /* how far the estimate was off, either way */
	struct tap_hist over, under; /* those of estimates that were too high, too low */
	uint64_t max_at_ns; /* of the greatest .error */
};

struct tap_util_est_task {
	const struct tap_task *task; /* NULL: of no interest */
	struct tap_util_est_sums sums;
	/* inside */
	bool known; /* .estimate, since .at_ns */
	uint64_t estimate, at_ns;
};

struct tap_util_est_opts {
	/* gets the tasks of events: switches need not be recorded */
	struct tap_timeline *const *timeline;
	const struct tap_survey *survey;
	bool (*want)(void *ctx, const struct tap_task *task);
	void *ctx;
};

struct tap_util_est {
	struct tap_util_est_task *tasks; /* owned; by index */
	unsigned int nr_tasks;
	struct tap_util_est_sums all;

	/* inside */
	struct tap_util_est_opts opts;
	const struct tap_format *fmt; /* that the next are of */
	struct tap_num tid, util, enqueued, ewma;
	struct tap_losses losses;
};

/* @opts is copied. Behind the survey. */
void tap_util_est_init(struct tap_util_est *u, const struct tap_util_est_opts *opts);
void tap_util_est_release(struct tap_util_est *u);
/* ctx: struct tap_util_est. */
extern const struct tap_watcher_ops tap_util_est_ops;

#endif
