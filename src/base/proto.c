// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/proto.h"

#include "base/text.h"

void tap_proto_text(struct tap_buf *b, unsigned int field, const char *s, size_t len)
{
	size_t begun = tap_proto_begin(b, field);

	tap_text_utf8(b, s, len);
	tap_proto_end(b, begun);
}

void tap_proto_end_long(struct tap_buf *b, size_t begun)
{
	unsigned char bytes[TAP_PROTO_VARINT_BYTES];
	size_t len = b->len - begun, more;

	if (b->err)
		return;
	more = (size_t)(tap_proto_write_varint(bytes, len) - bytes) - 1;
	if (!tap_buf_reserve(b, more))
		return;
	memmove(b->data + begun + more, b->data + begun, len);
	b->len += more;
	memcpy(b->data + begun - 1, bytes, more + 1);
}
