/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * From the CPU's counter to CLOCK_MONOTONIC. The recorder reads both clocks again and again;
 * between two such pairs time is a straight line, and a line once used is never moved. Stamps have
 * TAP_STAMP_BITS bits, and belong to the time around the last pair.
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

#define TAP_USER_PAIRS 8192u /* remembered; at 20 ms: the last 80 s at least */

struct tap_user_clock {
	struct tap_user_pair pairs[TAP_USER_PAIRS];
	double slopes[TAP_USER_PAIRS]; /* ns per cycle, from each pair to the next */
	unsigned int nr;
};

/*
 * Reads both clocks. Return: false, with cycles 0, where the counter cannot be read on this
 * architecture.
 */
bool tap_user_pair_now(struct tap_user_pair *pair);

/* Adds a pair; one that is not behind the last one in both clocks is left out. */
void tap_user_clock_add(struct tap_user_clock *c, const struct tap_user_pair *pair);

/* A stamp with the bits that it lacks: of all such times the one nearest to the last pair. */
uint64_t tap_user_clock_extend(const struct tap_user_clock *c, uint64_t stamp);

/*
 * CLOCK_MONOTONIC at @cycles, rising with it. @near: a pair that the program took near it, for
 * times before the first pair, or NULL; it is not believed if it makes no sense. At least one pair
 * was added.
 */
uint64_t tap_user_clock_ns(const struct tap_user_clock *c, uint64_t cycles,
			   const struct tap_user_pair *near);

/* Part of a line: CLOCK_MONOTONIC is from_ns + (cycles - from) * rate from @from up to @to. */
struct tap_user_interval {
	uint64_t from, to, from_ns;
	double rate;
};

/* The interval between two pairs that has @cycles. Return: false: it lies before the first or
 * behind the last pair. */
bool tap_user_clock_interval(const struct tap_user_clock *c, uint64_t cycles,
			     struct tap_user_interval *interval);

/* Which clock programs should use: the CPU's counter, where its rate is constant and the kernel
 * trusts it. */
enum tap_clock_kind tap_user_clock_choose(void);

#endif
