/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Metrics of critical paths (analysis/critical/walk.h), of tasks and of requests. The log of these
 * paths takes memory in proportion to events, and walking it takes time, so the metrics are
 * computed only on request.
 */
#ifndef TAP_METRIC_PATHS_H
#define TAP_METRIC_PATHS_H

#include "analysis/critical/request_source.h"
#include "analysis/critical/watch.h"
#include "analysis/metric/metrics.h"

struct tap_paths_opts {
	bool of_tasks; /* measure paths of tasks */
	/*
	 * tid of the recorded command, whose path is measured if no tasks are selected; 0: unknown
	 */
	int command;
	/* borrowed until the end; NULL: do not measure requests */
	struct tap_request_source *requests;
	const struct tap_reader_info *info; /* of the recording, borrowed until the end */
};

struct tap_paths {
	struct tap_paths_opts opts;
	const struct tap_survey *survey;
	bool all_tasks; /* the user's options do not select tasks */
	struct tap_critical_watch watch; /* its .stacks are owned */
	struct tap_request_watch request_watch;
	/* set by tap_paths_end() */
	struct tap_path_sum tasks; /* the sum of all measured tasks' paths */
	struct tap_requests requests;
	struct tap_request_times times;
	/* private */
	struct tap_walk walk;
};

/*
 * @p: the caller has set the first three members, and the rest is 0. Return: 0 or -ENOMEM, also for
 * tap_paths_end().
 */
int tap_paths_init(struct tap_paths *p);
void tap_paths_release(struct tap_paths *p);
/* Append watchers to @v, at most 3. Return: their number. */
unsigned int tap_paths_add_watchers(struct tap_paths *p, struct tap_watcher *v);
/* Call after the run. */
int tap_paths_end(struct tap_paths *p, const struct tap_timeline *t, struct tap_metrics *out);

/* The times of requests: "all", "others" and the states, as in `critical --json`. */
#define TAP_NR_REQUEST_TIMES (TAP_NR_PATH_STATES + 2u)
const char *tap_request_time_name(unsigned int i);
const struct tap_hist *tap_request_time(const struct tap_request_times *t, unsigned int i);

#endif
