// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Helpers of print formats; each prints the same text as the kernel's in trace_output.c. */
#include "tracepoint/internal.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdarg.h>

/* ---- printf() with the kernel's extensions ---- */

static TAP_PRINTF(2, 3) void add_text(struct trace_seq *s, const char *fmt, ...)
{
	size_t room = s->len < sizeof(s->text) ? sizeof(s->text) - s->len : 0;
	va_list args;
	int len;

	va_start(args, fmt);
	len = vsnprintf(room ? s->text + s->len : NULL, room, fmt, args);
	va_end(args);
	if (len > 0)
		s->len += (size_t)len;
}

static bool is_alnum(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

static void add_hex(struct trace_seq *s, const unsigned char *bytes, int len, const char *between,
		    bool backwards)
{
	for (int i = 0; i < len; i++)
		add_text(s, "%s%02x", i ? between : "", bytes[backwards ? len - 1 - i : i]);
}

/* %*pb: groups of 8 hex digits, the highest first; @bits is a multiple of 32. */
static void add_bitmask(struct trace_seq *s, const unsigned long *words, unsigned int bits)
{
	for (unsigned int i = bits / 32; i--;)
		add_text(s, "%08x%s",
			 (unsigned int)(words[i * 32 / TAP_LONG_BITS] >> i * 32 % TAP_LONG_BITS),
			 i ? "," : "");
}

static bool has_bit(const unsigned long *words, int bit)
{
	return words[(unsigned int)bit / TAP_LONG_BITS] >> (unsigned int)bit % TAP_LONG_BITS & 1;
}

/* %*pbl: "0-3,8" */
static void add_list(struct trace_seq *s, const unsigned long *words, int bits)
{
	const char *between = "";

	for (int from = 0, to; from < bits; from = to + 1) {
		to = from;
		if (!has_bit(words, from))
			continue;
		while (to + 1 < bits && has_bit(words, to + 1))
			to++;
		if (to > from)
			add_text(s, "%s%d-%d", between, from, to);
		else
			add_text(s, "%s%d", between, from);
		between = ",";
	}
}

/*
 * @how: l: little-endian; h: host byte order; others: network byte order. @zeros: pad each number
 * to 3 digits.
 */
static void add_ip4(struct trace_seq *s, const unsigned char *p, char how, bool zeros)
{
	bool backwards = how == 'l' || (how == 'h' && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);

	for (int i = 0; i < 4; i++)
		add_text(s, zeros ? "%s%03u" : "%s%u", i ? "." : "", p[backwards ? 3 - i : i]);
}

static void add_ip6(struct trace_seq *s, const unsigned char *p, bool shortened)
{
	char name[INET6_ADDRSTRLEN];

	if (shortened && inet_ntop(AF_INET6, p, name, sizeof(name))) {
		add_text(s, "%s", name);
		return;
	}
	for (int i = 0; i < 16; i += 2)
		add_text(s, "%s%02x%02x", i ? ":" : "", p[i], p[i + 1]);
}

/* %pM: with colons; %pm: without; MF: with dashes; MR, mR: in reverse order */
static void add_mac(struct trace_seq *s, const unsigned char *p, const char *what)
{
	add_hex(s, p, 6, *what == 'm' ? "" : what[1] == 'F' ? "-" : ":", what[1] == 'R');
}

/* %pe: the name of an error pointer */
static void add_error(struct trace_seq *s, const void *p)
{
	long v = (long)p;
#ifdef __GLIBC__
	const char *name = v < 0 && v >= -4095 ? strerrorname_np((int)-v) : NULL;
#else
	const char *name = NULL;
#endif

	if (name)
		add_text(s, "-%s", name);
	else if (v < 0 && v >= -4095)
		add_text(s, "%ld", v);
	else
		add_text(s, "0x%lx", (unsigned long)v);
}

/* %pIS: p adds the port, c shortens IPv6 addresses */
static void add_sockaddr(struct trace_seq *s, const struct sockaddr *sa, bool port, bool shortened)
{
	const struct sockaddr_in *in = (const struct sockaddr_in *)sa;
	const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)sa;

	if (sa->sa_family == AF_INET) {
		add_ip4(s, (const unsigned char *)&in->sin_addr, 0, false);
	} else if (sa->sa_family == AF_INET6) {
		add_text(s, "%s", port ? "[" : "");
		add_ip6(s, in6->sin6_addr.s6_addr, shortened);
		add_text(s, "%s", port ? "]" : "");
	} else {
		add_text(s, "(einval)");
		return;
	}
	if (port) /* the port is at the same offset in both structs */
		add_text(s, ":%u", ntohs(in->sin_port));
}

