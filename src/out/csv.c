// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* CSV (RFC 4180, but lines end in \n). Events: the fields as their printed text. */
#include "out/out.h"

#include <math.h>

#include "base/text.h"
#include "out/table.h"

static void csv_begin(struct tap_out *o)
{
	tap_buf_puts(&o->buf, "ts_ns,");
	tap_buf_puts(&o->buf, tap_wall_width(o->wall) ? "ts_wall," : "");
	tap_buf_puts(&o->buf, "cpu,tid,tgid,comm,event,fields\n");
}

static int csv_kind(struct tap_out_kind *k, const struct tap_buf *name)
{
	tap_text_csv(&k->label, name->data, name->len);
	tap_buf_char(&k->label, ',');
	return tap_printer_new(k->kind->fmt, &k->printer, NULL);
}

/* Nothing for what is not known. */
static void add_id(struct tap_buf *b, int id)
{
	if (id >= 0)
		tap_buf_s64(b, id);
	tap_buf_char(b, ',');
}

static void csv_label(struct tap_buf *label, const struct tap_task *task)
{
	add_id(label, task->tid);
	add_id(label, tap_task_tgid(task));
	tap_text_csv(label, task->comm, strnlen(task->comm, TAP_TASK_COMM));
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

static void csv_event(struct tap_out *o, const struct tap_out_kind *k, const struct tap_event *ev,
		      const struct tap_buf *current)
{
	struct tap_buf *b = &o->buf;

	add_time(o, ev->ts_ns);
	tap_buf_s64(b, ev->cpu);
	tap_buf_char(b, ',');
	tap_buf_add(b, current->data, current->len);
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
	add_id(&o->buf, ev->cpu);
	tap_buf_puts(&o->buf, ",,,lost,");
	tap_out_lost_text(&o->buf, &own, ev);
	tap_buf_char(&o->buf, '\n');
}

static const struct tap_out_ops events = {
	.begin = csv_begin,
	.kind = csv_kind,
	.label = csv_label,
	.event = csv_event,
	.lost = csv_lost,
};

/* ---- tables ------------------------------------------------------------------------------------ */

/* Beside the time: only where it is asked for, so that columns stay where they are. */
static bool has_wall(const struct tap_table *t, const struct tap_column *c)
{
	return c->cell == TAP_CELL_AT && t->page->wall && t->page->wall->is_known &&
	       tap_wall_width(t->page->wall);
}

/* Instead of the comma behind the last cell. */
static void row(struct tap_table *t)
{
	struct tap_buf *b = &t->page->buf;

	if (b->len)
		b->data[b->len - 1] = '\n';
	tap_page_flush(t->page);
}

static void put_header(struct tap_table *t)
{
	struct tap_buf *b = &t->page->buf;

	for (const struct tap_column *c = t->columns; !tap_column_is_end(c); c++) {
		if (!c->key)
			continue;
		tap_buf_puts(b, c->key);
		tap_buf_char(b, ',');
		if (has_wall(t, c))
			tap_buf_printf(b, "%.*s_wall,", (int)(strlen(c->key) - strlen("_ns")), c->key);
	}
	row(t);
}

static void cell(struct tap_table *t, const struct tap_column *c, struct tap_value v)
{
	struct tap_buf *b = &t->page->buf;

	if (!c->key)
		return;
	if (v.kind == TAP_VALUE_TEXT)
		tap_text_csv(b, v.text, v.len);
	else if (v.kind == TAP_VALUE_U64)
		tap_buf_u64(b, v.u);
	else if (v.kind == TAP_VALUE_S64)
		tap_buf_s64(b, v.s);
	else if (v.kind == TAP_VALUE_REAL && isfinite(v.real))
		tap_buf_printf(b, "%.*f", (int)c->places, v.real);
	tap_buf_char(b, ',');
	if (!has_wall(t, c))
		return;
	if (v.kind == TAP_VALUE_U64)
		tap_wall_add_iso(t->page->wall, b, v.u);
	tap_buf_char(b, ',');
}

static const struct tap_table_ops table = {
	.begin = put_header, .cell = cell, .row = row,
};

const struct tap_style tap_style_csv = {
	.audience = TAP_FOR_SHEETS, .table = &table, .stream = &table, .events = &events,
};
