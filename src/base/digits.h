/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Write decimal numbers two digits at a time, starting with the last ones. */
#ifndef TAP_BASE_DIGITS_H
#define TAP_BASE_DIGITS_H

#include <stdint.h>
#include <string.h>

static inline void tap_digit_pair(char *end, uint64_t v)
{
	static const char pairs[] =
		"0001020304050607080910111213141516171819202122232425262728293031323334353637383940"
		"4142434445464748495051525354555657585960616263646566676869707172737475767778798081"
		"828384858687888990919293949596979899";

	memcpy(end - 2, pairs + v % 100 * 2, 2);
}

static inline unsigned int tap_nr_digits(uint64_t v)
{
	/* clang-format off */
	static const uint64_t least[] = {
		0, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000, 1000000000,
		10000000000, 100000000000, 1000000000000, 10000000000000, 100000000000000,
		1000000000000000, 10000000000000000, 100000000000000000, 1000000000000000000,
		10000000000000000000U,
	};
	/* clang-format on */
	unsigned int bits = 64 - (unsigned int)__builtin_clzll(v | 1);
	unsigned int n = bits * 1233 >> 12; /* log10(2) is about 1233 / 4096 */

	return n + (v >= least[n]);
}

/* Write all tap_nr_digits() digits of @v so that they end before @end. */
static inline void tap_digits_before(char *end, uint64_t v)
{
	for (; v >= 100; v /= 100, end -= 2)
		tap_digit_pair(end, v);
	if (v >= 10)
		tap_digit_pair(end, v);
	else
		end[-1] = (char)('0' + v);
}

#endif