/* %pU: b, B: in memory order; l, L: the first three fields little-endian; B and L in capitals */
static void add_uuid(struct trace_seq *s, const unsigned char *p, char how)
{
	static const unsigned char little[] = {
		3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15
	};

	for (int i = 0; i < 16; i++)
		add_text(s, how == 'B' || how == 'L' ? "%s%02X" : "%s%02x",
			 i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "",
			 p[how == 'l' || how == 'L' ? little[i] : i]);
}

/* %*ph: bytes separated by blanks; C: colons, D: dashes, N: nothing */
static void add_bytes(struct trace_seq *s, const unsigned char *p, int width, char how)
{
	const char *between = how == 'C' ? ":" : how == 'D' ? "-" : how == 'N' ? "" : " ";

	add_hex(s, p, width < 0 ? 1 : width < 64 ? width : 64, between, false);
}

/* %p: @what: the letters after it, which select the format. @width: -1: not given. */
static void add_pointed(struct trace_seq *s, const void *p, const char *what, int width)
{
	if (!strcmp(what, "bl"))
		add_list(s, p, width);
	else if (*what == 'b')
		add_bitmask(s, p, (unsigned int)(width < 0 ? 0 : width + 31) & ~31u);
	else if (*what == 'h')
		add_bytes(s, p, width, what[1]);
	else if (!strncmp(what, "I4", 2) || !strncmp(what, "i4", 2))
		add_ip4(s, p, what[2], *what == 'i');
	else if (!strncmp(what, "i6", 2))
		add_hex(s, p, 16, "", false);
	else if (!strncmp(what, "I6", 2))
		add_ip6(s, p, what[2] == 'c');
	else if (!strncmp(what, "IS", 2))
		add_sockaddr(s, p, strchr(what, 'p'), strchr(what, 'c'));
	else if (*what == 'M' || *what == 'm')
		add_mac(s, p, what);
	else if (*what == 'e')
		add_error(s, p);
	else
		add_uuid(s, p, what[1]);
}

/* A conversion, from its '%', with numbers in place of its asterisks. */
struct spec {
	char text[48];
	size_t len;
	int width; /* -1: not given */
	unsigned int longs; /* 0: int, 1: long, 2 and more: long long */
};

static void add_address(struct trace_seq *s, const void *p, const struct spec *spec)
{
	char number[24];

	snprintf(number, sizeof(number), "0x%lx", (unsigned long)p);
	add_text(s, strchr(spec->text, '-') ? "%-*s" : "%*s", spec->width == -1 ? 0 : spec->width,
		 number);
}

/* The letters after a %p are part of the conversion. Return: the format after them. */
static const char *add_pointer(struct trace_seq *s, const void *p, const char *fmt,
			       const struct spec *spec)
{
	char what[8] = "";

	for (size_t len = 0; is_alnum(*fmt); fmt++, len++)
		if (len < sizeof(what) - 1)
			what[len] = *fmt;
	if (!*what || !strchr("bhIiMmUe", *what))
		add_address(s, p, spec);
	else if (!p)
		add_text(s, "(null)");
	else
		add_pointed(s, p, what, spec->width);
	return fmt;
}

static void spec_add(struct spec *spec, const char *text, size_t len)
{
	if (len >= sizeof(spec->text) - 1 - spec->len)
		return; /* keep room for the conversion's letter and the NUL */
	memcpy(spec->text + spec->len, text, len);
	spec->len += len;
}

