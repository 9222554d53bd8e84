/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The recorded schedule with other PELT half-lives. Computes load tracking by its definition
 * (pelt_model.h) from the slices of the timeline; load-tracking events are neither needed nor read.
 * Another half-life is the same arithmetic on a faster or slower clock, which is how the kernel
 * implements a selectable half-life; the kernel's default is 32 ms.
 *
 * Computes util of a task, runnable of a task (from sched_waking on when it is woken), and util of
 * a CPU: from the time that fair tasks ran there, whereas in the kernel a task's util moves with it
 * to another CPU. Also util and runnable of a cgroup on a CPU (pelt_queues.h), likewise from its
 * time there: the values of its entity and its queue. All CPUs count as equally fast.
 *
 * The values at the window's start are not known, but their effect fades. An average is kept as a
 * lower and an upper bound, and reported once these differ by at most TAP_PELT_FADED. That takes
 * seven half-lives, or 29 for a cgroup's runnable, because the number of waiting tasks was unknown.
 * An interval with unknown state makes the bounds diverge again.
 *
 * Values are updated once per period while a task is queued, and do not change while it sleeps,
 * like the kernel's.
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
	bool util, runnable; /* which averages to compute; CPUs have no runnable */
	/* If the subject is cgroups: these; borrowed. */
	const struct tap_pelt_group *groups;
	unsigned int nr_groups;
	/* See struct tap_pelt_queues_opts. */
	const struct tap_survey *survey;
	const struct tap_cgroups *cgroups;
	bool while_running; /* this and the next two: see struct tap_pelt_opts */
	unsigned int nr_columns;
	bool keep_points;
	/*
	 * Return true if the task, or the CPU if @task is NULL, is wanted; not called per cgroup.
	 * Called once for each.
	 */
	bool (*want)(void *ctx, const struct tap_task *task, int cpu);
	void *ctx;
};

struct tap_pelt_what_if {
	/* Owned; by subject in order of appearance, then by average and half-life. */
	struct tap_pelt_series **series;
	unsigned int nr, cap;

	/* private */
	struct tap_pelt_what_if_opts opts;
	struct tap_pelt_signal signals[2 * TAP_PELT_MAX_HALFLIVES];
	char names[2 * TAP_PELT_MAX_HALFLIVES][24];
	unsigned int nr_signals;
	struct tap_pelt_curves **subjects; /* indexed by tap_task.index, or by CPU and cgroup */
	unsigned int nr_subjects;
	struct tap_pelt_queues queues; /* used if the subject is cgroups */
};

/*
 * Parse "halflife=16ms,64ms" into the half-lives of @opts. Return: 0; -EINVAL with a message in
 * @err.
 */
int tap_pelt_what_if_parse(const char *text, struct tap_pelt_what_if_opts *opts,
			   struct tap_err *err);
/* @opts is copied. */
void tap_pelt_what_if_init(struct tap_pelt_what_if *w, const struct tap_pelt_what_if_opts *opts);
void tap_pelt_what_if_release(struct tap_pelt_what_if *w);
/*
 * ctx: struct tap_pelt_what_if. One watcher for tasks, one for CPUs. For cgroups the watcher is
 * tap_pelt_queues_ops with .queues.
 */
extern const struct tap_watcher_ops tap_pelt_what_if_of_tasks_ops, tap_pelt_what_if_of_cpus_ops;

#endif
