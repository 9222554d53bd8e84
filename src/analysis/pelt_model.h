/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The kernel's load tracking, with its arithmetic of integers: a sum over periods of 1024 units in
 * which each is worth y of the one behind it, y^32 = 1/2. Time is counted in units of 1024 ns of
 * the PELT clock, 1024 to a period: the last_update_time of an entity and its place within a period
 * are the same number, for both start at 0 and go on by whole units (update_time >> 10).
 *
 * A recording has averages, in which the fraction of the sum is lost. So a sum is kept as a range:
 * what it may be.
 *
 * Source: kernel/sched/pelt.c, Documentation/scheduler/schedutil.rst.
 */
#ifndef TAP_ANALYSIS_PELT_MODEL_H
#define TAP_ANALYSIS_PELT_MODEL_H

#include <stdint.h>

#define TAP_PELT_PERIOD 1024u /* units */
#define TAP_PELT_MAX 47742u /* LOAD_AVG_MAX: what a sum of 1 all the time tends to */
/* What the kernel's half-life is called. It is 32 periods, of which each is a 1024 times 1024
 * ns: 33.6 ms. */
#define TAP_PELT_HALFLIFE_NS 32000000u

struct tap_pelt_range {
	uint64_t lo, hi;
};

/* Of a sum, after so many periods. */
uint64_t tap_pelt_decay(uint64_t sum, uint64_t periods);
/* What a sum at this moment is divided by. */
uint32_t tap_pelt_divider(uint64_t unit);
/* @sum from one moment to a later one, while @weight is added per unit: 0, or 1024 for an average
 * of 1024 in the end. */
uint64_t tap_pelt_advance(uint64_t sum, uint64_t from, uint64_t to, uint64_t weight);
void tap_pelt_advance_range(struct tap_pelt_range *r, uint64_t from, uint64_t to, uint64_t weight);
/*
 * The sums of which @value is the average at this moment; back, the averages of a range of sums.
 * @factor: of load, whose sum is one of time alone, the weight; else 1. Values are below 2^32,
 * factors below 2^18.
 */
struct tap_pelt_range tap_pelt_sums(uint64_t value, uint64_t unit, uint64_t factor);
struct tap_pelt_range tap_pelt_averages(const struct tap_pelt_range *sums, uint64_t unit,
					uint64_t factor);

#endif
