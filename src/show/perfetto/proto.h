/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The wire format of Protocol Buffers, written into a buffer. A message is a row of fields: a key,
 * which has the field's number and how its value is written, and the value. Numbers have seven bits
 * in a byte, the least significant first.
 */
#ifndef TAP_PERFETTO_PROTO_H
#define TAP_PERFETTO_PROTO_H

#include "base/buf.h"
#include "timeline/sched_fields.h"

enum { TAP_PROTO_VARINT = 0, TAP_PROTO_FIXED64 = 1, TAP_PROTO_BYTES = 2 };
#define TAP_PROTO_VARINT_BYTES 10u /* at most */

static inline unsigned char *tap_proto_write_varint(unsigned char *p, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		*p++ = (unsigned char)(v | 0x80);
	*p++ = (unsigned char)v;
	return p;
}

/* A field that is a number, where there is room for both of its numbers. */
static inline unsigned char *tap_proto_write_u64(unsigned char *p, unsigned int field, uint64_t v)
{
	return tap_proto_write_varint(tap_proto_write_varint(p, field << 3 | TAP_PROTO_VARINT), v);
}

/* Where bytes may be written for which there is room. */
static inline unsigned char *tap_proto_at(const struct tap_buf *b)
{
	return (unsigned char *)b->data + b->len;
}

/* They were written up to @end. */
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

/* Of int32 and int64 as well: what is below 0 takes ten bytes. */
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

/* Also of packed numbers, and of a message that is there already. */
static inline void tap_proto_bytes(struct tap_buf *b, unsigned int field, const void *data,
				   size_t len)
{
	tap_proto_key(b, field, TAP_PROTO_BYTES);
	tap_proto_varint(b, len);
	tap_buf_add(b, data, len);
}

/* What is not UTF-8 becomes U+FFFD. */
void tap_proto_text(struct tap_buf *b, unsigned int field, const char *s, size_t len);

/*
 * The same of a task's name, TAP_TASK_COMM bytes: it ends at the first NUL. _write_comm() writes
 * the value alone, its length and the text, where there is room.
 */
#define TAP_PROTO_COMM_BYTES (1 + 3 * TAP_TASK_COMM) /* at most: each byte could become U+FFFD */
unsigned char *tap_proto_write_comm(unsigned char *p, const char *comm);
void tap_proto_comm(struct tap_buf *b, unsigned int field, const char *comm);

/*
 * A message as a field's value: what is added until its end belongs to it. Its length stands before
 * it. Most take one byte, for which there is room; others are moved. Return: for the end.
 */
static inline size_t tap_proto_begin(struct tap_buf *b, unsigned int field)
{
	tap_proto_key(b, field, TAP_PROTO_BYTES);
	tap_buf_char(b, 0);
	return b->len;
}

/* Of a message of 128 bytes or more. */
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
