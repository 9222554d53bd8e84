/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The kernel's load tracking in its integer arithmetic: a sum over periods of 1024 units, in which
 * each older period is worth y times the next one, y^32 = 1/2. A unit is 1024 ns of the PELT clock,
 * and a period is 1024 units. The number of a unit, update_time >> 10, is both an entity's
 * last_update_time and its position within a period, because both start at 0 and advance by whole
 * units.
 *
 * A recording has averages, which lack the sum's fraction. So a sum is kept as the range of
 * possible values.
 *
 * Source: kernel/sched/pelt.c, Documentation/scheduler/schedutil.rst.
 */
#ifndef TAP_ANALYSIS_PELT_MODEL_H
#define TAP_ANALYSIS_PELT_MODEL_H

#include <stdint.h>

#define TAP_PELT_PERIOD 1024u /* units */
/* LOAD_AVG_MAX: the limit of a sum with 1 added per unit all the time */
#define TAP_PELT_MAX 47742u
/* The kernel's nominal half-life, 32 ms. It really is 32 periods of 1024 * 1024 ns: 33.6 ms. */
#define TAP_PELT_HALFLIFE_NS 32000000u

struct tap_pelt_range {
	uint64_t lo, hi;
};

/* Decay a sum over @periods periods. */
uint64_t tap_pelt_decay(uint64_t sum, uint64_t periods);
/* Return the divider that turns a sum at unit @unit into an average. */
uint32_t tap_pelt_divider(uint64_t unit);
/*
 * Advance @sum from unit @from to unit @to, adding @weight per unit: 0, or 1024 if the average
 * tends to 1024.
 */
uint64_t tap_pelt_advance(uint64_t sum, uint64_t from, uint64_t to, uint64_t weight);
void tap_pelt_advance_range(struct tap_pelt_range *r, uint64_t from, uint64_t to, uint64_t weight);
/*
 * tap_pelt_sums(): the range of sums whose average is @value at unit @unit. tap_pelt_averages():
 * the range of averages of a range of sums. @factor: for load, whose sum is of time only: the
 * weight; otherwise 1. Values are below 2^32, factors below 2^18.
 */
struct tap_pelt_range tap_pelt_sums(uint64_t value, uint64_t unit, uint64_t factor);
struct tap_pelt_range tap_pelt_averages(const struct tap_pelt_range *sums, uint64_t unit,
					uint64_t factor);

#endif
