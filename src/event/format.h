/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Format texts: what tracefs has in events/SYSTEM/NAME/format and a trace.dat carries along.
 * Parsed here into a struct tap_format; a built-in definition (defs.h) goes the same way, so
 * that one decoder serves every event.
 */
#ifndef TAP_EVENT_FORMAT_H
#define TAP_EVENT_FORMAT_H

#include <string.h>

#include <schedtap/event.h>

#define TAP_FORMAT_MAX_BYTES                                                                       \
	((size_t)24 << 20) /* a print fmt may list every cgroup, or every stack */
#define TAP_FORMAT_MAX_FIELDS 512u

/* How the kernel that wrote the records lays out words. */
struct tap_abi {
	bool big_endian;
	uint8_t long_size; /* 4 or 8 */
};

/*
 * Parses @len bytes of @text; both strings are copied.
 * Return: 0; -EINVAL with the line that is wrong; -E2BIG above the bounds; -ENOMEM.
 */
int tap_format_parse(const char *system, const char *text, size_t len, struct tap_abi abi,
		     struct tap_format **out, struct tap_err *err);
void tap_format_free(struct tap_format *fmt);

/* A C integer type, a pointer (unsigned, long_size bytes), float or double. */
struct tap_ctype {
	uint8_t size; /* 1, 2, 4 or 8 */
	bool is_signed;
	bool is_real;
	bool is_bool; /* what is converted to it is 0 or 1 */
};

/* Return: whether "unsigned long", "pid_t", "struct rq *", ... is a type of known size. */
bool tap_ctype_find(const char *s, size_t len, struct tap_abi abi, struct tap_ctype *type);

/* The bits of a number of 1, 2, 4 or 8 bytes, else 0. @swap: it is of the other byte order. */
static inline uint64_t tap_load(const unsigned char *p, uint32_t size, bool swap)
{
	uint16_t v16;
	uint32_t v32;
	uint64_t v64;

	switch (size) {
	case 1:
		return *p;
	case 2:
		memcpy(&v16, p, sizeof(v16));
		return swap ? __builtin_bswap16(v16) : v16;
	case 4:
		memcpy(&v32, p, sizeof(v32));
		return swap ? __builtin_bswap32(v32) : v32;
	case 8:
		memcpy(&v64, p, sizeof(v64));
		return swap ? __builtin_bswap64(v64) : v64;
	default:
		return 0;
	}
}

/* Brings @v into the range of a number of @size bytes, 1 to 8. */
static inline uint64_t tap_fit(uint64_t v, uint32_t size, bool is_signed)
{
	unsigned int above = 64 - 8 * size;

	return is_signed ? (uint64_t)((int64_t)(v << above) >> above) : v << above >> above;
}

/* The value of a double's or, with 4 bytes, a float's bits. */
static inline double tap_real_of(uint64_t bits, uint32_t size)
{
	uint32_t half = (uint32_t)bits;
	float single;
	double v;

	if (size == sizeof(single)) {
		memcpy(&single, &half, sizeof(single));
		return (double)single;
	}
	memcpy(&v, &bits, sizeof(v));
	return v;
}

/* As tap_field_bytes(), but text with its NUL and what follows it: all that the field has. */
const char *tap_field_region(const struct tap_field *f, const void *rec, uint32_t size,
			     uint32_t *len);

#endif
