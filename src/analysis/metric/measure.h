/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Takes the metrics (metrics.h) of a recording in one reading: by several analyses that watch it.
 * The numbers are those of the reports, out of the same structs.
 */
#ifndef TAP_METRIC_MEASURE_H
#define TAP_METRIC_MEASURE_H

#include "analysis/balance.h"
#include "analysis/deadlines.h"
#include "analysis/eevdf.h"
#include "analysis/explain/explain.h"
#include "analysis/frequency.h"
#include "analysis/latency.h"
#include "analysis/metric/hidden.h"
#include "analysis/metric/metrics.h"
#include "analysis/metric/paths.h"
#include "analysis/migrations.h"
#include "analysis/pelt.h"
#include "analysis/resched.h"
#include "analysis/util_est.h"

/* So long is a block of time, or longer, so that there are not more than so many. */
#define TAP_MEASURE_BLOCK_NS 100000000u
#define TAP_MEASURE_MAX_BLOCKS 256u

enum tap_measured_wait {
	TAP_MEASURED_WAKING,
	TAP_MEASURED_PREEMPTED,
	TAP_MEASURED_THROTTLED,
	TAP_NR_MEASURED
};

struct tap_measure_opts {
	/* of the run: util_est adds tasks that only its events name */
	struct tap_timeline *const *timeline;
	const struct tap_survey *survey;
	struct tap_window window;
	bool has_throttling; /* sched_throttle was recorded */
	bool has_migrations; /* sched_migrate_task was */
	bool has_deadlines; /* sched_dl_pick was, though there may be none */
	bool by_task; /* metrics of the tasks of each name, and no others */
	bool has_blocks; /* .blocks are wanted */
	bool has_bounds; /* tap_metrics_bound() is to follow */
	struct tap_paths_opts paths;
	bool all_tasks; /* no task is selected by the user's options */
};

struct tap_measure {
	struct tap_measure_opts opts;
	const struct tap_timeline *timeline; /* after the run */
	struct tap_latency waits[TAP_NR_MEASURED];
	/* the longest that was seen, in the window, of one whose length is not known */
	uint64_t cut_ns[TAP_NR_MEASURED];
	struct tap_hidden hidden; /* with .has_bounds */
	/* With .has_blocks: the same waits, by when they ended. Owned. */
	struct tap_hist *blocks[TAP_NR_MEASURED];
	unsigned int nr_blocks;
	struct tap_migrations migrations;
	struct tap_explain_waits explain_waits;
	struct tap_explain explained;
	struct tap_balance balance;
	bool any_throttling; /* somebody was, or was no more */
	bool has_resched; /* sched_set_need_resched or cpu_idle was recorded, and all tasks count */
	struct tap_resched resched;
	struct tap_pelt *signals; /* util of CPUs; NULL: by task */
	struct tap_util_est util_est;
	struct tap_frequency frequency;
	bool has_picks; /* sched_pick was recorded */
	struct tap_eevdf eevdf;
	struct tap_deadlines deadlines;
	bool has_paths; /* wakeups were recorded, and some are wanted */
	struct tap_paths paths;
};

/* After the survey. Return: 0 or -ENOMEM. */
int tap_measure_init(struct tap_measure *m, const struct tap_measure_opts *opts);
void tap_measure_release(struct tap_measure *m);

/* Whether the recording tells of such waits. */
bool tap_measure_knows(const struct tap_measure *m, enum tap_measured_wait wait);

/* Adds its watchers to @v, at most TAP_MAX_WATCHERS. Return: how many. */
unsigned int tap_measure_add_watchers(struct tap_measure *m, struct tap_watcher *v);

/* After the run. Return: 0 or -ENOMEM. */
int tap_measure_end(struct tap_measure *m, struct tap_metrics *out);

#endif
