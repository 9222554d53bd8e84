/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Random numbers for generated texts: the same seed gives the same numbers. */
#ifndef TAP_TESTS_LIVE_RANDOM_H
#define TAP_TESTS_LIVE_RANDOM_H

#include <stdbool.h>
#include <stdint.h>

static uint64_t seed;

static inline uint32_t random_below(uint32_t n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)((seed >> 32) * n >> 32);
}

static inline bool one_in(uint32_t n)
{
	return !random_below(n);
}

static inline const char *pick(const char *const *words, uint32_t nr)
{
	return words[random_below(nr)];
}
#define PICK(...)                                                                                  \
	pick((const char *const[]){ __VA_ARGS__ },                                                 \
	     sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(char *))

#endif
