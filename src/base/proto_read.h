/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Read the wire format of Protocol Buffers (proto.h) from bytes of a stranger. Nothing is read
 * beyond the end; what cannot be read is reported by .bad, and ends the message.
 */
#ifndef TAP_BASE_PROTO_READ_H
#define TAP_BASE_PROTO_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/proto.h"

#define TAP_PROTO_FIXED32 5
#define TAP_PROTO_MAX_FIELD ((1u << 29) - 1)

struct tap_proto_in {
	const unsigned char *at, *end;
	bool bad; /* the message is damaged at .at */
};

struct tap_proto_field {
	uint32_t number;
	unsigned int type; /* TAP_PROTO_VARINT, ... */
	uint64_t value; /* of all types but TAP_PROTO_BYTES */
	struct tap_proto_in bytes; /* of TAP_PROTO_BYTES: also an embedded message */
};

/* Return the address after the varint at @p; NULL if it is cut off or has more than 10 bytes. */
static inline const unsigned char *tap_proto_varint_slow(const unsigned char *p,
							 const unsigned char *end, uint64_t *v)
{
	*v = 0;
	for (unsigned int shift = 0; p < end && shift < 70; shift += 7) {
		*v |= (uint64_t)(*p & 0x7f) << (shift & 63);
		if (!(*p++ & 0x80))
			return p;
	}
	return NULL;
}

static inline const unsigned char *tap_proto_get_varint(const unsigned char *p,
							const unsigned char *end, uint64_t *v)
{
	if (__builtin_expect(p < end && *p < 0x80, 1)) {
		*v = *p;
		return p + 1;
	}
	if (end - p >= 2 && p[1] < 0x80) {
		*v = (p[0] & 0x7fu) | (uint64_t)p[1] << 7;
		return p + 2;
	}
	return tap_proto_varint_slow(p, end, v);
}

/* Read @nr bytes, least significant first. */
static inline bool tap_proto_get_fixed(struct tap_proto_in *in, unsigned int nr, uint64_t *v)
{
	*v = 0;
	if ((size_t)(in->end - in->at) < nr)
		return false;
	for (unsigned int i = 0; i < nr; i++)
		*v |= (uint64_t)in->at[i] << 8 * i;
	in->at += nr;
	return true;
}

/* Read the value of a field whose key was read. Return: false: damaged. */
static inline bool tap_proto_get_value(struct tap_proto_in *in, struct tap_proto_field *f)
{
	const unsigned char *p;

	if (f->type == TAP_PROTO_FIXED64 || f->type == TAP_PROTO_FIXED32)
		return tap_proto_get_fixed(in, f->type == TAP_PROTO_FIXED64 ? 8 : 4, &f->value);
	p = f->type == TAP_PROTO_VARINT || f->type == TAP_PROTO_BYTES
		    ? tap_proto_get_varint(in->at, in->end, &f->value)
		    : NULL;
	if (!p || (f->type == TAP_PROTO_BYTES && f->value > (uint64_t)(in->end - p)))
		return false;
	if (f->type == TAP_PROTO_BYTES) {
		f->bytes = (struct tap_proto_in){ p, p + f->value, false };
		p = f->bytes.end;
	}
	in->at = p;
	return true;
}

/* Read the message's next field. Return: false at its end, and where it is damaged. */
static inline bool tap_proto_next(struct tap_proto_in *in, struct tap_proto_field *f)
{
	const unsigned char *begin = in->at;
	uint64_t key;

	if (in->at >= in->end)
		return false;
	in->at = tap_proto_get_varint(begin, in->end, &key);
	f->number = (uint32_t)(key >> 3);
	f->type = key & 7;
	if (in->at && key >> 3 && key >> 3 <= TAP_PROTO_MAX_FIELD && tap_proto_get_value(in, f))
		return true;
	in->at = begin;
	in->bad = true;
	return false;
}

static inline size_t tap_proto_len(const struct tap_proto_in *in)
{
	return (size_t)(in->end - in->at);
}

#endif
