/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What takes ten times as long with AddressSanitizer is done less often there; SOAK=1: as often. */
#ifndef SANITIZED_H
#define SANITIZED_H

#include <stdlib.h>

#ifdef __has_feature
#define SANITIZED __has_feature(address_sanitizer)
#elif defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#else
#define SANITIZED 0
#endif

/* Of what each of many is tried, as each byte of a file: 1: all, 5: each fifth. */
static inline unsigned int sanitized_step(void)
{
	return SANITIZED && !getenv("SOAK") ? 5 : 1;
}

#endif
