/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the screens of `schedtap top` show: the numbers of one refresh, of the machine, its CPUs,
 * cgroups and tasks. They are the same whether they come from the tally, from /proc or from a
 * recording. Texts are borrowed from there, until its next reading.
 */
#ifndef TAP_SHOW_TOP_NOW_H
#define TAP_SHOW_TOP_NOW_H

#include "show/top/top.h"

#define TAP_NOW_UNKNOWN UINT64_MAX /* of a number or a time in ns */
#define TAP_NOW_NO_PRIO INT32_MIN /* of a task's priority, as TAP_PRIO_UNKNOWN of recordings */

struct tap_now_waits { /* each may be TAP_NOW_UNKNOWN; times are 0 if there were no waits */
	uint64_t count, sum_ns, p50_ns, p99_ns, max_ns;
};

struct tap_now_cpu {
	unsigned int cpu, llc;
	double busy; /* part of the time that a task ran, 0..1; NAN: unknown */
	double runnable; /* average number of tasks that ran or waited; NAN */
	uint64_t max_wait_ns, switches;
};

struct tap_now_cgroup {
	const char *name;
	struct tap_now_waits waits; /* of all kinds */
	uint64_t run_ns, throttled_ns; /* .throttled_ns: that its tasks' throttled waits took */
	const char *culprit; /* what ran most while its tasks waited; NULL: unknown */
	double culprit_part; /* of its waits, 0..1 */
	unsigned int slot; /* of the tally; 0: none */
};

struct tap_now_task {
	const struct tap_tally_task *t;
	const struct tap_tally_task_waits *w; /* NULL: not known */
	const char *cgroup, *culprit; /* .culprit: its cgroup's; NULL: unknown */
	uint64_t p99_ns, max_ns, wait_ns, migrations; /* TAP_NOW_UNKNOWN */
	/* as those of .t, which has no unknown ones: TAP_TALLY_UNKNOWN, TAP_NOW_NO_PRIO */
	unsigned int cpu, util;
	int prio;
};

struct tap_now {
	uint64_t from_ns, to_ns;
	int64_t realtime_ns;
	const char *why; /* why much is unknown: the tally cannot be used; NULL */
	bool from_waking; /* waits begin at the waking */
	double busy, overhead; /* 0..1; percent. NAN: unknown */
	double runnable; /* average number of tasks that ran or waited, of all CPUs; NAN */
	uint64_t switches, lost, censored, idle_while_waiting_ns;
	struct tap_now_waits kinds[TAP_TALLY_KINDS], all;
	struct tap_top_culprit *culprits; /* owned; of all waits, the greatest first */
	unsigned int nr_culprits;
	struct tap_now_cpu *cpus; /* owned; by number */
	unsigned int nr_cpus, cap_cpus;
	struct tap_now_cgroup *cgroups; /* owned */
	unsigned int nr_cgroups, cap_cgroups;
	struct tap_now_task *tasks; /* owned; the ones that ran or waited */
	unsigned int nr_tasks, cap_tasks;
	uint64_t all_tasks; /* TAP_NOW_UNKNOWN */
	uint64_t migrations[TAP_TALLY_SCOPES]; /* TAP_NOW_UNKNOWN */
	const struct tap_tally_view *view; /* the tally's numbers; NULL: there are none */
};

/* Replace the numbers. @now: zeroed, or used before. Return: 0; -ENOMEM. */
int tap_now_of_tally(struct tap_now *now, const struct tap_top_refresh *r);
int tap_now_of_accounts(struct tap_now *now, const struct tap_top_accounts *r);
void tap_now_release(struct tap_now *now);

/* Return: the length of time that the numbers are of, at least 1 ns. */
static inline double tap_now_length(const struct tap_now *now)
{
	return now->to_ns > now->from_ns ? (double)(now->to_ns - now->from_ns) : 1;
}

/* Estimate the wait that @part (0..1) of a task's waits do not exceed. Return: ns; 0: no waits. */
uint64_t tap_now_task_quantile(const struct tap_tally_task_waits *w, double part);

#endif
