/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the whole machine did: busy time, energy, frequency and idle states. */
#ifndef TAP_BENCH_MACHINE_H
#define TAP_BENCH_MACHINE_H

#include "record/kernel/settings.h"

struct tap_bench_machine {
	uint64_t at_ns; /* CLOCK_MONOTONIC */
	unsigned int nr_cpus; /* online */
	uint64_t busy_ns; /* of all CPUs since boot, without time taken by a hypervisor */
	int64_t energy_uj; /* of all packages; -1: unknown */
	int64_t khz, min_khz, max_khz; /* mean of all CPUs, least and greatest limit; -1: unknown */
	unsigned int nr_states; /* of CPU 0 */
	struct tap_bench_state {
		char name[16];
		uint64_t ns; /* of all CPUs since boot */
	} states[TAP_IDLE_STATES];
};

void tap_bench_machine_read(struct tap_bench_machine *m);
/* Add what changed from @before to @after to @sum, which was all zero at first. */
void tap_bench_machine_add(struct tap_bench_machine *sum, const struct tap_bench_machine *before,
			   const struct tap_bench_machine *after);

#endif
