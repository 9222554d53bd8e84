/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The metrics that take critical paths (analysis/critical/walk.h): of tasks, and of requests. The
 * log that these are read from takes memory that grows with events, and walking along it time: so
 * they are taken for who asks alone.
 */
#ifndef TAP_METRIC_PATHS_H
#define TAP_METRIC_PATHS_H

#include "analysis/critical/request_source.h"
#include "analysis/critical/watch.h"
#include "analysis/metric/metrics.h"

struct tap_paths_opts {
	bool of_tasks; /* those of tasks are wanted */
	/* the tid of the command that was recorded, whose path it is where no tasks are picked; 0:
	 * not known */
	int command;
	/* borrowed until the end; NULL: those of requests are not wanted */
	struct tap_request_source *requests;
	const struct tap_reader_info *info; /* of what is read, likewise */
};

struct tap_paths {
	struct tap_paths_opts opts;
	const struct tap_survey *survey;
	bool all_tasks; /* no task is selected by the user's options */
	struct tap_critical_watch watch; /* its .stacks are owned */
	struct tap_request_watch request_watch;
	/* after the end */
	struct tap_path_sum tasks; /* the paths of all of them */
	struct tap_requests requests;
	struct tap_request_times times;
	/* inside */
	struct tap_walk walk;
};

/* The first three members of @p are set, the rest is 0. Return: 0 or -ENOMEM, here and below. */
int tap_paths_init(struct tap_paths *p);
void tap_paths_release(struct tap_paths *p);
/* Adds its watchers to @v, at most 3. Return: how many. */
unsigned int tap_paths_add_watchers(struct tap_paths *p, struct tap_watcher *v);
/* After the run. */
int tap_paths_end(struct tap_paths *p, const struct tap_timeline *t, struct tap_metrics *out);

/* The times of requests, as `critical --json` has them: "all", "others" and states. */
#define TAP_NR_REQUEST_TIMES (TAP_NR_PATH_STATES + 2u)
const char *tap_request_time_name(unsigned int i);
const struct tap_hist *tap_request_time(const struct tap_request_times *t, unsigned int i);

#endif