/* Parse flags, width, precision and length. Return: the format at the conversion's letter. */
static const char *spec_parse(struct spec *spec, const char *fmt, va_list *args)
{
	char digits[16];
	bool precision = false;

	for (; *fmt && strchr("-+ #0123456789.*hlqjztL", *fmt); fmt++) {
		int number;

		if (*fmt == '*') {
			number = va_arg(*args, int);
			if (precision && number < 0)
				number = 0; /* as in printk(); printf() would ignore it */
			spec_add(spec, digits,
				 (size_t)snprintf(digits, sizeof(digits), "%d", number));
			spec->width = precision ? spec->width : number;
			continue;
		}
		precision |= *fmt == '.';
		if (*fmt >= '0' && *fmt <= '9' && !precision)
			spec->width = (spec->width < 0 ? 0 : spec->width * 10) + *fmt - '0';
		else if (strchr("lzt", *fmt))
			spec->longs++;
		else if (strchr("qjL", *fmt))
			spec->longs = 2;
		spec_add(spec, fmt, 1);
	}
	spec->text[spec->len] = *fmt;
	spec->text[spec->len + 1] = '\0';
	return fmt;
}

/* The text is part of a format that the compiler has already checked. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
static void add_number(struct trace_seq *s, const struct spec *spec, va_list *args)
{
	if (spec->longs > 1)
		add_text(s, spec->text, va_arg(*args, long long));
	else if (spec->longs)
		add_text(s, spec->text, va_arg(*args, long));
	else
		add_text(s, spec->text, va_arg(*args, int));
}

static void add_float(struct trace_seq *s, const struct spec *spec, va_list *args)
{
	if (spec->longs)
		add_text(s, spec->text, va_arg(*args, long double));
	else
		add_text(s, spec->text, va_arg(*args, double));
}

/* Print one conversion. @fmt: after a '%'. Return: the format after the conversion. */
static const char *add_conversion(struct trace_seq *s, const char *fmt, va_list *args)
{
	struct spec spec = { .text = "%", .len = 1, .width = -1 };

	fmt = spec_parse(&spec, fmt, args);
	if (*fmt == 'p')
		return add_pointer(s, va_arg(*args, const void *), fmt + 1, &spec);
	if (*fmt == 's')
		add_text(s, spec.text, va_arg(*args, const char *) ?: "(null)");
	else if (*fmt && strchr("aAeEfFgG", *fmt))
		add_float(s, &spec, args);
	else if (*fmt && strchr("diouxXc", *fmt))
		add_number(s, &spec, args);
	else
		add_text(s, "%%");
	return *fmt ? fmt + 1 : fmt;
}
#pragma GCC diagnostic pop

void tap_seq_printf(struct trace_seq *s, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	while (*fmt) {
		size_t len = strcspn(fmt, "%");

		add_text(s, "%.*s", (int)len, fmt);
		fmt += len;
		if (*fmt)
			fmt = add_conversion(s, fmt + 1, &args);
	}
	va_end(args);
}

/* ---- the helpers of print formats ---- */

/*
 * Begin a text in @p after the earlier ones, which stay: a print format may use several. Return:
 * its start.
 */
static const char *begin_text(struct trace_seq *p)
{
	if (p->len >= sizeof(p->text))
		p->len = sizeof(p->text) - 1;
	p->text[p->len] = '\0';
	return p->text + p->len;
}

static const char *finish_text(struct trace_seq *p, const char *text)
{
	p->len++; /* the next text begins after the NUL */
	return text;
}

size_t trace_event_print(const struct trace_event_call *call, const void *rec, struct trace_seq *s)
{
	struct trace_event_info info;
	struct trace_seq p;

	s->len = 0;
	s->text[0] = '\0';
	call->info(&info);
	info.print(rec, s, &p);
	return s->len;
}

const char *tap_print_flags(struct trace_seq *p, const char *delim, unsigned long long value,
			    const struct trace_print_flags *flags)
{
	const char *text = begin_text(p), *between = "";

	for (; flags->name && value; flags++) {
		if ((value & flags->mask) != flags->mask)
			continue;
		value &= ~flags->mask;
		add_text(p, "%s%s", between, flags->name);
		between = delim ? delim : "";
	}
	if (value)
		add_text(p, "%s0x%llx", between, value);
	return finish_text(p, text);
}

