/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The time in which a CPU that a waiting task may use was idle, while the task waited for another
 * CPU. The recording's task lists contain the CPUs a task may use. Where they do not, these are the
 * CPUs on which the task ran, or to which it was moved, earlier in the recording. A migration that
 * neither a wakeup nor the load balancer made may be due to a change of affinity, so it restarts
 * that set. So the time is a lower bound (see also analysis/balance.h). It is never a component of
 * the wait, since the wait's components report what happened at that time.
 */
#ifndef TAP_EXPLAIN_AVOIDABLE_H
#define TAP_EXPLAIN_AVOIDABLE_H

#include "base/text.h"
#include "analysis/explain/cpu_log.h"

struct tap_idle_time {
	uint64_t from_ns, to_ns;
};

/* Idle CPUs during one wait. All times in ns. */
struct tap_avoidable_idle {
	uint64_t ns; /* an allowed CPU was idle */
	struct tap_cpus cpus; /* owned; the allowed CPUs that were idle */
	uint64_t barred_ns; /* no allowed CPU was idle, but one that the task may not use */
	struct tap_cpus barred; /* owned; the idle CPUs that the task may not use */
	/* the parts of .ns and .barred_ns in which the waiter's CPU ran another task */
	uint64_t contended_ns, contended_barred_ns;
};

void tap_avoidable_idle_release(struct tap_avoidable_idle *idle);

struct tap_avoidable { /* all zero: empty */
	struct tap_cpus *used; /* owned; by the task's .index: CPUs that it ran on */
	unsigned int nr_used;
	struct tap_idle_time *times; /* owned; scratch memory of tap_avoidable_add() */
	unsigned int nr_times, cap_times;
};

void tap_avoidable_release(struct tap_avoidable *a);
/* Return: 0 or -ENOMEM, also for tap_avoidable_moved() and tap_avoidable_add(). */
int tap_avoidable_ran(struct tap_avoidable *a, const struct tap_task *task, int cpu);
int tap_avoidable_moved(struct tap_avoidable *a, const struct tap_migration *m);
/* Return whether the task may use the CPU, as far as that is known. */
enum tap_may tap_avoidable_may(const struct tap_avoidable *a, const struct tap_timeline *t,
			       const struct tap_task *task, int cpu);
/* Add the idle time of CPUs other than @cpu, the waiter's, from @from_ns to @to_ns to *@idle. */
int tap_avoidable_add(struct tap_avoidable *a, const struct tap_cpu_logs *logs,
		      const struct tap_timeline *t, const struct tap_task *task, int cpu,
		      uint64_t from_ns, uint64_t to_ns, struct tap_avoidable_idle *idle);

#endif
