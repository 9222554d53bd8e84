/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The same schedule seen with other half-lives. Load tracking by its definition (pelt_model.h),
 * from what the timeline says of who ran when: no load-tracking events are needed, and none is
 * read. Another half-life is the same arithmetic on a clock that goes faster or slower, as the
 * kernel has it where it can be chosen: 32 ms is the kernel's.
 *
 * util of a task, runnable of a task (a waking one from sched_waking on), and util of a CPU: of the
 * time that fair tasks ran there, whereas the kernel's goes with its tasks as they move. util and
 * runnable of a cgroup on a CPU (pelt_queues.h), likewise of its time there: what its entity and
 * its queue would have. All CPUs are as fast as the fastest.
 *
 * What was before the window is not known. It fades: an average is kept as what it may be at least
 * and at most, and is told as soon as these are no more than TAP_PELT_FADED apart, which takes
 * seven half-lives; runnable of a cgroup 29, for nobody knows how many tasks waited. Time of which
 * nothing is known makes them part again.
 *
 * As the kernel's, values are updated once in a period while a task is queued, and stand still
 * while it sleeps.
 */
#ifndef TAP_ANALYSIS_PELT_WHAT_IF_H
#define TAP_ANALYSIS_PELT_WHAT_IF_H

#include "analysis/pelt.h"
#include "analysis/pelt_model.h"
#include "analysis/pelt_queues.h"

#define TAP_PELT_FADED 8u
#define TAP_PELT_MAX_HALFLIVES 8u

struct tap_pelt_what_if_opts {
	struct tap_window window;
	uint64_t halflives_ns[TAP_PELT_MAX_HALFLIVES]; /* 100 us to 10 s */
	unsigned int nr_halflives;
	enum tap_pelt_subject subject; /* tasks, CPUs, or cgroups */
	bool util, runnable; /* which; CPUs have no runnable */
	/* Of cgroups: these; borrowed. */
	const struct tap_pelt_group *groups;
	unsigned int nr_groups;
	/* As in struct tap_pelt_queues_opts. */
	const struct tap_survey *survey;
	const struct tap_cgroups *cgroups;
	bool while_running; /* as in struct tap_pelt_opts; so are the next two */
	unsigned int nr_columns;
	bool keep_points;
	/* @task: NULL: a CPU; which cgroups on it is not asked. Once of each. */
	bool (*want)(void *ctx, const struct tap_task *task, int cpu);
	void *ctx;
};

struct tap_pelt_what_if {
	/* By whom they are of, as these came; then by average and half-life. Owned. */
	struct tap_pelt_series **series;
	unsigned int nr, cap;

	/* inside */
	struct tap_pelt_what_if_opts opts;
	struct tap_pelt_signal signals[2 * TAP_PELT_MAX_HALFLIVES];
	char names[2 * TAP_PELT_MAX_HALFLIVES][24];
	unsigned int nr_signals;
	struct tap_pelt_curves **subjects; /* by index, or by CPU and cgroup */
	unsigned int nr_subjects;
	struct tap_pelt_queues queues; /* of cgroups */
};

/*
 * "halflife=16ms,64ms": fills in the half-lives. Return: 0; -EINVAL with a sentence.
 */
int tap_pelt_what_if_parse(const char *text, struct tap_pelt_what_if_opts *opts,
			   struct tap_err *err);
/* @opts is copied. */
void tap_pelt_what_if_init(struct tap_pelt_what_if *w, const struct tap_pelt_what_if_opts *opts);
void tap_pelt_what_if_release(struct tap_pelt_what_if *w);
/* ctx: struct tap_pelt_what_if. For tasks; for CPUs. For cgroups the watcher is tap_pelt_queues_ops
 * with .queues. */
extern const struct tap_watcher_ops tap_pelt_what_if_of_tasks_ops, tap_pelt_what_if_of_cpus_ops;

#endif
