// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Events as CSV (RFC 4180, but lines end in \n): the fields as their printed text. */
#include "out/out.h"

#include "base/text.h"

static void csv_begin(struct tap_out *o)
{
	tap_buf_puts(&o->buf, "ts_ns,");
	tap_buf_puts(&o->buf, tap_wall_width(o->wall) ? "ts_wall," : "");
	tap_buf_puts(&o->buf, "cpu,tid,tgid,comm,event,fields\n");
}

static int csv_kind(struct tap_out_kind *k, const struct tap_who_kind *kind)
{
	struct tap_buf name = { 0 };

	tap_buf_puts(&name, kind->fmt->system);
	tap_buf_char(&name, ':');
	tap_buf_puts(&name, kind->fmt->name);
	tap_text_csv(&k->label, name.data, name.len);
	tap_buf_char(&k->label, ',');
	if (name.err)
		k->label.err = name.err;
	tap_buf_release(&name);
	return tap_printer_new(kind->fmt, &k->printer, NULL);
}

static void csv_label(struct tap_buf *label, const struct tap_who_task *task)
{
	if (task->tid >= 0)
		tap_buf_s64(label, task->tid);
	tap_buf_char(label, ',');
	if (task->tgid >= 0)
		tap_buf_s64(label, task->tgid);
	tap_buf_char(label, ',');
	tap_text_csv(label, task->comm, task->comm_len);
	tap_buf_char(label, ',');
}

static void add_time(struct tap_out *o, uint64_t ts_ns)
{
	tap_buf_u64(&o->buf, ts_ns);
	tap_buf_char(&o->buf, ',');
	if (!tap_wall_width(o->wall))
		return;
	tap_wall_add_iso(o->wall, &o->buf, ts_ns);
	tap_buf_char(&o->buf, ',');
}

static void csv_event(struct tap_out *o, const struct tap_out_kind *k,
		      const struct tap_who_kind *kind, const struct tap_event *ev,
		      const struct tap_who_task *current)
{
	struct tap_buf *b = &o->buf;

	(void)kind;
	add_time(o, ev->ts_ns);
	tap_buf_s64(b, ev->cpu);
	tap_buf_char(b, ',');
	tap_buf_add(b, current->label, current->label_len);
	tap_buf_add(b, k->label.data, k->label.len);
	tap_buf_clear(&o->scratch);
	tap_printer_run(k->printer, ev->data, ev->size, &o->scratch);
	tap_text_csv(b, o->scratch.data, o->scratch.len);
	tap_buf_char(b, '\n');
	if (o->scratch.err)
		b->err = o->scratch.err;
}

static void csv_lost(struct tap_out *o, const struct tap_event *ev)
{
	struct tap_wall own = { 0 }; /* the fields are the recording's */

	add_time(o, ev->ts_ns);
	if (ev->cpu >= 0)
		tap_buf_s64(&o->buf, ev->cpu);
	tap_buf_puts(&o->buf, ",,,,lost,");
	tap_out_lost_text(&o->buf, &own, ev);
	tap_buf_char(&o->buf, '\n');
}

const struct tap_out_ops tap_out_csv = {
	.begin = csv_begin,
	.kind = csv_kind,
	.label = csv_label,
	.event = csv_event,
	.lost = csv_lost,
};
