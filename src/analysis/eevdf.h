/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What EEVDF did with each task, by its own numbers at each pick (sched_pick): how much it was
 * owed, how long it ran against the slice that it had, whether what has short slices preempts, and
 * what is against the rules.
 *
 * A run counts if the timeline is certain of it, and one sched_pick began it and another ended it.
 * A pick counts by itself, if its task was seen before. Picks and switches belong together by their
 * order on a CPU, not by their time stamps: two recorders stamp them at different times, and may
 * see the switch first.
 *
 * How far a run went beyond its slice is judged by the numbers of the waiting tasks, which their
 * own later picks show (eevdf_overrun.h).
 *
 * What no event decides is counted as undecided, and is no violation.
 */
#ifndef TAP_ANALYSIS_EEVDF_H
#define TAP_ANALYSIS_EEVDF_H

#include "base/hist.h"
#include "base/map.h"
#include "timeline/timeline.h"
#include "analysis/eevdf_queues.h"

/* What should not be. */
enum tap_eevdf_rule {
	/* V < v of what was picked, and it was not alone: core scheduling, or a fault */
	TAP_EEVDF_NOT_ELIGIBLE,
	/* its slice had ended two ticks before or more, and a waiting task was to be picked instead
	 */
	TAP_EEVDF_BEYOND_SLICE,
	/* its lag was beyond all that slices and ticks explain: max_lag_ns() */
	TAP_EEVDF_LAG,
	TAP_EEVDF_BEYOND_DEADLINE, /* it was to be protected for longer than its slice */
	TAP_NR_EEVDF_RULES,
};

/* A tick finds that a slice has ended and asks for a reschedule; where the request is lazy, the
 * next tick enforces it. */
#define TAP_EEVDF_LATE_NS (2 * TAP_EEVDF_TICK_NS)

const char *tap_eevdf_rule_name(enum tap_eevdf_rule rule);

struct tap_eevdf_violation {
	enum tap_eevdf_rule rule;
	const struct tap_task *task;
	int cpu;
	uint64_t ts_ns;
	uint64_t ns; /* by how much */
};

struct tap_eevdf_sums {
	uint64_t picks, among_several; /* .h_nr_queued > 1 */
	int64_t min_lag_ns, max_lag_ns; /* of those among several */
	double lag_sum_ns;
	/* how far the same were from what they should have had, either way */
	struct tap_hist lag_size_ns;
	uint64_t runs, preempted; /* that are certain; of those: it would have run on */
	struct tap_hist run_ns; /* of all of them */
	/* preempted after the deadline that it had when it was picked, as others waited already */
	uint64_t overruns, max_overrun_ns;
	uint64_t delayed; /* it went to sleep and stayed queued, until its lag was used up */
	/* wakeups with a shorter slice than that of the fair task that ran there: it was preempted
	 * for it, or not */
	uint64_t short_preempts, short_waits;
};

struct tap_eevdf_task {
	const struct tap_task *task; /* NULL: of no interest */
	struct tap_eevdf_sums sums;
	uint64_t slice_ns, weight; /* as last seen; 0: not told */
	/* inside */
	/* tap_eevdf.nr_unknown at its last pick within its limits, plus 1; 0: there was none */
	unsigned int unknown_since;
	int unpicked_cpu; /* where it ran without a pick that says its slice, plus 1; 0: nowhere */
	/* its last wakeup */
	bool is_woken;
	int runner_tid; /* 0: no fair task with a known slice ran there */
	uint64_t runner_slice_ns;
};

struct tap_eevdf_opts {
	/* Whether this task's picks on this CPU count. */
	bool (*want)(void *ctx, const struct tap_task *task, int cpu);
	void *ctx;
	unsigned int max_violations; /* that are kept, the first ones; all are counted */
};

struct tap_eevdf {
	struct tap_eevdf_task *tasks; /* owned; by index */
	struct tap_eevdf_cpu *cpus; /* owned */
	unsigned int nr_tasks, nr_cpus;
	struct tap_eevdf_sums all;
	uint64_t rules[TAP_NR_EEVDF_RULES], undecided[TAP_NR_EEVDF_RULES];
	/* owned; in time order once the timeline has ended */
	struct tap_eevdf_violation *violations;
	unsigned int nr_violations, cap_violations;

	/* inside */
	struct tap_eevdf_opts opts;
	struct tap_eevdf_fields {
		struct tap_sched_pick_fields pick;
		struct tap_num next_pid, prev_lag;
	} fields;
	struct tap_eevdf_queues queues;
	/* not everybody's wakeups and migrations are recorded: who was in the queues is not known
	 */
	bool is_partial;
	/* the longest slice in ns that had a part in the queue's lags, by queue_key() */
	struct tap_map slices;
	/* owned; beyond the limit as far as it was known at that time */
	struct tap_eevdf_lag *lags;
	unsigned int nr_lags, cap_lags;
	/* picks after one of the fair class on the same CPU: each should end a run */
	uint64_t nr_ends;
	unsigned int nr_unknown; /* intervals of CPUs that are unknown, so far */
};

void tap_eevdf_init(struct tap_eevdf *e, const struct tap_eevdf_opts *opts);
void tap_eevdf_release(struct tap_eevdf *e);
/* Of how many picks, or runs, the rule's violations are some. */
static inline uint64_t tap_eevdf_judged(const struct tap_eevdf *e, enum tap_eevdf_rule rule)
{
	return rule == TAP_EEVDF_BEYOND_SLICE ? e->all.runs : e->all.picks;
}
/* ctx: struct tap_eevdf. */
extern const struct tap_watcher_ops tap_eevdf_ops;

#endif
