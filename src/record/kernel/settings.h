/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Settings of the kernel and the hardware that change what a scheduler can do, read from /sys and
 * /proc. What cannot be read is unknown.
 */
#ifndef TAP_RECORD_KERNEL_SETTINGS_H
#define TAP_RECORD_KERNEL_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

struct tap_settings {
	/*
	 * of all normal tasks: "EEVDF" (since v6.6), "CFS", or the name of a sched_ext scheduler
	 */
	char scheduler[64];
	int64_t base_slice_ns; /* debugfs sched/base_slice_ns, or min_granularity_ns; -1: unknown */
	/*
	 * Preemption model: "none", "voluntary", "full", "lazy"; "rt": PREEMPT_RT; "dynamic":
	 * chosen at boot, and debugfs cannot be read to see which one; "": unknown
	 */
	char preempt[16];
	char governor[24]; /* of all CPUs; "mixed"; "": no cpufreq */
};

/* @root: "", or a folder that has proc/ and sys/ (for tests). */
void tap_settings_read(struct tap_settings *s, const char *root);

#define TAP_IDLE_STATES 10u /* limit of cpuidle: CPUIDLE_STATE_MAX */

/* A CPU's frequency, and its idle states since boot. */
struct tap_cpu_power {
	int64_t khz; /* scaling_cur_freq, else "cpu MHz" of /proc/cpuinfo; -1: unknown */
	int64_t min_khz, max_khz; /* limits of the governor; -1: unknown */
	int capacity; /* 0..1024; -1: unknown */
	unsigned int nr_states; /* 0: no cpuidle */
	struct tap_idle_state {
		char name[16]; /* "C6" */
		uint64_t ns; /* time in it since boot */
		uint64_t exit_ns; /* latency of its exit, as the driver states it */
	} states[TAP_IDLE_STATES];
};

void tap_cpu_power_read(struct tap_cpu_power *p, unsigned int cpu, const char *root);
/*
 * Energy of all packages since boot, in uJ (powercap intel-rapl); -1: unknown, also if only one of
 * them is. The counter of a package wraps around at a limit of its own: the sum then falls, and the
 * difference to the reading before is unknown.
 */
int64_t tap_energy_uj(const char *root);

#endif
