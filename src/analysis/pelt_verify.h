/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Checks the kernel's load tracking against its definition: from each recorded value the next one
 * is predicted (pelt_model.h), using the timeline for the time in between, and compared with what
 * the kernel recorded.
 *
 * For a task: util (it runs), runnable (it is queued) and load (queued, weighted). For a CPU's fair
 * tasks, and for a cgroup's on a CPU: util (one of the tasks runs), runnable (how many are queued)
 * and load (their weight). For the entity of a cgroup in its parent's queue: util and runnable; its
 * weight is not recorded. For a CPU's real-time and deadline tasks: util. Between two updates the
 * PELT clock and the recording's clock are assumed to advance in proportion. When a task changes
 * its CPU its PELT clock changes, and no event shows when it was attached: there the recording's
 * clock is used.
 *
 * An update that cannot be predicted is counted by its reason, and is not an error.
 */
#ifndef TAP_ANALYSIS_PELT_VERIFY_H
#define TAP_ANALYSIS_PELT_VERIFY_H

#include "base/hist.h"
#include "timeline/timeline.h"
#include "analysis/losses.h"
#include "analysis/pelt.h"
#include "analysis/pelt_model.h"
#include "analysis/pelt_queues.h"

/* Classifies the interval between two updates. */
enum tap_pelt_between {
	TAP_PELT_STEADY,
	TAP_PELT_MOVED, /* the task came from another CPU */
	/* the PELT clock advanced differently: capacity, frequency, interrupts, stolen time */
	TAP_PELT_CLOCK,
	TAP_PELT_NR_COMPARED,
	/* the following are not predicted */
	TAP_PELT_FIRST = TAP_PELT_NR_COMPARED, /* no update before this one */
	TAP_PELT_SAME, /* reported again: in the same period and with the same value */
	/*
	 * a task was added to the queue or left it; of a task: its value changed within a period,
	 * or its cgroup or weight changed
	 */
	TAP_PELT_ATTACHED,
	TAP_PELT_DELAYED, /* load: the task slept and may have stayed queued (delayed dequeue) */
	TAP_PELT_HELD, /* throttled in between */
	TAP_PELT_LOST,
	TAP_PELT_UNTOLD, /* the timeline does not know the state */
	TAP_PELT_NR_BETWEEN,
};

const char *tap_pelt_between_name(enum tap_pelt_between between);

enum tap_pelt_average {
	TAP_PELT_UTIL,
	TAP_PELT_RUNNABLE,
	TAP_PELT_LOAD,
	TAP_PELT_UTIL_RT,
	TAP_PELT_UTIL_DL,
	TAP_PELT_UTIL_ENTITY,
	TAP_PELT_RUNNABLE_ENTITY,
	TAP_PELT_LOAD_ENTITY, /* recorded for cgroups only, but not predicted */
	TAP_PELT_NR_AVERAGES
};

const char *tap_pelt_average_name(enum tap_pelt_average average);

/*
 * Results of comparisons, in units of the average. An error is the distance of the recorded value
 * to the range that the unrecorded fraction allows.
 */
struct tap_pelt_errors {
	struct tap_hist hist;
	uint64_t exact; /* comparisons without error */
	/* the comparison with the greatest error */
	uint64_t ts_ns, recorded;
	struct tap_pelt_range predicted;
	const struct tap_task *task; /* NULL: not a task's average */
	int cpu;
	uint64_t cgroup; /* not 0: the average is of this cgroup on .cpu */
};

/* One average of one task, CPU or cgroup. */
struct tap_pelt_verified {
	enum tap_pelt_average average;
	const struct tap_task *task; /* NULL: of .cpu */
	int cpu;
	uint64_t cgroup; /* not 0: the average is of this cgroup on .cpu */
	uint64_t updates, between[TAP_PELT_NR_BETWEEN];
	struct tap_pelt_errors errors; /* of all comparisons */
};

struct tap_pelt_verify_opts {
	const struct tap_survey *survey;
	const struct tap_cgroups *cgroups;
	enum tap_pelt_subject subject; /* whose averages to check */
	/*
	 * Return true if the average is wanted: of @task; or if @task is NULL, of @cpu, or if
	 * @cgroup is not 0, of @cgroup on @cpu. Called once for each.
	 */
	bool (*want)(void *ctx, enum tap_pelt_average average, const struct tap_task *task, int cpu,
		     uint64_t cgroup);
	void *ctx;
};

struct tap_pelt_verify {
	struct tap_pelt_verified **verified; /* owned; in order of appearance */
	unsigned int nr, cap;
	struct tap_pelt_errors errors[TAP_PELT_NR_COMPARED]; /* over .verified */
	uint64_t between[TAP_PELT_NR_BETWEEN];

	/* private */
	struct tap_pelt_verify_opts opts;
	struct tap_pelt_track **tasks; /* indexed by tap_task.index */
	struct tap_pelt_on_cpu *cpus;
	unsigned int nr_tasks, nr_cpus;
	struct tap_pelt_reading *reading; /* owned: the fields of the formats */
	unsigned int nr_reading;
	struct tap_losses losses;
	struct tap_pelt_queues queues; /* used unless the subject is tasks */
};

/* Call after tap_survey_end(). @opts is copied. */
void tap_pelt_verify_init(struct tap_pelt_verify *v, const struct tap_pelt_verify_opts *opts);
void tap_pelt_verify_release(struct tap_pelt_verify *v);
/*
 * ctx: struct tap_pelt_verify. The first watcher is for averages of tasks. The second is for those
 * of CPUs and cgroups, and must come after tap_pelt_queues_ops with .queues.
 */
extern const struct tap_watcher_ops tap_pelt_verify_of_tasks_ops, tap_pelt_verify_of_queues_ops;

#endif
