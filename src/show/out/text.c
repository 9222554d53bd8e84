// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Events as lines of text: "comm-tid [cpu] time: system:name: fields". */
#include "show/out/out.h"

#include "base/digits.h"
#include "base/text.h"
#include "show/out/table.h"

#define COMM_WIDTH 16u
#define TID_WIDTH 7
#define HEAD_BYTES (64 + TAP_WALL_TEXT) /* " [cpu] seconds.nanoseconds: " has at most 44 bytes */

static int text_kind(const struct tap_out *o, struct tap_out_kind *k, const struct tap_buf *name)
{
	(void)o;
	tap_text_escape(&k->label, name->data, name->len);
	tap_buf_puts(&k->label, ": ");
	return tap_printer_new(k->kind->fmt, &k->printer, NULL);
}

void tap_out_task_text(struct tap_buf *b, const struct tap_task *task)
{
	struct tap_buf comm = { 0 };
	size_t width;

	if (*task->comm)
		tap_text_escape(&comm, task->comm, strnlen(task->comm, TAP_TASK_COMM));
	else
		tap_buf_puts(&comm, "<...>");
	width = tap_text_width(comm.data, comm.len);
	tap_buf_printf(b, "%*s%s-%-*d ", width < COMM_WIDTH ? (int)(COMM_WIDTH - width) : 0, "",
		       tap_buf_str(&comm), TID_WIDTH, task->tid);
	tap_buf_release(&comm);
}

static void text_label(const struct tap_out *o, struct tap_buf *label, const struct tap_task *task)
{
	(void)o;
	tap_out_task_text(label, task);
	tap_buf_char(label, '[');
}

static char *put_digits(char *to, uint64_t v, unsigned int width)
{
	unsigned int i;

	for (i = width; i > 1; i -= 2, v /= 100)
		tap_digit_pair(to + i, v);
	if (i)
		to[0] = (char)('0' + v % 10);
	return to + width;
}

static char *put_number(char *to, uint64_t v, unsigned int least)
{
	unsigned int width = tap_nr_digits(v);

	return put_digits(to, v, width < least ? least : width);
}

char *tap_out_time_text(char *to, uint64_t ts_ns)
{
	to = put_number(to, ts_ns / 1000000000, 1);
	*to++ = '.';
	return put_digits(to, ts_ns % 1000000000, 9);
}

char *tap_out_cpu_text(char *to, unsigned int cpu)
{
	return put_number(to, cpu, 3);
}

#define EACH(byte) (0x0101010101010101ull * (byte))

/*
 * Return nonzero if one of the 8 bytes is below @n (1 to 128): the subtraction then sets its top
 * bit.
 */
static uint64_t any_below(uint64_t w, unsigned char n)
{
	return (w - EACH(n)) & ~w & EACH(0x80);
}

static uint64_t word_needs_escape(const char *s)
{
	uint64_t w;

	memcpy(&w, s, sizeof(w));
	return (w & EACH(0x80)) | any_below(w, 0x20) | any_below(w ^ EACH(0x7f), 1) |
	       any_below(w ^ EACH('\\'), 1);
}

/* Return true if tap_text_escape() might change a byte, which is rare. */
static bool needs_escape(const char *s, size_t len)
{
	char few[8] = "        ";
	uint64_t bad = 0;
	size_t i;

	if (len < sizeof(few))
		return word_needs_escape(memcpy(few, s, len));
	for (i = 0; i < len - 8; i += 8)
		bad |= word_needs_escape(s + i);
	return bad | word_needs_escape(s + len - 8); /* may overlap the previous word */
}

void tap_out_fields_text(struct tap_out *o, const struct tap_out_kind *k,
			 const struct tap_event *ev)
{
	size_t from = o->buf.len, len;

	tap_printer_run(k->printer, ev->data, ev->size, &o->buf);
	len = o->buf.len - from;
	if (!len || !needs_escape(o->buf.data + from, len))
		return;
	tap_buf_clear(&o->scratch);
	tap_buf_add(&o->scratch, o->buf.data + from, len);
	o->buf.len = from;
	tap_text_escape(&o->buf, o->scratch.data, o->scratch.len);
}

static void text_event(struct tap_out *o, const struct tap_out_kind *k, const struct tap_event *ev,
		       const struct tap_buf *current)
{
	struct tap_buf *b = &o->buf;
	char *to;

	if (!tap_buf_reserve(b, current->len + HEAD_BYTES + k->label.len))
		return;
	to = mempcpy(b->data + b->len, current->data, current->len);
	to = tap_out_cpu_text(to, (unsigned int)ev->cpu);
	to = mempcpy(to, "] ", 2);
	if (__builtin_expect(tap_wall_width(o->wall) != 0, 0))
		to += tap_wall_text(o->wall, ev->ts_ns, to);
	else
		to = tap_out_time_text(to, ev->ts_ns);
	to = mempcpy(to, ": ", 2);
	to = mempcpy(to, k->label.data, k->label.len);
	b->len = (size_t)(to - b->data);
	tap_out_fields_text(o, k, ev);
	tap_buf_char(b, '\n');
}

static void text_lost(struct tap_out *o, const struct tap_event *ev)
{
	char cpu[16] = "???";

	if (ev->cpu >= 0)
		*put_number(cpu, (unsigned int)ev->cpu, 3) = '\0';
	tap_buf_puts(&o->buf, o->color ? "\033[31m*** [" : "*** [");
	tap_buf_puts(&o->buf, cpu);
	tap_buf_puts(&o->buf, "] ");
	tap_out_lost_text(&o->buf, o->wall, ev);
	tap_buf_puts(&o->buf, o->color ? "\033[m\n" : "\n");
}

static const struct tap_out_ops events = {
	.kind = text_kind,
	.label = text_label,
	.event = text_event,
	.lost = text_lost,
};

const struct tap_style tap_style_text = {
	.audience = TAP_FOR_PEOPLE,
	.table = &tap_table_text_held,
	.stream = &tap_table_text_stream,
	.events = &events,
};
