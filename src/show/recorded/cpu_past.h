/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a CPU ran, by slots of the tally, so that waits can be split by what ran meanwhile. */
#ifndef TAP_SHOW_RECORDED_CPU_PAST_H
#define TAP_SHOW_RECORDED_CPU_PAST_H

#include <stdint.h>

#include "tally_maps.h"

/* {0} is empty. */
struct tap_cpu_past {
	uint64_t from_ns; /* the first slice's begin */
	/* owned; slices follow each other; unknown time has the slot TAP_TALLY_NO_SLOT */
	struct tap_tally_slice *slices;
	unsigned int nr, cap;
};

void tap_cpu_past_release(struct tap_cpu_past *p);
/* Add what the CPU ran. Calls in time order. Return: 0 or -ENOMEM. */
int tap_cpu_past_add(struct tap_cpu_past *p, uint64_t from_ns, uint64_t to_ns, uint32_t slot);
/*
 * Pass the parts of the time from @from_ns to @to_ns to @part, the last one first. Time without a
 * slice has the slot TAP_TALLY_NO_SLOT. Return: 0; what @part returned.
 */
int tap_cpu_past_split(const struct tap_cpu_past *p, uint64_t from_ns, uint64_t to_ns,
		       int (*part)(void *ctx, uint32_t slot, uint64_t ns), void *ctx);

#endif
