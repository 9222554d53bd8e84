/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Read numbers and texts from untrusted bytes. Each read is checked against the end. The first that
 * does not fit sets .bad, and all later reads return 0 or "", so a parser can check .bad once after
 * a group of reads.
 */
#ifndef TAP_FILE_DAT_BYTES_H
#define TAP_FILE_DAT_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define TAP_HOST_BIG_ENDIAN (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)

static inline uint16_t tap_get_u16(const unsigned char *p, bool big_endian)
{
	uint16_t v;

	memcpy(&v, p, sizeof(v));
	return big_endian == TAP_HOST_BIG_ENDIAN ? v : __builtin_bswap16(v);
}

static inline uint32_t tap_get_u32(const unsigned char *p, bool big_endian)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return big_endian == TAP_HOST_BIG_ENDIAN ? v : __builtin_bswap32(v);
}

static inline uint64_t tap_get_u64(const unsigned char *p, bool big_endian)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return big_endian == TAP_HOST_BIG_ENDIAN ? v : __builtin_bswap64(v);
}

struct tap_bytes {
	const unsigned char *at, *end;
	bool big_endian;
	bool bad;
};

static inline size_t tap_bytes_left(const struct tap_bytes *b)
{
	return b->bad ? 0 : (size_t)(b->end - b->at);
}

/* Return the next @len bytes, or NULL if fewer are left. */
static inline const unsigned char *tap_bytes_take(struct tap_bytes *b, uint64_t len)
{
	const unsigned char *p = b->at;

	if (b->bad || len > (size_t)(b->end - b->at)) {
		b->bad = true;
		return NULL;
	}
	b->at += len;
	return p;
}

static inline uint8_t tap_bytes_u8(struct tap_bytes *b)
{
	const unsigned char *p = tap_bytes_take(b, 1);

	return p ? *p : 0;
}

static inline uint16_t tap_bytes_u16(struct tap_bytes *b)
{
	const unsigned char *p = tap_bytes_take(b, 2);

	return p ? tap_get_u16(p, b->big_endian) : 0;
}

static inline uint32_t tap_bytes_u32(struct tap_bytes *b)
{
	const unsigned char *p = tap_bytes_take(b, 4);

	return p ? tap_get_u32(p, b->big_endian) : 0;
}

static inline uint64_t tap_bytes_u64(struct tap_bytes *b)
{
	const unsigned char *p = tap_bytes_take(b, 8);

	return p ? tap_get_u64(p, b->big_endian) : 0;
}

/* Return the next NUL-terminated text, or "" if there is no NUL before the end. */
static inline const char *tap_bytes_str(struct tap_bytes *b)
{
	size_t left = tap_bytes_left(b);
	const unsigned char *nul = left ? memchr(b->at, 0, left) : NULL;

	if (!nul) {
		b->bad = true;
		return "";
	}
	return (const char *)tap_bytes_take(b, (uint64_t)(nul - b->at) + 1);
}

/* Return the next @len bytes as a separate struct; empty and bad if fewer are left. */
static inline struct tap_bytes tap_bytes_sub(struct tap_bytes *b, uint64_t len)
{
	const unsigned char *p = tap_bytes_take(b, len);

	return (struct tap_bytes){
		.at = p ? p : b->at,
		.end = p ? p + len : b->at,
		.big_endian = b->big_endian,
		.bad = !p,
	};
}

#endif
