// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "analysis/pelt_model.h"

#define HALFLIFE 32u /* periods */

/* (2^32 - 1) y^n, rounded down. */
static const uint32_t y_n[HALFLIFE] = {
	0xffffffff, 0xfa83b2da, 0xf5257d14, 0xefe4b99a, 0xeac0c6e6, 0xe5b906e6, 0xe0ccdeeb,
	0xdbfbb796, 0xd744fcc9, 0xd2a81d91, 0xce248c14, 0xc9b9bd85, 0xc5672a10, 0xc12c4cc9,
	0xbd08a39e, 0xb8fbaf46, 0xb504f333, 0xb123f581, 0xad583ee9, 0xa9a15ab4, 0xa5fed6a9,
	0xa2704302, 0x9ef5325f, 0x9b8d39b9, 0x9837f050, 0x94f4efa8, 0x91c3d373, 0x8ea4398a,
	0x8b95c1e3, 0x88980e80, 0x85aac367, 0x82cd8698,
};

uint64_t tap_pelt_decay(uint64_t sum, uint64_t periods)
{
	if (periods > HALFLIFE * 63u)
		return 0;
	sum >>= periods / HALFLIFE;
	return (uint64_t)((unsigned __int128)sum * y_n[periods % HALFLIFE] >> 32);
}

uint32_t tap_pelt_divider(uint64_t unit)
{
	return TAP_PELT_MAX - TAP_PELT_PERIOD + (uint32_t)(unit % TAP_PELT_PERIOD);
}

/*
 * Return the contribution of an interval with @periods period borders, for a weight of 1 per unit.
 * @first: units before the first border; @last: units after the last one.
 */
static uint64_t interval_sum(uint64_t periods, uint64_t first, uint64_t last)
{
	uint64_t between = TAP_PELT_MAX - tap_pelt_decay(TAP_PELT_MAX, periods) - TAP_PELT_PERIOD;

	return tap_pelt_decay(first, periods) + between + last;
}

uint64_t tap_pelt_advance(uint64_t sum, uint64_t from, uint64_t to, uint64_t weight)
{
	uint64_t into = from % TAP_PELT_PERIOD, periods = (into + to - from) / TAP_PELT_PERIOD;
	uint64_t units = to - from;

	if (periods) {
		sum = tap_pelt_decay(sum, periods);
		units = interval_sum(periods, TAP_PELT_PERIOD - into, to % TAP_PELT_PERIOD);
	}
	return sum + weight * units;
}

void tap_pelt_advance_range(struct tap_pelt_range *r, uint64_t from, uint64_t to, uint64_t weight)
{
	r->lo = tap_pelt_advance(r->lo, from, to, weight);
	r->hi = tap_pelt_advance(r->hi, from, to, weight);
}

struct tap_pelt_range tap_pelt_sums(uint64_t value, uint64_t unit, uint64_t factor)
{
	uint64_t divider = tap_pelt_divider(unit), first = value * divider;

	return (struct tap_pelt_range){ (first + factor - 1) / factor,
					(first + divider - 1) / factor };
}

struct tap_pelt_range tap_pelt_averages(const struct tap_pelt_range *sums, uint64_t unit,
					uint64_t factor)
{
	uint64_t divider = tap_pelt_divider(unit);

	return (struct tap_pelt_range){ sums->lo * factor / divider, sums->hi * factor / divider };
}
