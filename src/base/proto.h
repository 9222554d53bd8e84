/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The wire format of Protocol Buffers, written to a buffer. A message is a sequence of fields, each
 * a key (field number and wire type) and a value. Numbers are varints: seven bits per byte, least
 * significant first.
 */
#ifndef TAP_BASE_PROTO_H
#define TAP_BASE_PROTO_H

#include "base/buf.h"

enum { TAP_PROTO_VARINT = 0, TAP_PROTO_FIXED64 = 1, TAP_PROTO_BYTES = 2 };
#define TAP_PROTO_VARINT_BYTES 10u /* maximum size of a varint */

static inline unsigned char *tap_proto_write_varint(unsigned char *p, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		*p++ = (unsigned char)(v | 0x80);
	*p++ = (unsigned char)v;
	return p;
}

/* Write a number field. @p must have room for two varints. */
static inline unsigned char *tap_proto_write_u64(unsigned char *p, unsigned int field, uint64_t v)
{
	return tap_proto_write_varint(tap_proto_write_varint(p, field << 3 | TAP_PROTO_VARINT), v);
}

/* Return the address at which reserved bytes may be written. */
static inline unsigned char *tap_proto_at(const struct tap_buf *b)
{
	return (unsigned char *)b->data + b->len;
}

/* Set the buffer's end after writing at tap_proto_at() up to @end. */
static inline void tap_proto_wrote(struct tap_buf *b, const unsigned char *end)
{
	b->len = (size_t)(end - (unsigned char *)b->data);
}

static inline void tap_proto_varint(struct tap_buf *b, uint64_t v)
{
	if (tap_buf_reserve(b, TAP_PROTO_VARINT_BYTES))
		tap_proto_wrote(b, tap_proto_write_varint(tap_proto_at(b), v));
}

static inline void tap_proto_key(struct tap_buf *b, unsigned int field, unsigned int type)
{
	tap_proto_varint(b, field << 3 | type);
}

/* Add a number, also of type int32 or int64: negative numbers take ten bytes. */
static inline void tap_proto_u64(struct tap_buf *b, unsigned int field, uint64_t v)
{
	if (tap_buf_reserve(b, 2 * TAP_PROTO_VARINT_BYTES))
		tap_proto_wrote(b, tap_proto_write_u64(tap_proto_at(b), field, v));
}

static inline void tap_proto_s64(struct tap_buf *b, unsigned int field, int64_t v)
{
	tap_proto_u64(b, field, (uint64_t)v);
}

static inline void tap_proto_fixed64(struct tap_buf *b, unsigned int field, uint64_t v)
{
	unsigned char bytes[8];

	for (unsigned int i = 0; i < 8; i++)
		bytes[i] = (unsigned char)(v >> 8 * i);
	tap_proto_key(b, field, TAP_PROTO_FIXED64);
	tap_buf_add(b, bytes, sizeof(bytes));
}

/* Add bytes: also packed numbers, or an encoded message. */
static inline void tap_proto_bytes(struct tap_buf *b, unsigned int field, const void *data,
				   size_t len)
{
	tap_proto_key(b, field, TAP_PROTO_BYTES);
	tap_proto_varint(b, len);
	tap_buf_add(b, data, len);
}

/* Add text. Invalid UTF-8 becomes U+FFFD. */
void tap_proto_text(struct tap_buf *b, unsigned int field, const char *s, size_t len);

/*
 * Begin a message as a field's value; everything added until its end belongs to it. One byte is
 * reserved for its length; longer messages are moved at the end. Return: the argument for
 * tap_proto_end().
 */
static inline size_t tap_proto_begin(struct tap_buf *b, unsigned int field)
{
	tap_proto_key(b, field, TAP_PROTO_BYTES);
	tap_buf_char(b, 0);
	return b->len;
}

/* End a message of 128 bytes or more. */
void tap_proto_end_long(struct tap_buf *b, size_t begun);

static inline void tap_proto_end(struct tap_buf *b, size_t begun)
{
	const size_t len = b->len - begun;

	if (len >= 0x80)
		tap_proto_end_long(b, begun);
	else if (!b->err)
		b->data[begun - 1] = (char)len;
}

#endif
