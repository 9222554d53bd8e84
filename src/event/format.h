/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Format texts: the content of events/SYSTEM/NAME/format in tracefs, which a trace.dat contains as
 * well. They are parsed into a struct tap_format. Built-in definitions (defs.h) are converted to
 * format texts first, so that one decoder serves every event.
 */
#ifndef TAP_EVENT_FORMAT_H
#define TAP_EVENT_FORMAT_H

#include <string.h>

#include <schedtap/event.h>

#define TAP_FORMAT_MAX_BYTES ((size_t)24 << 20) /* a print fmt may list every cgroup or stack */
#define TAP_FORMAT_MAX_FIELDS 512u

/* Byte order and word size of the kernel that wrote the records. */
struct tap_abi {
	bool big_endian;
	uint8_t long_size; /* 4 or 8 */
};

/*
 * Parse @len bytes of @text; @system and @text are copied.
 * Return: 0; -EINVAL with the line that is wrong; -E2BIG above the limits; -ENOMEM.
 */
int tap_format_parse(const char *system, const char *text, size_t len, struct tap_abi abi,
		     struct tap_format **out, struct tap_err *err);
void tap_format_free(struct tap_format *fmt);

/* A C integer type, a pointer (an unsigned number of long_size bytes), a float or a double. */
struct tap_ctype {
	uint8_t size; /* 1, 2, 4 or 8 */
	bool is_signed;
	bool is_real;
	bool is_bool; /* values converted to it become 0 or 1 */
};

/*
 * Find a type such as "unsigned long", "pid_t" or "struct rq *". Return: true if its size is known.
 */
bool tap_ctype_find(const char *s, size_t len, struct tap_abi abi, struct tap_ctype *type);

/*
 * Return the bits of a number of 1, 2, 4 or 8 bytes; 0 for any other size. @swap: it has the
 * opposite byte order.
 */
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

/* Truncate @v to a number of @size bytes (1 to 8), zero- or sign-extended. */
static inline uint64_t tap_fit(uint64_t v, uint32_t size, bool is_signed)
{
	unsigned int above = 64 - 8 * size;

	return is_signed ? (uint64_t)((int64_t)(v << above) >> above) : v << above >> above;
}

/* Return the value of a double's bits or, if @size is 4, of a float's bits. */
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

/*
 * Find all bytes of a field. Unlike tap_field_bytes() this includes the NUL that ends a text, and
 * all bytes after it.
 */
const char *tap_field_region(const struct tap_field *f, const void *rec, uint32_t size,
			     uint32_t *len);

#endif
