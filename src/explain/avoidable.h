/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * For how long a CPU was idle that a task may use, while it waited for another one. Nobody records affinity: a task
 * may use a CPU if it ran there, or was moved there, earlier in what was told. A move that neither a wakeup nor the
 * balancer made may come of a change of affinity, so it begins the set anew. This is a lower bound (analysis/balance.h
 * says more), and never a part of the wait: what else happened meanwhile is what the pieces say.
 */
#ifndef TAP_EXPLAIN_AVOIDABLE_H
#define TAP_EXPLAIN_AVOIDABLE_H

#include "base/text.h"
#include "explain/cpu_log.h"

struct tap_idle_time {
	uint64_t from_ns, to_ns;
};

struct tap_avoidable { /* all zero: nothing is known */
	struct tap_cpus *allowed; /* owned; by task's index */
	unsigned int nr_allowed;
	struct tap_idle_time *times; /* owned; of one question */
	unsigned int nr_times, cap_times;
};

void tap_avoidable_release(struct tap_avoidable *a);
/* Return: 0 or -ENOMEM, here and below. */
int tap_avoidable_ran(struct tap_avoidable *a, const struct tap_task *task, int cpu);
int tap_avoidable_moved(struct tap_avoidable *a, const struct tap_migration *m);
/* Whether it may use this CPU, as far as is known. */
bool tap_avoidable_allows(const struct tap_avoidable *a, const struct tap_task *task, int cpu);
/*
 * Adds to *@ns how long, from @from_ns to @to_ns, some CPU was idle that the task may use, but @cpu, and to *@idle which
 * those were. @cpus: the timeline's.
 */
int tap_avoidable_add(struct tap_avoidable *a, const struct tap_cpu_logs *logs, const struct tap_cpu *cpus,
		      unsigned int nr_cpus, const struct tap_task *task, int cpu, uint64_t from_ns, uint64_t to_ns, uint64_t *ns,
		      struct tap_cpus *idle);

#endif
