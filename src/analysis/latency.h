/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How long tasks waited for a CPU: from a wakeup until they ran, or (TAP_STATE_PREEMPTED) from
 * being switched out while runnable until they ran again, or (TAP_STATE_THROTTLED) while throttled.
 * A wait counts if both ends were seen and nothing in between is unknown. Other waits are censored:
 * they are counted, but their length is unknown.
 */
#ifndef TAP_ANALYSIS_LATENCY_H
#define TAP_ANALYSIS_LATENCY_H

#include "base/hist.h"
#include "base/text.h"
#include "timeline/timeline.h"

#define TAP_LATENCY_RAN 4u
/* number of a CPU's last intervals that are kept, for the worst waits */
#define TAP_LATENCY_PAST 4096u

struct tap_latency_part {
	uint64_t count, sum_ns, max_ns;
};

struct tap_latency_stat {
	struct tap_hist waits; /* ns */
	uint64_t censored; /* number of censored waits, a lower bound */
	uint64_t max_at_ns; /* when the longest wait ended; the first one of equals */
	int max_cpu; /* CPU on which the task ran then; -1: no wait, or not known */
	/* waits by whether the task ran on the same CPU before; neither, if that is not known */
	struct tap_latency_part same_cpu, migrated;
	/*
	 * the two parts of waits after a wakeup whose time in the run queue is known
	 * (tap_interval_queued_ns()): on the way there, and in it
	 */
	struct tap_latency_part wakeup_path, queued;
	bool was_cut; /* private: a wait continues in an unknown state */
	unsigned int nr_open; /* private: number of waits in .censored that may continue */
};

/* One of the worst waits, and what its CPU did during it. */
struct tap_latency_worst {
	const struct tap_task *task;
	uint64_t from_ns, to_ns;
	int64_t queued_ns; /* part of the wait in the run queue; -1: not known */
	int cpu, run_cpu; /* .cpu: where it runs now; .run_cpu: where it ran before, or -1 */
	int waker_tid, waker_cpu; /* see struct tap_task */
	struct tap_latency_ran {
		const struct tap_task *task;
		uint64_t ns;
	} ran[TAP_LATENCY_RAN]; /* the longest first */
	unsigned int nr_ran;
	unsigned int nr_others; /* number of further tasks, which ran for less time */
	uint64_t others_ns, idle_ns, offline_ns, unknown_ns;
	bool is_part; /* what the CPU did at the wait's beginning is no longer known */
	struct tap_cpus idle; /* owned: CPUs that were idle for the whole wait */
};

/* One column: a part of the window, and the waits that ended in it. */
struct tap_latency_column {
	uint64_t from_ns, to_ns;
	struct tap_hist waits;
	/*
	 * censored waits that ended here at the latest; in the last column also those whose end was
	 * not seen
	 */
	uint64_t censored;
	uint64_t unknown_ns; /* time in which other waits may have come and gone unseen */
};

struct tap_latency {
	enum tap_state state; /* TAP_STATE_WAKING, TAP_STATE_PREEMPTED or TAP_STATE_THROTTLED */
	struct tap_latency_stat all; /* sum over all tasks; set at the end */
	struct tap_latency_stat *tasks; /* owned, indexed by tap_task.index */
	unsigned int nr_tasks;
	struct tap_latency_worst *worst; /* owned; the longest first */
	unsigned int nr_worst, max_worst;
	struct tap_latency_column *columns; /* owned; see tap_latency_split() */
	unsigned int nr_columns;

	/* private: only if .max_worst is not 0 */
	struct tap_latency_past **past; /* indexed by CPU */
	unsigned int nr_past;
};

/* @max_worst: number of worst waits to keep. Return: 0 or -ENOMEM. */
int tap_latency_init(struct tap_latency *l, enum tap_state state, unsigned int max_worst);
void tap_latency_release(struct tap_latency *l);
/*
 * Divide the window into @nr columns and count waits in each of them as well. Call before the first
 * interval. @survey: used during the call for what is missing. Return: 0 or -ENOMEM.
 */
int tap_latency_split(struct tap_latency *l, const struct tap_window *window,
		      const struct tap_survey *survey, unsigned int nr);

/*
 * Return true if the wait's length is known and counts: it ends with the task running. Throttled
 * time also ends with sched_unthrottle: then the task waits, or its state is unknown if its kind of
 * wait before the throttling is.
 */
static inline bool tap_latency_counts(const struct tap_latency *l, const struct tap_interval *s)
{
	return s->state == l->state && s->whole &&
	       (s->next == TAP_STATE_RUNNING ||
		(l->state == TAP_STATE_THROTTLED &&
		 (tap_state_is_wait(s->next) || s->next == TAP_STATE_UNKNOWN)));
}

/*
 * ctx: struct tap_latency. TAP_LATENCY_STATES(state) suffices as the watcher's .states. The second
 * watcher keeps what CPUs did last; it is needed with .max_worst, with all CPUs selected.
 */
#define TAP_LATENCY_STATES(state) (TAP_STATE_BIT(state) | TAP_STATE_BIT(TAP_STATE_UNKNOWN))
extern const struct tap_watcher_ops tap_latency_ops, tap_latency_past_ops;

#endif
