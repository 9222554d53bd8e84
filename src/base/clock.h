/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Clocks in nanoseconds. */
#ifndef TAP_BASE_CLOCK_H
#define TAP_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline uint64_t tap_clock_ns(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ull + (uint64_t)ts.tv_nsec;
}

static inline uint64_t tap_now_ns(void)
{
	return tap_clock_ns(CLOCK_MONOTONIC);
}

#endif
