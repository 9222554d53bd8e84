// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/xxh64.h"

#include <string.h>

#define PRIME1 0x9e3779b185ebca87u
#define PRIME2 0xc2b2ae3d27d4eb4fu
#define PRIME3 0x165667b19e3779f9u
#define PRIME4 0x85ebca77c2b2ae63u
#define PRIME5 0x27d4eb2f165667c5u

#define STRIPE sizeof(((struct tap_xxh64 *)0)->rest)

static uint64_t rotate_left(uint64_t v, unsigned int by)
{
	return v << by | v >> (64 - by);
}

static uint64_t little64(const unsigned char *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? v : __builtin_bswap64(v);
}

static uint32_t little32(const unsigned char *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? v : __builtin_bswap32(v);
}

static uint64_t round64(uint64_t lane, uint64_t v)
{
	return rotate_left(lane + v * PRIME2, 31) * PRIME1;
}

/*
 * Add @nr whole stripes. Local copies of the lanes keep the compiler from storing them in each
 * round.
 */
static void add_stripes(uint64_t lanes[4], const unsigned char *p, size_t nr)
{
	uint64_t a = lanes[0], b = lanes[1], c = lanes[2], d = lanes[3];

	for (; nr; nr--, p += STRIPE) {
		a = round64(a, little64(p));
		b = round64(b, little64(p + 8));
		c = round64(c, little64(p + 16));
		d = round64(d, little64(p + 24));
	}
	lanes[0] = a;
	lanes[1] = b;
	lanes[2] = c;
	lanes[3] = d;
}

static uint64_t merge_lanes(const uint64_t lanes[4])
{
	uint64_t sum = rotate_left(lanes[0], 1) + rotate_left(lanes[1], 7) +
		       rotate_left(lanes[2], 12) + rotate_left(lanes[3], 18);

	for (int i = 0; i < 4; i++)
		sum = (sum ^ round64(0, lanes[i])) * PRIME1 + PRIME4;
	return sum;
}

void tap_xxh64_init(struct tap_xxh64 *x)
{
	*x = (struct tap_xxh64){ .lanes = { PRIME1 + PRIME2, PRIME2, 0, -PRIME1 } };
}

void tap_xxh64_add(struct tap_xxh64 *x, const void *data, size_t len)
{
	const unsigned char *p = data;
	size_t have = x->len % STRIPE, part = STRIPE - have < len ? STRIPE - have : len;

	x->len += len;
	if (have) {
		memcpy(x->rest + have, p, part);
		p += part;
		len -= part;
		if (have + part < STRIPE)
			return;
		add_stripes(x->lanes, x->rest, 1);
	}
	add_stripes(x->lanes, p, len / STRIPE);
	if (len % STRIPE)
		memcpy(x->rest, p + len - len % STRIPE, len % STRIPE);
}

uint64_t tap_xxh64_sum(const struct tap_xxh64 *x)
{
	const unsigned char *p = x->rest, *end = p + x->len % STRIPE;
	uint64_t sum = x->len < STRIPE ? PRIME5 : merge_lanes(x->lanes);

	sum += x->len;
	for (; end - p >= 8; p += 8)
		sum = rotate_left(sum ^ round64(0, little64(p)), 27) * PRIME1 + PRIME4;
	if (end - p >= 4) {
		sum = rotate_left(sum ^ little32(p) * PRIME1, 23) * PRIME2 + PRIME3;
		p += 4;
	}
	for (; p < end; p++)
		sum = rotate_left(sum ^ *p * PRIME5, 11) * PRIME1;
	sum = (sum ^ sum >> 33) * PRIME2;
	sum = (sum ^ sum >> 29) * PRIME3;
	return sum ^ sum >> 32;
}

uint64_t tap_xxh64(const void *data, size_t len)
{
	struct tap_xxh64 x;

	tap_xxh64_init(&x);
	tap_xxh64_add(&x, data, len);
	return tap_xxh64_sum(&x);
}
