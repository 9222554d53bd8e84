/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How long tasks waited for a CPU: from a wakeup until they ran, or, the other kind, from being
 * switched out while runnable until they ran again. A wait counts when both its ends were seen
 * and nothing is unknown between; one that cannot be measured is censored: it is counted, and
 * its length is not known.
 */
#ifndef TAP_ANALYSIS_LATENCY_H
#define TAP_ANALYSIS_LATENCY_H

#include "base/hist.h"
#include "base/text.h"
#include "timeline/timeline.h"

#define TAP_LATENCY_RAN 4u
#define TAP_LATENCY_PAST 4096u /* what a CPU did last, for the worst waits: so many intervals */

struct tap_latency_part {
	uint64_t count, sum_ns, max_ns;
};

struct tap_latency_stat {
	struct tap_hist waits; /* ns */
	uint64_t censored; /* at least so many */
	uint64_t max_at_ns; /* when the longest one ended; the first of equals */
	int max_cpu; /* where it ran then; -1: no wait, or not known */
	/* by where it ran before; where that is not known, neither */
	struct tap_latency_part same_cpu, migrated;
	bool was_cut; /* inside: a wait goes on as something unknown */
	unsigned int nr_open; /* inside: of .censored, those that may go on */
};

/* One of the worst waits, and what its CPU did meanwhile. */
struct tap_latency_worst {
	const struct tap_task *task;
	uint64_t from_ns, to_ns;
	int cpu, run_cpu; /* where it runs now; where it ran before, or -1 */
	int waker_tid, waker_cpu; /* as in struct tap_task */
	struct tap_latency_ran {
		const struct tap_task *task;
		uint64_t ns;
	} ran[TAP_LATENCY_RAN]; /* the longest first */
	unsigned int nr_ran;
	unsigned int nr_others; /* tasks that ran less than those */
	uint64_t others_ns, idle_ns, offline_ns, unknown_ns;
	bool is_part; /* what the CPU did at the wait's beginning is no longer known */
	struct tap_cpus idle; /* owned: CPUs that were idle all along */
};

/* A part of the window, and the waits that ended in it. */
struct tap_latency_column {
	uint64_t from_ns, to_ns;
	struct tap_hist waits;
	uint64_t censored; /* that were over here at the latest, or were no longer seen */
	uint64_t unknown_ns; /* in which others may have come and gone unseen */
};

struct tap_latency {
	enum tap_state state; /* TAP_STATE_WAKING, TAP_STATE_PREEMPTED or TAP_STATE_THROTTLED */
	struct tap_latency_stat all; /* after the end */
	struct tap_latency_stat *tasks; /* owned, by tap_task.index */
	unsigned int nr_tasks;
	struct tap_latency_worst *worst; /* owned; the longest first */
	unsigned int nr_worst, max_worst;
	struct tap_latency_column *columns; /* owned; tap_latency_split() */
	unsigned int nr_columns;

	/* inside: only where .max_worst */
	struct tap_latency_past **past; /* by CPU */
	unsigned int nr_past;
};

/* @max_worst: how many of the worst waits to keep. Return: 0 or -ENOMEM. */
int tap_latency_init(struct tap_latency *l, enum tap_state state, unsigned int max_worst);
void tap_latency_release(struct tap_latency *l);
/*
 * Before the first interval: the window is divided into @nr columns, and waits are counted in each,
 * too. @survey: what is missing; read now. Return: 0 or -ENOMEM.
 */
int tap_latency_split(struct tap_latency *l, const struct tap_window *window,
		      const struct tap_survey *survey, unsigned int nr);

/*
 * Whether its length is known and counts: it ends by running. Throttled time ends with
 * sched_unthrottle, too: then the task waits, or is unknown if it is not known how it waited
 * before.
 */
static inline bool tap_latency_counts(const struct tap_latency *l, const struct tap_interval *s)
{
	return s->state == l->state && s->whole &&
	       (s->next == TAP_STATE_RUNNING ||
		(l->state == TAP_STATE_THROTTLED &&
		 (tap_state_is_wait(s->next) || s->next == TAP_STATE_UNKNOWN)));
}

/*
 * ctx: struct tap_latency. Of .states TAP_LATENCY_STATES(state) are enough. The second, which keeps
 * what CPUs did last, is needed with .max_worst, whichever CPUs are selected.
 */
#define TAP_LATENCY_STATES(state) (TAP_STATE_BIT(state) | TAP_STATE_BIT(TAP_STATE_UNKNOWN))
extern const struct tap_watcher_ops tap_latency_ops, tap_latency_past_ops;

#endif
