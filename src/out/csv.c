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

static int csv_kind(struct tap_out_kind *k, const struct tap_event_kind *kind)
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

static void csv_label(struct tap_buf *label, const struct tap_task *task)
{
	int tgid = tap_task_tgid(task);

	if (task->tid >= 0)
		tap_buf_s64(label, task->tid);
	tap_buf_char(label, ',');
	if (tgid >= 0)
		tap_buf_s64(label, tgid);
	tap_buf_char(label, ',');
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

static void csv_event(struct tap_out *o, const struct tap_out_kind *k,
		      const struct tap_event_kind *kind, const struct tap_event *ev,
		      const struct tap_buf *current)
{
	struct tap_buf *b = &o->buf;

	(void)kind;
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
	if (ev->cpu >= 0)
		tap_buf_s64(&o->buf, ev->cpu);
	tap_buf_puts(&o->buf, ",,,,lost,");
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

static void put_header(struct tap_table *t, const char *key)
{
	struct tap_buf *b = &t->page->buf;
	const char *comma = "";

	(void)key;
	for (const struct tap_column *c = t->columns; !tap_column_is_end(c); c++) {
		if (!c->key)
			continue;
		tap_buf_puts(b, comma);
		tap_buf_puts(b, c->key);
		if (has_wall(t, c))
			tap_buf_printf(b, ",%.*s_wall", (int)(strlen(c->key) - strlen("_ns")), c->key);
		comma = ",";
	}
	tap_buf_char(b, '\n');
}

/* Return: NULL if the column is not shown. */
static const struct tap_column *begin_cell(struct tap_table *t)
{
	const struct tap_column *c = tap_table_next(t);

	if (c == t->columns)
		t->pad = 0;
	if (!c->key)
		return NULL;
	if (t->pad++)
		tap_buf_char(&t->page->buf, ',');
	return c;
}

static void cell_text(struct tap_table *t, const char *s, size_t len)
{
	if (begin_cell(t))
		tap_text_csv(&t->page->buf, s, len);
}

static void cell_u64(struct tap_table *t, uint64_t v)
{
	const struct tap_column *c = begin_cell(t);

	if (!c)
		return;
	tap_buf_u64(&t->page->buf, v);
	if (!has_wall(t, c))
		return;
	tap_buf_char(&t->page->buf, ',');
	tap_wall_add_iso(t->page->wall, &t->page->buf, v);
}

static void cell_s64(struct tap_table *t, int64_t v)
{
	if (begin_cell(t))
		tap_buf_s64(&t->page->buf, v);
}

static void cell_real(struct tap_table *t, double v)
{
	const struct tap_column *c = begin_cell(t);

	if (c && isfinite(v))
		tap_buf_printf(&t->page->buf, "%.*f", (int)c->places, v);
}

static void cell_none(struct tap_table *t)
{
	const struct tap_column *c = begin_cell(t);

	if (c && has_wall(t, c))
		tap_buf_char(&t->page->buf, ',');
}

static void row(struct tap_table *t)
{
	tap_buf_char(&t->page->buf, '\n');
	tap_page_flush(t->page);
}

static const struct tap_table_ops table = {
	.begin = put_header, .text = cell_text, .u64 = cell_u64, .s64 = cell_s64, .real = cell_real,
	.none = cell_none, .row = row,
};

const struct tap_style tap_style_csv = {
	.audience = TAP_FOR_SHEETS, .table = &table, .stream = &table, .events = &events,
};
