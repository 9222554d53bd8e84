/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The accounts of the time between two readings. */
#ifndef TAP_RECORD_ACCOUNTS_VIEW_H
#define TAP_RECORD_ACCOUNTS_VIEW_H

#include <stdbool.h>
#include <stdint.h>

#include "record/accounts/known.h"
#include "tally_maps.h"

struct tap_accounts_cpu {
	unsigned int cpu;
	uint64_t cpu_ns, idle_ns; /* idle_ns: with the time that it waited for I/O */
};

struct tap_accounts_cgroup {
	const char *path;
	/*
	 * .run_ns: of its own tasks, without those of the cgroups below it, but with what cgroups
	 * ran that were removed. .throttled_ns: time that it had used up its own quota, of all CPUs
	 * together. .pressure_ns: time that one of its tasks or of those below it waited.
	 */
	struct tap_known run_ns, throttled_ns, pressure_ns;
};

struct tap_accounts_task {
	/* ids: in this process's PID namespace. .start_ns and .migrations are unknown: 0 */
	struct tap_tally_task t;
	bool knows_switches; /* .t.voluntary and .t.involuntary are known */
};

/* Numbers of the time from one reading to the next; pointers are valid until the next reading. */
struct tap_accounts_view {
	uint64_t from_ns, to_ns; /* CLOCK_MONOTONIC */
	/* CPUs that are in both readings of /proc/stat, whose clock ticks 100 times per second */
	const struct tap_accounts_cpu *cpus;
	unsigned int nr_cpus;
	uint64_t cpu_ns, idle_ns; /* of all of them */
	int cpus_err; /* 0; why they are unknown, as in struct tap_known */
	struct tap_known switches; /* of all CPUs */
	struct tap_known waits, wait_ns; /* waits that ended: how often a task was switched in */
	struct tap_known pressure_ns; /* time that at least one task waited */
	const struct tap_accounts_cgroup *cgroups; /* the ones with a number that is not 0 */
	unsigned int nr_cgroups;
	/* an error if no cgroup has the number; -ENOENT without a cgroup hierarchy */
	int run_err, throttled_err, cgroup_pressure_err;
	const struct tap_accounts_task *tasks; /* the ones that ran or waited */
	unsigned int nr_tasks;
	struct tap_known all_tasks; /* number of the tasks in /proc; unknown without .reads_tasks */
};

#endif
