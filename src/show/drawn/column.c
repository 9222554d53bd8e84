// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "show/drawn/column.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>

#include "base/array.h"

#define ALIGN 8u
#define COLUMN_TEXT 80u /* maximum size of a column's JSON member, without its name */

static const char *const types[] = {
	[TAP_NUMBER_U8] = "u8",
	[TAP_NUMBER_U32] = "u32",
	[TAP_NUMBER_F32] = "f32",
	[TAP_NUMBER_VARINT] = "varint",
};

void tap_u32_put(struct tap_buf *b, uint32_t v)
{
	v = htole32(v);
	tap_buf_add(b, &v, sizeof(v));
}

void tap_f32_put(struct tap_buf *b, float v)
{
	uint32_t bits;

	memcpy(&bits, &v, sizeof(bits));
	tap_u32_put(b, bits);
}

int tap_drawn_columns_add(struct tap_drawn_columns *c, const char *name, enum tap_number_type type,
			  struct tap_buf *bytes)
{
	if (tap_array_grow(&c->v, c->nr, &c->cap, sizeof(*c->v)))
		return -ENOMEM;
	c->v[c->nr++] = (struct tap_drawn_column){ name, type, bytes };
	return 0;
}

int tap_drawn_columns_add_some(struct tap_drawn_columns *c, const struct tap_drawn_columns *from,
			       unsigned int first, unsigned int end)
{
	int ret = 0;

	for (unsigned int i = first; !ret && i < end && i < from->nr; i++)
		ret = tap_drawn_columns_add(c, from->v[i].name, from->v[i].type, from->v[i].bytes);
	return ret;
}

void tap_drawn_columns_release(struct tap_drawn_columns *c)
{
	free(c->v);
	*c = (struct tap_drawn_columns){ 0 };
}

static bool is_next_piece(const struct tap_drawn_columns *c, unsigned int i)
{
	return i && c->v[i].name == c->v[i - 1].name;
}

static size_t align_up(size_t bytes)
{
	return (bytes + ALIGN - 1) / ALIGN * ALIGN;
}

/* Append the columns' offsets to @json. Return: the end of the last column. */
static size_t put_offsets(struct tap_drawn_columns *c, size_t at, struct tap_buf *json)
{
	c->first_bytes = at;
	for (unsigned int i = 0; i < c->nr;) {
		const struct tap_drawn_column *first = &c->v[i];
		size_t bytes = 0;

		do {
			bytes += c->v[i++].bytes->len;
		} while (i < c->nr && is_next_piece(c, i));
		tap_buf_printf(json, "%s\"%s\":[%zu,%zu,\"%s\"]", first == c->v ? "" : ",",
			       first->name, at, bytes, types[first->type]);
		if (i <= c->nr_first)
			c->first_bytes = at + bytes;
		at = align_up(at + bytes);
	}
	return at;
}

/*
 * The JSON text includes the columns' offsets, which depend on the text's size: reserve the
 * maximum. Return: its size.
 */
static size_t text_bytes(const struct tap_drawn_columns *c, const struct tap_buf *json)
{
	size_t bytes = sizeof(uint32_t) + json->len + COLUMN_TEXT;

	for (unsigned int i = 0; i < c->nr; i++)
		bytes += is_next_piece(c, i) ? 0 : strlen(c->v[i].name) + COLUMN_TEXT;
	return align_up(bytes);
}

/* Append the @nth byte of each number that is long enough. @bytes: a sequence of varints. */
static void put_nth(const struct tap_buf *bytes, unsigned int nth, struct tap_buf *out)
{
	unsigned int n = 0;

	for (size_t i = 0; i < bytes->len; i++) {
		if (n == nth)
			tap_buf_char(out, bytes->data[i]);
		n = bytes->data[i] & 0x80 ? n + 1 : 0;
	}
}

/*
 * Write all first bytes, then all second bytes, and so on. The low bytes of large numbers are noise
 * while the high bytes are similar: separated, they compress better.
 */
static void put_varints(const struct tap_drawn_column *pieces, unsigned int nr, struct tap_buf *out)
{
	size_t before = SIZE_MAX;

	for (unsigned int nth = 0; out->len != before; nth++) {
		before = out->len;
		for (unsigned int i = 0; i < nr; i++)
			put_nth(pieces[i].bytes, nth, out);
	}
}

static void put_column(const struct tap_drawn_column *pieces, unsigned int nr, struct tap_buf *out)
{
	if (pieces->type == TAP_NUMBER_VARINT)
		put_varints(pieces, nr, out);
	for (unsigned int i = 0; i < nr; i++) {
		if (pieces->type != TAP_NUMBER_VARINT)
			tap_buf_add(out, pieces[i].bytes->data, pieces[i].bytes->len);
		out->err = out->err ?: pieces[i].bytes->err;
		tap_buf_release(pieces[i].bytes);
	}
}

static void put_bytes(const struct tap_drawn_columns *c, size_t begin, struct tap_buf *out)
{
	for (unsigned int i = 0, next; i < c->nr; i = next) {
		for (next = i + 1; next < c->nr && is_next_piece(c, next);)
			next++;
		tap_buf_add(out, "\0\0\0\0\0\0\0", align_up(out->len - begin) - (out->len - begin));
		put_column(&c->v[i], next - i, out);
	}
}

int tap_drawn_columns_put(struct tap_drawn_columns *c, const struct tap_buf *json,
			  struct tap_buf *out)
{
	const size_t begin = out->len, first = text_bytes(c, json);
	struct tap_buf text = { 0 };
	size_t end;

	tap_buf_puts(&text, ",\"columns\":{");
	end = put_offsets(c, first, &text);
	tap_buf_puts(&text, "}}");
	if (json->err || text.err) {
		tap_buf_release(&text);
		return json->err ?: text.err;
	}
	tap_buf_reserve(out, end);
	tap_u32_put(out, (uint32_t)(first - sizeof(uint32_t)));
	tap_buf_add(out, json->data, json->len);
	tap_buf_add(out, text.data, text.len);
	tap_buf_blanks(out, begin + first - out->len);
	tap_buf_release(&text);
	put_bytes(c, begin, out);
	return out->err;
}
