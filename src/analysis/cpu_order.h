/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * CPUs sorted by a time that each CPU has and that only increases, such as when it was last idle.
 * Setting a CPU's time is cheap with any number of CPUs, if the time is among the latest.
 */
#ifndef TAP_ANALYSIS_CPU_ORDER_H
#define TAP_ANALYSIS_CPU_ORDER_H

#include <stdbool.h>
#include <stdint.h>

/* {0} is empty. */
struct tap_cpu_order {
	struct tap_cpu_place {
		uint64_t ns;
		unsigned int older, newer; /* indices into .places; 0: none */
		bool used;
	} * places; /* owned; [0] is the head of a ring, [cpu + 1] is for a CPU */
	unsigned int nr;
};

void tap_cpu_order_release(struct tap_cpu_order *o);
/* Set a CPU's time, ns. Return: 0 or -ENOMEM. */
int tap_cpu_order_set(struct tap_cpu_order *o, unsigned int cpu, uint64_t ns);

/* Return a CPU's time, ns; 0: never set. */
static inline uint64_t tap_cpu_order_ns(const struct tap_cpu_order *o, unsigned int cpu)
{
	return cpu + 1 < o->nr ? o->places[cpu + 1].ns : 0;
}

/* Return the CPU with the oldest time; -1: no CPU was set. */
static inline int tap_cpu_order_oldest(const struct tap_cpu_order *o)
{
	return o->nr ? (int)o->places[0].newer - 1 : -1;
}

/* Return the oldest time, ns; UINT64_MAX: no CPU was set. */
static inline uint64_t tap_cpu_order_oldest_ns(const struct tap_cpu_order *o)
{
	int cpu = tap_cpu_order_oldest(o);

	return cpu < 0 ? UINT64_MAX : o->places[cpu + 1].ns;
}

#endif
