/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The columns of a part: arrays of numbers, stored one after the other in the order in which the
 * page reads them.
 */
#ifndef TAP_DRAWN_COLUMN_H
#define TAP_DRAWN_COLUMN_H

#include "base/buf.h"

enum tap_number_type { TAP_NUMBER_U8, TAP_NUMBER_U32, TAP_NUMBER_F32, TAP_NUMBER_VARINT };

struct tap_drawn_column {
	const char *name;
	enum tap_number_type type;
	/*
	 * Borrowed; released once written. In a varint column, the bytes of each number are
	 * contiguous here.
	 */
	struct tap_buf *bytes;
};

/* Chunks of the same column must be adjacent. */
struct tap_drawn_columns { /* all zero: empty */
	struct tap_drawn_column *v; /* owned */
	unsigned int nr, cap;
	/*
	 * Number of chunks at the front that the page reads before the others; set by
	 * tap_levels_end().
	 */
	unsigned int nr_first;
	/* size of the part up to the end of these; set by tap_drawn_columns_put() */
	size_t first_bytes;
};

/* Add a column, or a chunk of the last one. Return: 0 or -ENOMEM. */
int tap_drawn_columns_add(struct tap_drawn_columns *c, const char *name, enum tap_number_type type,
			  struct tap_buf *bytes);
/* Add the columns of @from with index @first to @end - 1. Return: 0 or -ENOMEM. */
int tap_drawn_columns_add_some(struct tap_drawn_columns *c, const struct tap_drawn_columns *from,
			       unsigned int first, unsigned int end);
/*
 * Append a part. @json: the part's JSON text without its last member, the columns, and without the
 * closing brace.
 * Return: 0; -ENOMEM; -EFBIG.
 */
int tap_drawn_columns_put(struct tap_drawn_columns *c, const struct tap_buf *json,
			  struct tap_buf *out);
void tap_drawn_columns_release(struct tap_drawn_columns *c);

static inline void tap_varint_put(struct tap_buf *b, uint64_t v)
{
	if (!tap_buf_reserve(b, 10))
		return;
	for (; v >= 0x80; v >>= 7)
		b->data[b->len++] = (char)(v | 0x80);
	b->data[b->len++] = (char)v;
}

/* Append little-endian numbers. */
void tap_u32_put(struct tap_buf *b, uint32_t v);
void tap_f32_put(struct tap_buf *b, float v);

#endif
