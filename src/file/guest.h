/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Convert a guest's times to its host's clock by trace-cmd's option TIME_SHIFT. trace-cmd compares
 * both clocks while it records, once for each of the guest's CPUs, and stores the differences.
 */
#ifndef TAP_FILE_GUEST_H
#define TAP_FILE_GUEST_H

#include "file/dat_bytes.h"

/* One comparison. The host's time is (time * .scaling >> .fraction) + .offset. */
struct tap_guest_sample {
	uint64_t time; /* in the guest's trace clock */
	int64_t offset;
	uint64_t scaling, fraction;
	uint64_t floor; /* the earliest host's time from .time on: times never go back */
};

struct tap_guest {
	uint64_t host_id; /* trace id of the host's recording; 0: this is not a guest's */
	bool interpolates; /* between two comparisons */
	/* of the first CPU that has any; used for all, so that their events keep their order */
	struct tap_guest_sample *samples; /* owned; sorted by .time */
	uint32_t nr;
	uint64_t differs; /* largest difference between CPUs, in units of the trace clock */
};

/* Return: 0; -EINVAL: damaged, or times would go back; -ENOMEM. On failure @g is not a guest's. */
int tap_guest_read(struct tap_guest *g, struct tap_bytes opt);
void tap_guest_release(struct tap_guest *g);

/* Return the host's time in units of the trace clock, up to INT64_MAX. */
uint64_t tap_guest_to_host(const struct tap_guest *g, uint64_t time);

#endif
