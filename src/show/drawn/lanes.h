/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The CPUs that are drawn, a lane each: in the order of all columns by CPU, the same in all parts
 * of a page. */
#ifndef TAP_DRAWN_LANES_H
#define TAP_DRAWN_LANES_H

#include "timeline/run/run.h"

#define TAP_NO_LANE UINT32_MAX

struct tap_lanes {
	unsigned int *cpus; /* owned: by lane */
	unsigned int nr;
	uint32_t *by_cpu; /* owned */
	unsigned int nr_cpus;
};

/* Those of the machine that -C picks. @run: surveyed, its window the page's. Return: 0 or -ENOMEM;
 * release in either case. */
int tap_lanes_init(struct tap_lanes *lanes, const struct tap_run *run);
void tap_lanes_release(struct tap_lanes *lanes);

/* TAP_NO_LANE: it has none. */
static inline uint32_t tap_lane(const struct tap_lanes *lanes, int cpu)
{
	return (unsigned int)cpu < lanes->nr_cpus ? lanes->by_cpu[cpu] : TAP_NO_LANE;
}

#endif
