/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * XXH64 with seed 0 (github.com/Cyan4973/xxHash, doc/xxhash_spec.md), which zstd frames use as
 * well. The result does not depend on the machine's byte order.
 */
#ifndef TAP_BASE_XXH64_H
#define TAP_BASE_XXH64_H

#include <stddef.h>
#include <stdint.h>

struct tap_xxh64 {
	uint64_t lanes[4];
	uint64_t len; /* bytes added so far */
	unsigned char rest[32]; /* the last len % 32 bytes, which do not fill a stripe */
};

void tap_xxh64_init(struct tap_xxh64 *x);
void tap_xxh64_add(struct tap_xxh64 *x, const void *data, size_t len);
/* Return the checksum of all bytes added so far; more may be added afterwards. */
uint64_t tap_xxh64_sum(const struct tap_xxh64 *x);

/* Return the checksum of @len bytes. */
uint64_t tap_xxh64(const void *data, size_t len);

#endif
