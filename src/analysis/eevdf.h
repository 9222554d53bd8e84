/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * EEVDF's treatment of each task, from its own numbers at each pick (sched_pick): the task's lag,
 * how long it ran compared with its slice, whether tasks with short slices preempt, and violations
 * of EEVDF's rules.
 *
 * A run counts if the timeline is certain of it, and one sched_pick began it and another ended it.
 * A pick counts by itself, if its task was seen before. Picks and switches are matched by their
 * order on a CPU, not by time stamps: the two recorders stamp them at different times, and may see
 * the switch first.
 *
 * How far a run went beyond its slice is judged by the waiting tasks' numbers, which their own
 * later picks show (eevdf_overrun.h).
 *
 * A case that events do not decide is counted as undecided, and is not a violation.
 */
#ifndef TAP_ANALYSIS_EEVDF_H
#define TAP_ANALYSIS_EEVDF_H

#include "base/hist.h"
#include "base/map.h"
#include "timeline/timeline.h"
#include "analysis/eevdf_queues.h"

/* Rules of EEVDF that are checked. */
enum tap_eevdf_rule {
	/* V < v of the picked task, and it was not the only task: core scheduling, or a fault */
	TAP_EEVDF_NOT_ELIGIBLE,
	/*
	 * its slice had ended at least two ticks before, and a waiting task should have been picked
	 * instead
	 */
	TAP_EEVDF_BEYOND_SLICE,
	/* its lag was larger than slices and ticks explain: max_lag_ns() */
	TAP_EEVDF_LAG,
	TAP_EEVDF_BEYOND_DEADLINE, /* it was protected for longer than its slice */
	TAP_NR_EEVDF_RULES,
};

/*
 * A tick notices that a slice has ended and requests a reschedule; if the request is lazy, the next
 * tick enforces it.
 */
#define TAP_EEVDF_LATE_NS (2 * TAP_EEVDF_TICK_NS)

const char *tap_eevdf_rule_name(enum tap_eevdf_rule rule);

struct tap_eevdf_violation {
	enum tap_eevdf_rule rule;
	const struct tap_task *task;
	int cpu;
	uint64_t ts_ns;
	uint64_t ns; /* size of the violation, ns */
};

struct tap_eevdf_sums {
	uint64_t picks, among_several; /* .among_several: picks with .h_nr_queued > 1 */
	int64_t min_lag_ns, max_lag_ns; /* over .among_several */
	double lag_sum_ns;
	/* absolute lag over .among_several */
	struct tap_hist lag_size_ns;
	/* certain runs; those that ended while the task would have run on */
	uint64_t runs, preempted;
	struct tap_hist run_ns; /* over .runs */
	/*
	 * runs preempted after the deadline that the task had when it was picked, while other tasks
	 * already waited
	 */
	uint64_t overruns, max_overrun_ns;
	/*
	 * times the task went to sleep and stayed queued until its lag was used up (delayed
	 * dequeue)
	 */
	uint64_t delayed;
	/*
	 * wakeups with a shorter slice than the fair task running there: that task was preempted
	 * (.short_preempts), or not (.short_waits)
	 */
	uint64_t short_preempts, short_waits;
};

struct tap_eevdf_task {
	const struct tap_task *task; /* NULL: not selected */
	struct tap_eevdf_sums sums;
	uint64_t slice_ns, weight; /* as last seen; 0: not known */
	/* private */
	/*
	 * 1 + tap_eevdf.nr_unknown at the last pick with a lag within its limits; 0: no such pick
	 */
	unsigned int unknown_since;
	/* 1 + the CPU where it ran without a pick that shows its slice; 0: none */
	int unpicked_cpu;
	/* about its last wakeup */
	bool is_woken;
	/* task that ran on its CPU when it was woken; 0: no fair task with a known slice */
	int runner_tid;
	uint64_t runner_slice_ns;
};

struct tap_eevdf_opts {
	/* Return true if this task's picks on this CPU count. */
	bool (*want)(void *ctx, const struct tap_task *task, int cpu);
	void *ctx;
	/* limit for violations that are kept: the first ones. All are counted. */
	unsigned int max_violations;
};

struct tap_eevdf {
	struct tap_eevdf_task *tasks; /* owned; indexed by tap_task.index */
	struct tap_eevdf_cpu *cpus; /* owned */
	unsigned int nr_tasks, nr_cpus;
	struct tap_eevdf_sums all;
	uint64_t rules[TAP_NR_EEVDF_RULES], undecided[TAP_NR_EEVDF_RULES];
	/* owned; in time order once the timeline has ended */
	struct tap_eevdf_violation *violations;
	unsigned int nr_violations, cap_violations;

	/* private */
	struct tap_eevdf_opts opts;
	struct tap_eevdf_fields {
		struct tap_sched_pick_fields pick;
		struct tap_num next_pid, prev_lag;
	} fields;
	struct tap_eevdf_queues queues;
	/*
	 * wakeups and migrations of some tasks are not recorded: the queues' members are not known
	 */
	bool is_partial;
	/* queue_key() -> longest slice, ns, that contributed to the queue's lags */
	struct tap_map slices;
	/* owned; lags that exceeded the limit as known at that time */
	struct tap_eevdf_lag *lags;
	unsigned int nr_lags, cap_lags;
	/* picks that follow a pick of the fair class on the same CPU: each should end a run */
	uint64_t nr_ends;
	unsigned int nr_unknown; /* number of unknown intervals of CPUs so far */
};

void tap_eevdf_init(struct tap_eevdf *e, const struct tap_eevdf_opts *opts);
void tap_eevdf_release(struct tap_eevdf *e);
/* Return how many picks or runs the rule was checked for. */
static inline uint64_t tap_eevdf_judged(const struct tap_eevdf *e, enum tap_eevdf_rule rule)
{
	return rule == TAP_EEVDF_BEYOND_SLICE ? e->all.runs : e->all.picks;
}
/* ctx: struct tap_eevdf. */
extern const struct tap_watcher_ops tap_eevdf_ops;

#endif
