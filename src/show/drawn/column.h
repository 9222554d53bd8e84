/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The columns of a part: numbers, one behind the other, in the order in which the page reads them.
 */
#ifndef TAP_DRAWN_COLUMN_H
#define TAP_DRAWN_COLUMN_H

#include "base/buf.h"

enum tap_number_type { TAP_NUMBER_U8, TAP_NUMBER_U32, TAP_NUMBER_F32, TAP_NUMBER_VARINT };

struct tap_drawn_column {
	const char *name;
	enum tap_number_type type;
	/* borrowed; released as it is written; of varints each has all of its bytes in a row */
	struct tap_buf *bytes;
};

/* Pieces of one column stand next to each other. */
struct tap_drawn_columns { /* all zero: none */
	struct tap_drawn_column *v; /* owned */
	unsigned int nr, cap;
	/* of the pieces, those that are read before the others: tap_levels_end() */
	unsigned int nr_first;
	size_t first_bytes; /* of the part: up to the end of these; known once it was put */
};

/* Return: 0 or -ENOMEM. */
int tap_drawn_columns_add(struct tap_drawn_columns *c, const char *name, enum tap_number_type type,
			  struct tap_buf *bytes);
/* Those of @from from the @first on, up to the @end, which is none of them. Return: 0 or -ENOMEM.
 */
int tap_drawn_columns_add_some(struct tap_drawn_columns *c, const struct tap_drawn_columns *from,
			       unsigned int first, unsigned int end);
/* Adds a part: @json is its text up to its last member, which is the columns. Return: 0; -ENOMEM;
 * -EFBIG. */
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

/* Of any machine, the lowest byte first. */
void tap_u32_put(struct tap_buf *b, uint32_t v);
void tap_f32_put(struct tap_buf *b, float v);

#endif
