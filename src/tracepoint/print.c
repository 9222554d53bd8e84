// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The helpers of print formats, each with the text that the kernel's trace_output.c makes of it. */
#include "tracepoint/internal.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <netinet/in.h>
#include <stdarg.h>

static void put(struct trace_seq *s, const char *fmt, va_list args)
{
	size_t room = s->len < sizeof(s->text) ? sizeof(s->text) - s->len : 0;
	int len = vsnprintf(room ? s->text + s->len : NULL, room, fmt, args);

	if (len > 0)
		s->len += (size_t)len;
}

void tap_seq_printf(struct trace_seq *s, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	put(s, fmt, args);
	va_end(args);
}

/* Where the next text begins; the one before stays, for a print format has several. */
static const char *begin(struct trace_seq *p)
{
	if (p->len >= sizeof(p->text))
		p->len = sizeof(p->text) - 1;
	p->text[p->len] = '\0';
	return p->text + p->len;
}

static const char *finish(struct trace_seq *p, const char *text)
{
	p->len++; /* the NUL stays */
	return text;
}

size_t trace_event_print(const struct trace_event_call *call, const void *rec, struct trace_seq *s)
{
	struct trace_seq p;

	s->len = 0;
	s->text[0] = '\0';
	(call->print ? call->print : call->event_class->print)(rec, s, &p);
	return s->len;
}

const char *tap_print_flags(struct trace_seq *p, const char *delim, unsigned long long value,
			    const struct trace_print_flags *flags)
{
	const char *text = begin(p), *between = "";

	for (; flags->name && value; flags++) {
		if ((value & flags->mask) != flags->mask)
			continue;
		value &= ~flags->mask;
		tap_seq_printf(p, "%s%s", between, flags->name);
		between = delim ? delim : "";
	}
	if (value)
		tap_seq_printf(p, "%s0x%llx", between, value);
	return finish(p, text);
}

const char *tap_print_symbolic(struct trace_seq *p, unsigned long long value,
			       const struct trace_print_flags *symbols)
{
	const char *text = begin(p);

	while (symbols->name && symbols->mask != value)
		symbols++;
	if (symbols->name)
		tap_seq_printf(p, "%s", symbols->name);
	else
		tap_seq_printf(p, "0x%llx", value);
	return finish(p, text);
}

const char *tap_print_hex(struct trace_seq *p, const void *buf, int len, bool spaced)
{
	const unsigned char *bytes = buf;
	const char *text = begin(p);

	for (int i = 0; i < len; i++)
		tap_seq_printf(p, "%s%02x", spaced && i ? " " : "", bytes[i]);
	return finish(p, text);
}

static uint64_t load(const void *at, size_t size)
{
	uint64_t v = 0;

	memcpy(&v, at, size); /* little-endian: the low bytes */
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	v >>= 8 * (8 - size);
#endif
	return v;
}

const char *tap_print_array(struct trace_seq *p, const void *buf, int count, size_t el_size)
{
	const char *text = begin(p), *at = buf;

	tap_seq_printf(p, "{");
	for (int i = 0; i < count && el_size <= 8; i++)
		tap_seq_printf(p, "%s0x%llx", i ? "," : "",
			       (unsigned long long)load(at + (size_t)i * el_size, el_size));
	tap_seq_printf(p, "}");
	return finish(p, text);
}

/* As "%*pb": groups of 8 hex digits, the highest first. */
const char *tap_print_bitmask(struct trace_seq *p, const void *bits, uint32_t bytes)
{
	const char *text = begin(p), *at = bits;

	for (uint32_t i = bytes / 4; i--;)
		tap_seq_printf(p, "%08x%s", (unsigned int)load(at + 4 * i, 4), i ? "," : "");
	return finish(p, text);
}

/* As "%pISpc": an address and a port. */
const char *tap_print_sockaddr(struct trace_seq *p, const void *addr, uint32_t bytes)
{
	const char *text = begin(p);
	struct sockaddr_storage sa = { 0 };
	const struct sockaddr_in *in = (const struct sockaddr_in *)&sa;
	const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)&sa;
	char name[INET6_ADDRSTRLEN] = "";

	memcpy(&sa, addr, bytes < sizeof(sa) ? bytes : sizeof(sa));
	if (sa.ss_family == AF_INET && inet_ntop(AF_INET, &in->sin_addr, name, sizeof(name)))
		tap_seq_printf(p, "%s:%u", name, ntohs(in->sin_port));
	else if (sa.ss_family == AF_INET6 && inet_ntop(AF_INET6, &in6->sin6_addr, name, sizeof(name)))
		tap_seq_printf(p, "[%s]:%u", name, ntohs(in6->sin6_port));
	else
		tap_seq_printf(p, "(family %u)", sa.ss_family);
	return finish(p, text);
}

static void dump_row(struct trace_seq *p, const unsigned char *row, size_t len, int row_bytes,
		     int group_bytes, bool ascii)
{
	int width = row_bytes * 2 + row_bytes / group_bytes;
	size_t from = p->len;

	for (size_t i = 0; i + (size_t)group_bytes <= len; i += (size_t)group_bytes)
		tap_seq_printf(p, "%s%0*llx", i ? " " : "", 2 * group_bytes,
			       (unsigned long long)load(row + i, (size_t)group_bytes));
	if (!ascii)
		return;
	tap_seq_printf(p, "%*s", width + 1 - (int)(p->len - from), "");
	for (size_t i = 0; i < len; i++)
		tap_seq_printf(p, "%c", isprint(row[i]) ? row[i] : '.');
}

const char *tap_print_hex_dump(struct trace_seq *p, const char *prefix, int prefix_type,
			       int row_bytes, int group_bytes, const void *buf, size_t len, bool ascii)
{
	const unsigned char *bytes = buf;
	const char *text = begin(p);

	if (row_bytes != 16 && row_bytes != 32)
		row_bytes = 16;
	if (group_bytes != 1 && group_bytes != 2 && group_bytes != 4 && group_bytes != 8)
		group_bytes = 1;
	tap_seq_printf(p, "\n");
	for (size_t i = 0; i < len; i += (size_t)row_bytes) {
		size_t row = len - i < (size_t)row_bytes ? len - i : (size_t)row_bytes;

		if (prefix_type == DUMP_PREFIX_ADDRESS)
			tap_seq_printf(p, "%s%p: ", prefix, (const void *)(bytes + i));
		else if (prefix_type == DUMP_PREFIX_OFFSET)
			tap_seq_printf(p, "%s%.8zx: ", prefix, i);
		else
			tap_seq_printf(p, "%s", prefix);
		dump_row(p, bytes + i, row, row_bytes, group_bytes, ascii);
		tap_seq_printf(p, "\n");
	}
	return finish(p, text);
}

size_t tap_vstring_bytes(const char *fmt, va_list args)
{
	va_list copy;
	int len;

	va_copy(copy, args);
	len = vsnprintf(NULL, 0, fmt, copy);
	va_end(copy);
	return len > 0 ? (size_t)len : 0;
}

void tap_put_cut_text(char *to, const char *text, size_t room)
{
	size_t len = strnlen(text, room);

	if (!room)
		return;
	memcpy(to, text, len < room ? len : room - 1);
	to[len < room ? len : room - 1] = '\0';
	if (len == room && room > sizeof(TAP_CUT_MARK))
		memcpy(to + room - sizeof(TAP_CUT_MARK), TAP_CUT_MARK, sizeof(TAP_CUT_MARK));
}
