/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Conversion of the CPU's counter to CLOCK_MONOTONIC. The recorder reads both clocks repeatedly.
 * Between two such pairs the conversion is linear, and it never changes once it was used. Stamps
 * have TAP_STAMP_BITS bits and belong to the time around the last pair.
 */
#ifndef TAP_RECORD_USER_CLOCK_H
#define TAP_RECORD_USER_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "tracepoint/shared.h"

/* Both clocks at one time. */
struct tap_user_pair {
	uint64_t cycles, mono_ns;
};

#define TAP_USER_PAIRS 8192u /* maximum remembered; with one per 20 ms at least the last 80 s */

struct tap_user_clock {
	struct tap_user_pair pairs[TAP_USER_PAIRS];
	double slopes[TAP_USER_PAIRS]; /* ns per cycle, from each pair to the next */
	unsigned int nr;
};

/* Read both clocks. Return: false, with cycles 0, if this architecture's counter cannot be read. */
bool tap_user_pair_now(struct tap_user_pair *pair);

/* Add a pair. It is ignored unless both of its clocks are later than the last pair's. */
void tap_user_clock_add(struct tap_user_clock *c, const struct tap_user_pair *pair);

/*
 * Complete a stamp's missing high bits: return the matching time that is nearest to the last pair.
 */
uint64_t tap_user_clock_extend(const struct tap_user_clock *c, uint64_t stamp);

/*
 * Return CLOCK_MONOTONIC at @cycles; it rises with @cycles. @near: a pair that the program read
 * near that time, used for times before the first pair and ignored if implausible; or NULL. At
 * least one pair must have been added.
 */
uint64_t tap_user_clock_ns(const struct tap_user_clock *c, uint64_t cycles,
			   const struct tap_user_pair *near);

/*
 * A linear part of the conversion: CLOCK_MONOTONIC is from_ns + (cycles - from) * rate for cycles
 * from @from up to, not including, @to.
 */
struct tap_user_interval {
	uint64_t from, to, from_ns;
	double rate;
};

/*
 * Find the interval between two pairs that contains @cycles. Return: false if @cycles is before the
 * first or after the last pair.
 */
bool tap_user_clock_interval(const struct tap_user_clock *c, uint64_t cycles,
			     struct tap_user_interval *interval);

/*
 * Choose the clock that programs should use: the CPU's counter, if its rate is constant and the
 * kernel uses it as clock source.
 */
enum tap_clock_kind tap_user_clock_choose(void);

#endif
