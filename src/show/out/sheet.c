// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "show/out/sheet.h"

#include <math.h>

#include "show/out/out.h"
#include "show/out/table.h"

/* ---- events ---- */

static void add_separator(const struct tap_out *o, struct tap_buf *b)
{
	tap_buf_char(b, o->style->sheet->separator);
}

static void add_text(const struct tap_out *o, struct tap_buf *b, const char *s, size_t len)
{
	o->style->sheet->add_text(b, s, len);
	add_separator(o, b);
}

/* Write an id, or an empty value if it is unknown (negative). */
static void add_id(const struct tap_out *o, struct tap_buf *b, int id)
{
	if (id >= 0)
		tap_buf_s64(b, id);
	add_separator(o, b);
}

static void add_key(struct tap_out *o, const char *key)
{
	tap_buf_puts(&o->buf, key);
	add_separator(o, &o->buf);
}

static void events_begin(struct tap_out *o)
{
	static const char *const keys[] = { "cpu", "tid", "tgid", "comm", "event" };

	add_key(o, "ts_ns");
	if (tap_wall_width(o->wall))
		add_key(o, "ts_wall");
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		add_key(o, keys[i]);
	tap_buf_puts(&o->buf, "fields\n");
}

static int event_kind(const struct tap_out *o, struct tap_out_kind *k, const struct tap_buf *name)
{
	add_text(o, &k->label, name->data, name->len);
	return tap_printer_new(k->kind->fmt, &k->printer, NULL);
}

static void event_label(const struct tap_out *o, struct tap_buf *label, const struct tap_task *task)
{
	add_id(o, label, task->tid);
	add_id(o, label, tap_task_tgid(task));
	add_text(o, label, task->comm, strnlen(task->comm, TAP_TASK_COMM));
}

static void add_time(struct tap_out *o, uint64_t ts_ns)
{
	tap_buf_u64(&o->buf, ts_ns);
	add_separator(o, &o->buf);
	if (!tap_wall_width(o->wall))
		return;
	tap_wall_add_iso(o->wall, &o->buf, ts_ns);
	add_separator(o, &o->buf);
}

static void put_event(struct tap_out *o, const struct tap_out_kind *k, const struct tap_event *ev,
		      const struct tap_buf *current)
{
	struct tap_buf *b = &o->buf;

	add_time(o, ev->ts_ns);
	add_id(o, b, ev->cpu);
	tap_buf_add(b, current->data, current->len);
	tap_buf_add(b, k->label.data, k->label.len);
	tap_buf_clear(&o->scratch);
	tap_printer_run(k->printer, ev->data, ev->size, &o->scratch);
	o->style->sheet->add_text(b, o->scratch.data, o->scratch.len);
	tap_buf_char(b, '\n');
	if (o->scratch.err)
		b->err = o->scratch.err;
}

static void put_lost(struct tap_out *o, const struct tap_event *ev)
{
	/* without a wall clock: the loss's text uses the recording's clock */
	struct tap_wall own = { 0 };

	add_time(o, ev->ts_ns);
	add_id(o, &o->buf, ev->cpu);
	for (int i = 0; i < 3; i++) /* tid, tgid and comm are empty */
		add_separator(o, &o->buf);
	add_key(o, "lost");
	tap_out_lost_text(&o->buf, &own, ev);
	tap_buf_char(&o->buf, '\n');
}

const struct tap_out_ops tap_sheet_events = {
	.begin = events_begin,
	.kind = event_kind,
	.label = event_label,
	.event = put_event,
	.lost = put_lost,
};

/* ---- tables ---- */

static const struct tap_sheet *sheet_of(const struct tap_table *t)
{
	return t->page->style->sheet;
}

/*
 * Return true if the time has a wall-time column after it: only if the user asked for wall time, so
 * that column numbers stay stable.
 */
static bool has_wall(const struct tap_table *t, const struct tap_column *c)
{
	return c->cell == TAP_CELL_AT && t->page->wall && t->page->wall->is_known &&
	       tap_wall_width(t->page->wall);
}

/* End the row: replace the separator after its last cell by a newline. */
static void end_row(struct tap_table *t)
{
	struct tap_buf *b = &t->page->buf;

	if (b->len)
		b->data[b->len - 1] = '\n';
	tap_page_flush(t->page);
}

static void table_begin(struct tap_table *t)
{
	char separator = sheet_of(t)->separator;
	struct tap_buf *b = &t->page->buf;

	for (const struct tap_column *c = t->columns; !tap_column_is_end(c); c++) {
		if (!c->key)
			continue;
		tap_buf_puts(b, c->key);
		tap_buf_char(b, separator);
		if (has_wall(t, c))
			tap_buf_printf(b, "%.*s_wall%c", (int)(strlen(c->key) - strlen("_ns")),
				       c->key, separator);
	}
	end_row(t);
}

static void put_cell(struct tap_table *t, const struct tap_column *c, struct tap_value v)
{
	const struct tap_sheet *sheet = sheet_of(t);
	struct tap_buf *b = &t->page->buf;

	if (!c->key)
		return;
	if (v.kind == TAP_VALUE_TEXT)
		sheet->add_text(b, v.text, v.len);
	else if (v.kind == TAP_VALUE_U64)
		tap_buf_u64(b, v.u);
	else if (v.kind == TAP_VALUE_S64)
		tap_buf_s64(b, v.s);
	else if (v.kind == TAP_VALUE_REAL && isfinite(v.real))
		tap_buf_printf(b, "%.*f", (int)c->places, v.real);
	tap_buf_char(b, sheet->separator);
	if (!has_wall(t, c))
		return;
	if (v.kind == TAP_VALUE_U64)
		tap_wall_add_iso(t->page->wall, b, v.u);
	tap_buf_char(b, sheet->separator);
}

const struct tap_table_ops tap_sheet_table = {
	.begin = table_begin,
	.cell = put_cell,
	.row = end_row,
};
