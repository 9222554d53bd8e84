/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * CPUs in the order of a time that each has, and that goes on: when it was last idle, up to when it
 * is known. Setting one is cheap, however many CPUs there are, if its time is among the latest.
 */
#ifndef TAP_ANALYSIS_CPU_ORDER_H
#define TAP_ANALYSIS_CPU_ORDER_H

#include <stdbool.h>
#include <stdint.h>

/* {0} is empty. */
struct tap_cpu_order {
	struct tap_cpu_place {
		uint64_t ns;
		unsigned int older, newer; /* places; 0: none */
		bool used;
	} * places; /* owned; [0] begins and ends the ring, a CPU's is one higher */
	unsigned int nr;
};

void tap_cpu_order_release(struct tap_cpu_order *o);
/* Return: 0 or -ENOMEM. */
int tap_cpu_order_set(struct tap_cpu_order *o, unsigned int cpu, uint64_t ns);

/* Of a CPU that was never set: 0. */
static inline uint64_t tap_cpu_order_ns(const struct tap_cpu_order *o, unsigned int cpu)
{
	return cpu + 1 < o->nr ? o->places[cpu + 1].ns : 0;
}

/* The CPU whose time is the oldest; -1: none was set. */
static inline int tap_cpu_order_oldest(const struct tap_cpu_order *o)
{
	return o->nr ? (int)o->places[0].newer - 1 : -1;
}

/* Its time; UINT64_MAX: none was set. */
static inline uint64_t tap_cpu_order_oldest_ns(const struct tap_cpu_order *o)
{
	int cpu = tap_cpu_order_oldest(o);

	return cpu < 0 ? UINT64_MAX : o->places[cpu + 1].ns;
}

#endif
