/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * For how long a CPU was idle that a task may use, while it waited for another one. Which it may
 * use is in the recording's lists of tasks. Where these do not say so, it is a CPU where the task
 * ran, or was moved to, earlier in what was told: a move that neither a wakeup nor the balancer
 * made may come of a change of affinity, so it begins that set anew. This is a lower bound
 * (analysis/balance.h says more), and never a part of the wait: what else happened meanwhile is
 * what the pieces say.
 */
#ifndef TAP_EXPLAIN_AVOIDABLE_H
#define TAP_EXPLAIN_AVOIDABLE_H

#include "base/text.h"
#include "analysis/explain/cpu_log.h"

struct tap_idle_time {
	uint64_t from_ns, to_ns;
};

/* Of a wait. */
struct tap_avoidable_idle {
	uint64_t ns; /* some CPU was idle that the task may use */
	struct tap_cpus cpus; /* owned; those */
	uint64_t barred_ns; /* none was, but one that it may not use */
	struct tap_cpus barred; /* owned */
	/* as far as its own CPU ran another task then */
	uint64_t contended_ns, contended_barred_ns;
};

void tap_avoidable_idle_release(struct tap_avoidable_idle *idle);

struct tap_avoidable { /* all zero: nothing is known */
	struct tap_cpus *used; /* owned; by task's index */
	unsigned int nr_used;
	struct tap_idle_time *times; /* owned; of one question */
	unsigned int nr_times, cap_times;
};

void tap_avoidable_release(struct tap_avoidable *a);
/* Return: 0 or -ENOMEM, here and below. */
int tap_avoidable_ran(struct tap_avoidable *a, const struct tap_task *task, int cpu);
int tap_avoidable_moved(struct tap_avoidable *a, const struct tap_migration *m);
/* Whether it may use this CPU, as far as is known. */
enum tap_may tap_avoidable_may(const struct tap_avoidable *a, const struct tap_timeline *t,
			       const struct tap_task *task, int cpu);
/* Adds to *@idle what was so from @from_ns to @to_ns, of CPUs but @cpu. */
int tap_avoidable_add(struct tap_avoidable *a, const struct tap_cpu_logs *logs,
		      const struct tap_timeline *t, const struct tap_task *task, int cpu,
		      uint64_t from_ns, uint64_t to_ns, struct tap_avoidable_idle *idle);

#endif
