/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A set of CPUs that an event is given; what an event says about it are its bits (__cpumask()). */
#ifndef SCHEDTAP_KERNEL_CPUMASK_H
#define SCHEDTAP_KERNEL_CPUMASK_H

#include <linux/bits.h>
#include <linux/types.h>
#include <schedtap/trace_events.h>

#define NR_CPUS 8192 /* no machine that Linux runs on has more */

typedef struct cpumask {
	unsigned long bits[NR_CPUS / BITS_PER_LONG];
} cpumask_t;

#define cpumask_bits(mask) ((mask)->bits)
#define nr_cpumask_bits tap_nr_cpus()
#define nr_cpu_ids tap_nr_cpus()
#define num_possible_cpus() tap_nr_cpus()

#endif
