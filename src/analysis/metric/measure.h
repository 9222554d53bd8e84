/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Measure the metrics (metrics.h) of a recording in one run, with several analyses as watchers. The
 * numbers are taken from the same structs as those of the reports.
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

/*
 * The length of a block of time; longer if there would be more than TAP_MEASURE_MAX_BLOCKS blocks.
 */
#define TAP_MEASURE_BLOCK_NS 100000000u
#define TAP_MEASURE_MAX_BLOCKS 256u

enum tap_measured_wait {
	TAP_MEASURED_WAKING,
	TAP_MEASURED_PREEMPTED,
	TAP_MEASURED_THROTTLED,
	TAP_NR_MEASURED
};

struct tap_measure_opts {
	/* the run's, set when it is made: util_est adds tasks to it that only its events name */
	struct tap_timeline *const *timeline;
	const struct tap_survey *survey;
	struct tap_window window;
	bool has_throttling; /* sched_throttle was recorded */
	bool has_migrations; /* sched_migrate_task was recorded */
	bool has_deadlines; /* sched_dl_pick was recorded, though perhaps no such event occurred */
	bool by_task; /* only metrics of tasks, by task name */
	bool has_blocks; /* fill .blocks */
	bool has_bounds; /* tap_metrics_bound() will be called */
	struct tap_paths_opts paths;
	bool all_tasks; /* the user's options do not select tasks */
};

struct tap_measure {
	struct tap_measure_opts opts;
	const struct tap_timeline *timeline; /* set at the end of the run */
	struct tap_latency waits[TAP_NR_MEASURED];
	/* of waits of unknown length: the longest recorded part within the window */
	uint64_t cut_ns[TAP_NR_MEASURED];
	struct tap_hidden hidden; /* used if .has_bounds */
	/* owned; with .has_blocks: the waits of .waits by the block in which they ended */
	struct tap_hist *blocks[TAP_NR_MEASURED];
	unsigned int nr_blocks;
	struct tap_migrations migrations;
	struct tap_explain_waits explain_waits;
	struct tap_explain explained;
	struct tap_balance balance;
	bool any_throttling; /* a throttling event was recorded */
	/* sched_set_need_resched or cpu_idle was recorded, and no tasks are selected */
	bool has_resched;
	struct tap_resched resched;
	struct tap_pelt *signals; /* util of CPUs; NULL if .by_task */
	struct tap_util_est util_est;
	struct tap_frequency frequency;
	bool has_picks; /* sched_pick was recorded */
	struct tap_eevdf eevdf;
	struct tap_deadlines deadlines;
	bool has_paths; /* wakeups were recorded, and .opts.paths asks for paths */
	struct tap_paths paths;
};

/* Call after the survey. Return: 0 or -ENOMEM. */
int tap_measure_init(struct tap_measure *m, const struct tap_measure_opts *opts);
void tap_measure_release(struct tap_measure *m);

/* Return true if the recording has what is needed to know waits of this kind. */
bool tap_measure_knows(const struct tap_measure *m, enum tap_measured_wait wait);

/* Append watchers to @v, at most TAP_MAX_WATCHERS. Return: their number. */
unsigned int tap_measure_add_watchers(struct tap_measure *m, struct tap_watcher *v);

/* Call after the run. Return: 0 or -ENOMEM. */
int tap_measure_end(struct tap_measure *m, struct tap_metrics *out);

#endif
