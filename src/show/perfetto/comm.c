// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "show/perfetto/comm.h"

#include "base/text.h"

static bool is_ascii(const char *comm)
{
	uint64_t words[TAP_TASK_COMM / sizeof(uint64_t)];

	memcpy(words, comm, sizeof(words));
	return !((words[0] | words[1]) & 0x8080808080808080u);
}

static unsigned char *write_other_comm(unsigned char *p, const char *comm, size_t len)
{
	/* fixed buffer: it is large enough and never grows */
	struct tap_buf text = { .data = (char *)p + 1, .cap = TAP_PROTO_COMM_BYTES - 1 };

	tap_text_utf8(&text, comm, len);
	*p = (unsigned char)text.len;
	return p + 1 + text.len;
}

unsigned char *tap_proto_write_comm(unsigned char *p, const char *comm)
{
	const size_t len = strnlen(comm, TAP_TASK_COMM);

	if (!is_ascii(comm))
		return write_other_comm(p, comm, len);
	*p++ = (unsigned char)len;
	memcpy(p, comm, TAP_TASK_COMM); /* copying the constant size is faster than only the name */
	return p + len;
}

void tap_proto_comm(struct tap_buf *b, unsigned int field, const char *comm)
{
	unsigned char *p;

	if (!tap_buf_reserve(b, TAP_PROTO_VARINT_BYTES + TAP_PROTO_COMM_BYTES))
		return;
	p = tap_proto_write_varint(tap_proto_at(b), field << 3 | TAP_PROTO_BYTES);
	tap_proto_wrote(b, tap_proto_write_comm(p, comm));
}
