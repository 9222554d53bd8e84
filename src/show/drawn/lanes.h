/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The CPUs to draw, one lane each. All columns by CPU use this order, in all parts of a page. */
#ifndef TAP_DRAWN_LANES_H
#define TAP_DRAWN_LANES_H

#include "timeline/run/run.h"

#define TAP_NO_LANE UINT32_MAX

struct tap_lanes {
	unsigned int *cpus; /* owned: CPU of each lane */
	unsigned int nr;
	uint32_t *by_cpu; /* owned: lane of each CPU, or TAP_NO_LANE */
	unsigned int nr_cpus;
};

/*
 * Make a lane for each CPU that -C selects. @run: surveyed, with the page's window. Return: 0 or
 * -ENOMEM; release in either case.
 */
int tap_lanes_init(struct tap_lanes *lanes, const struct tap_run *run);
void tap_lanes_release(struct tap_lanes *lanes);

/* Return: the CPU's lane; TAP_NO_LANE: it is not drawn. */
static inline uint32_t tap_lane(const struct tap_lanes *lanes, int cpu)
{
	return (unsigned int)cpu < lanes->nr_cpus ? lanes->by_cpu[cpu] : TAP_NO_LANE;
}

#endif
