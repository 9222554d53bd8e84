// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "record/user/clock.h"

#include <string.h>

#include "base/clock.h"
#include "record/machine.h"

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#include <x86intrin.h>
#endif

#define TRIES 5
/*
 * maximum relative difference of the counter's and CLOCK_MONOTONIC's rates: NTP changes the rate by
 * 500 ppm
 */
#define MAX_SKEW 0.002
#define STAMP_MASK ((1ull << TAP_STAMP_BITS) - 1)

static bool read_cycles(uint64_t *cycles)
{
#if defined(__x86_64__) || defined(__i386__)
	_mm_lfence();
	*cycles = __rdtsc();
	_mm_lfence();
	return true;
#elif defined(__aarch64__)
	__asm__ volatile("isb\n\tmrs %0, cntvct_el0\n\tisb" : "=r"(*cycles) : : "memory");
	return true;
#else
	*cycles = 0;
	return false;
#endif
}

bool tap_user_pair_now(struct tap_user_pair *pair)
{
	uint64_t best = UINT64_MAX;

	for (int i = 0; i < TRIES; i++) {
		uint64_t before = tap_now_ns(), cycles, after;

		if (!read_cycles(&cycles)) {
			*pair = (struct tap_user_pair){ .mono_ns = before };
			return false;
		}
		after = tap_now_ns();
		if (after - before >= best)
			continue;
		best = after - before;
		*pair = (struct tap_user_pair){ cycles, before + best / 2 };
	}
	return true;
}

static double find_slope(const struct tap_user_pair *a, const struct tap_user_pair *b)
{
	return (double)(b->mono_ns - a->mono_ns) / (double)(b->cycles - a->cycles);
}

void tap_user_clock_add(struct tap_user_clock *c, const struct tap_user_pair *pair)
{
	const struct tap_user_pair *last = c->nr ? &c->pairs[c->nr - 1] : NULL;

	if (last && (pair->cycles <= last->cycles || pair->mono_ns <= last->mono_ns))
		return;
	if (c->nr == TAP_USER_PAIRS) {
		c->nr /= 2;
		memcpy(c->pairs, c->pairs + c->nr, c->nr * sizeof(c->pairs[0]));
		memcpy(c->slopes, c->slopes + c->nr, c->nr * sizeof(c->slopes[0]));
	}
	if (c->nr)
		c->slopes[c->nr - 1] = find_slope(&c->pairs[c->nr - 1], pair);
	c->pairs[c->nr++] = *pair;
}

uint64_t tap_user_clock_extend(const struct tap_user_clock *c, uint64_t stamp)
{
	uint64_t last = c->pairs[c->nr - 1].cycles;
	uint64_t ahead = (stamp - last) & STAMP_MASK;

	if (ahead <= STAMP_MASK / 2)
		return last + ahead;
	ahead = STAMP_MASK + 1 - ahead; /* the stamp is before the last pair */
	return ahead > last ? 0 : last - ahead;
}

/* Return the last pair not after @cycles; @cycles is not before the first pair. */
static unsigned int find_pair(const struct tap_user_clock *c, uint64_t cycles)
{
	unsigned int low = 0, high = c->nr;

	/* most stamps are in the last interval */
	if (c->nr > 1 && cycles >= c->pairs[c->nr - 2].cycles)
		low = c->nr - 2;
	while (high - low > 1) {
		unsigned int mid = low + (high - low) / 2;

		if (c->pairs[mid].cycles <= cycles)
			low = mid;
		else
			high = mid;
	}
	return low;
}

/*
 * Convert a time before the first pair: extrapolate the line from the program's pair to the first
 * pair.
 */
static uint64_t before_first(const struct tap_user_clock *c, uint64_t cycles,
			     const struct tap_user_pair *near)
{
	const struct tap_user_pair *first = &c->pairs[0];
	double rate = c->nr > 1 ? find_slope(first, &c->pairs[c->nr - 1]) : 1.0, back;

	if (near && near->cycles < first->cycles && near->mono_ns < first->mono_ns) {
		double its = find_slope(near, first);

		if (c->nr < 2 || (its > rate * (1 - MAX_SKEW) && its < rate * (1 + MAX_SKEW)))
			rate = its;
	}
	back = (double)(first->cycles - cycles) * rate;
	return back < (double)first->mono_ns ? first->mono_ns - (uint64_t)back : 0;
}

uint64_t tap_user_clock_ns(const struct tap_user_clock *c, uint64_t cycles,
			   const struct tap_user_pair *near)
{
	unsigned int i;
	uint64_t ns;
	double rate;

	if (cycles < c->pairs[0].cycles)
		return before_first(c, cycles, near);
	i = find_pair(c, cycles);
	rate = i + 1 < c->nr ? c->slopes[i] : c->nr > 1 ? c->slopes[c->nr - 2] : 0;
	ns = c->pairs[i].mono_ns + (uint64_t)((double)(cycles - c->pairs[i].cycles) * rate);
	return i + 1 < c->nr && ns > c->pairs[i + 1].mono_ns ? c->pairs[i + 1].mono_ns : ns;
}

bool tap_user_clock_interval(const struct tap_user_clock *c, uint64_t cycles,
			     struct tap_user_interval *interval)
{
	unsigned int i;

	if (cycles < c->pairs[0].cycles || cycles >= c->pairs[c->nr - 1].cycles)
		return false;
	i = find_pair(c, cycles);
	*interval = (struct tap_user_interval){ c->pairs[i].cycles, c->pairs[i + 1].cycles,
						c->pairs[i].mono_ns, c->slopes[i] };
	return true;
}

/* ---- which clock ---- */

/* Return true if the counter's rate does not change with the CPU's frequency or sleep states. */
static bool counter_is_invariant(void)
{
#if defined(__x86_64__) || defined(__i386__)
	unsigned int a, b, c, d;

	return __get_cpuid(0x80000007u, &a, &b, &c, &d) && d & 1u << 8;
#elif defined(__aarch64__)
	return true;
#else
	return false;
#endif
}

enum tap_clock_kind tap_user_clock_choose(void)
{
	static int chosen = -1; /* the choice is made once */

	if (chosen < 0)
		chosen = counter_is_invariant() && tap_machine_trusts_counter() ? TAP_CLOCK_CYCLES
										: TAP_CLOCK_MONO;
	return (enum tap_clock_kind)chosen;
}
