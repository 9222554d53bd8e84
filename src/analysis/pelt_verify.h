/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The kernel's load tracking held against its definition: from each recorded value the next one is
 * predicted (pelt_model.h), by what the timeline says of the time between, and what the kernel
 * recorded is compared with that.
 *
 * Of a task: util (it runs), runnable (it is queued), load (the same, weighted). Of a CPU's fair
 * tasks, and of a cgroup's on a CPU: util (some task of it runs), runnable (how many are queued),
 * load (what these weigh). Of the entity that a cgroup is in its parent's queue: util and runnable;
 * its weight is recorded nowhere. Of a CPU's real-time and deadline tasks: util. Between two
 * updates the PELT clock and the recording's are taken to go in proportion. Where a task changes
 * its CPU, its clock is another, and nothing tells when it was attached: the recording's clock
 * bridges that.
 *
 * What cannot be predicted is counted by the reason, and is no error.
 */
#ifndef TAP_ANALYSIS_PELT_VERIFY_H
#define TAP_ANALYSIS_PELT_VERIFY_H

#include "base/hist.h"
#include "timeline/timeline.h"
#include "analysis/losses.h"
#include "analysis/pelt.h"
#include "analysis/pelt_model.h"
#include "analysis/pelt_queues.h"

/* What lies between two updates. */
enum tap_pelt_between {
	TAP_PELT_STEADY,
	TAP_PELT_MOVED, /* the task came from another CPU */
	/* the PELT clock went otherwise: capacity, frequency, interrupts, stolen time */
	TAP_PELT_CLOCK,
	TAP_PELT_NR_COMPARED,
	/* not predicted */
	TAP_PELT_FIRST = TAP_PELT_NR_COMPARED, /* nothing recorded before */
	TAP_PELT_SAME, /* told once more: within the same period, and the same value */
	/* a task came to the queue or left it; of a task: it changed within a period, its cgroup or
	   its weight did */
	TAP_PELT_ATTACHED,
	TAP_PELT_DELAYED, /* load: it slept, and may have stayed queued */
	TAP_PELT_HELD, /* throttled */
	TAP_PELT_LOST,
	TAP_PELT_UNTOLD, /* the timeline does not know */
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
	TAP_PELT_LOAD_ENTITY, /* of a cgroup */
	TAP_PELT_NR_AVERAGES
};

const char *tap_pelt_average_name(enum tap_pelt_average average);

/* What was compared, in units of the average. An error is the distance to what the fraction that is
 * not recorded leaves open. */
struct tap_pelt_errors {
	struct tap_hist hist;
	uint64_t exact; /* no error */
	/* the greatest */
	uint64_t ts_ns, recorded;
	struct tap_pelt_range predicted;
	const struct tap_task *task; /* NULL: a CPU */
	int cpu;
	uint64_t cgroup; /* on this CPU; 0: none */
};

/* One average of one task, CPU or cgroup. */
struct tap_pelt_verified {
	enum tap_pelt_average average;
	const struct tap_task *task; /* NULL: .cpu's */
	int cpu;
	uint64_t cgroup; /* on .cpu; 0: none */
	uint64_t updates, between[TAP_PELT_NR_BETWEEN];
	struct tap_pelt_errors errors; /* of all that was compared */
};

struct tap_pelt_verify_opts {
	const struct tap_survey *survey;
	const struct tap_cgroups *cgroups;
	enum tap_pelt_subject subject; /* whose averages */
	/* @task: NULL: @cpu's, or, if not 0, @cgroup's there. Asked once of each. */
	bool (*want)(void *ctx, enum tap_pelt_average average, const struct tap_task *task, int cpu,
		     uint64_t cgroup);
	void *ctx;
};

struct tap_pelt_verify {
	struct tap_pelt_verified **verified; /* owned; as they came */
	unsigned int nr, cap;
	struct tap_pelt_errors errors[TAP_PELT_NR_COMPARED]; /* of all of them */
	uint64_t between[TAP_PELT_NR_BETWEEN];

	/* inside */
	struct tap_pelt_verify_opts opts;
	struct tap_pelt_track **tasks; /* by index */
	struct tap_pelt_on_cpu *cpus;
	unsigned int nr_tasks, nr_cpus;
	struct tap_pelt_reading *reading; /* owned: the fields of the formats */
	unsigned int nr_reading;
	struct tap_losses losses;
	struct tap_pelt_queues queues; /* not of tasks */
};

/* @opts is copied. Behind the survey. */
void tap_pelt_verify_init(struct tap_pelt_verify *v, const struct tap_pelt_verify_opts *opts);
void tap_pelt_verify_release(struct tap_pelt_verify *v);
/*
 * ctx: struct tap_pelt_verify. The first is for averages of tasks. The second is for those of CPUs
 * and cgroups, and comes after tap_pelt_queues_ops with .queues.
 */
extern const struct tap_watcher_ops tap_pelt_verify_of_tasks_ops, tap_pelt_verify_of_queues_ops;

#endif