/* An empty name prints as a number, as in the kernel. */
const char *tap_print_symbolic(struct trace_seq *p, unsigned long long value,
			       const struct trace_print_flags *symbols)
{
	const char *text = begin_text(p);

	while (symbols->name && symbols->mask != value)
		symbols++;
	if (symbols->name && *symbols->name)
		add_text(p, "%s", symbols->name);
	else
		add_text(p, "0x%llx", value);
	return finish_text(p, text);
}

const char *tap_print_hex(struct trace_seq *p, const void *buf, int len, bool spaced)
{
	const char *text = begin_text(p);

	add_hex(p, buf, len, spaced ? " " : "", false);
	return finish_text(p, text);
}

static uint64_t load_number(const void *at, size_t size)
{
	uint64_t v = 0;

	memcpy(&v, at, size); /* little-endian machines: these are the low bytes */
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	v >>= 8 * (8 - size);
#endif
	return v;
}

const char *tap_print_array(struct trace_seq *p, const void *buf, int count, size_t el_size)
{
	const char *text = begin_text(p), *at = buf,
		   *end = at + (count > 0 ? (size_t)count * el_size : 0);

	add_text(p, "{");
	for (const char *between = ""; at < end; at += el_size, between = ",") {
		if (el_size == 1 || el_size == 2 || el_size == 4 || el_size == 8) {
			add_text(p, "%s0x%llx", between,
				 (unsigned long long)load_number(at, el_size));
		} else {
			add_text(p, "BAD SIZE:%zu 0x%x", el_size, (unsigned char)*at);
			el_size = 1;
		}
	}
	add_text(p, "}");
	return finish_text(p, text);
}

const char *tap_print_bitmask(struct trace_seq *p, const void *bits, uint32_t bytes)
{
	const char *text = begin_text(p);

	add_bitmask(p, bits, bytes * 8);
	return finish_text(p, text);
}

/* Print a row in the format of the kernel's hex_dump_to_buffer(). */
static void dump_row(struct trace_seq *p, const unsigned char *row, size_t len, int row_bytes,
		     size_t group, bool ascii)
{
	size_t width, from = p->len;

	if (len % group)
		group = 1;
	for (size_t i = 0; i < len; i += group)
		add_text(p, "%s%0*llx", i ? " " : "", 2 * (int)group,
			 (unsigned long long)load_number(row + i, group));
	if (!ascii)
		return;
	width = (size_t)row_bytes * 2 + (size_t)row_bytes / group + 1;
	add_text(p, "%*s", (int)(width - (p->len - from)), "");
	for (size_t i = 0; i < len; i++)
		add_text(p, "%c", row[i] >= ' ' && row[i] <= '~' ? row[i] : '.');
}

const char *tap_print_hex_dump(struct trace_seq *p, const char *prefix, int prefix_type,
			       int row_bytes, int group_bytes, const void *buf, size_t len,
			       bool ascii)
{
	const unsigned char *bytes = buf;
	const char *text = begin_text(p);

	if (row_bytes != 16 && row_bytes != 32)
		row_bytes = 16;
	if (group_bytes != 1 && group_bytes != 2 && group_bytes != 4 && group_bytes != 8)
		group_bytes = 1;
	add_text(p, "\n");
	for (size_t i = 0; i < len; i += (size_t)row_bytes) {
		size_t row = len - i < (size_t)row_bytes ? len - i : (size_t)row_bytes;

		if (prefix_type == DUMP_PREFIX_ADDRESS)
			add_text(p, "%s%p: ", prefix, (const void *)(bytes + i));
		else if (prefix_type == DUMP_PREFIX_OFFSET)
			add_text(p, "%s%.8zx: ", prefix, i);
		else
			add_text(p, "%s", prefix);
		dump_row(p, bytes + i, row, row_bytes, (size_t)group_bytes, ascii);
		add_text(p, "\n");
	}
	return finish_text(p, text);
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

void tap_put_vstring(char *to, size_t room, const char *fmt, va_list args)
{
	va_list copy;

	va_copy(copy, args);
	vsnprintf(to, room, fmt, copy);
	va_end(copy);
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
