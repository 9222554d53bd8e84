// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * JSON. Events are JSON Lines: one object per event. Integers are written in full, also above 2^53.
 */
#include "show/out/out.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/text.h"
#include "show/out/table.h"

static void add_text(struct tap_buf *b, const char *s)
{
	tap_text_json(b, s, strlen(s));
}

static int json_kind(const struct tap_out *o, struct tap_out_kind *k, const struct tap_buf *name)
{
	const struct tap_format *fmt = k->kind->fmt;
	unsigned int i;

	(void)o;
	k->is_stack = tap_frames_kind(fmt);
	tap_buf_puts(&k->label, ",\"event\":");
	tap_text_json(&k->label, name->data, name->len);
	tap_buf_puts(&k->label, ",\"fields\":{");
	k->keys = calloc(fmt->nr_fields + 1, sizeof(*k->keys));
	if (!k->keys)
		return -ENOMEM;
	for (i = fmt->nr_common; i < fmt->nr_fields; i++) {
		struct tap_buf *key = &k->keys[k->nr_keys++];

		if (i > fmt->nr_common)
			tap_buf_char(key, ',');
		add_text(key, fmt->fields[i].name);
		tap_buf_char(key, ':');
		if (key->err)
			return key->err;
	}
	return 0;
}

/* @key: the text before the value, with comma, quotes and colon. */
static void add_id(struct tap_buf *b, const char *key, int id)
{
	tap_buf_puts(b, key);
	if (id >= 0)
		tap_buf_s64(b, id);
	else
		tap_buf_puts(b, "null");
}

static void json_label(const struct tap_out *o, struct tap_buf *label, const struct tap_task *task)
{
	(void)o;
	add_id(label, ",\"tid\":", task->tid);
	add_id(label, ",\"tgid\":", tap_task_tgid(task));
	tap_buf_puts(label, ",\"comm\":");
	if (*task->comm)
		tap_text_json(label, task->comm, strnlen(task->comm, TAP_TASK_COMM));
	else
		tap_buf_puts(label, "null");
}

static void add_real(struct tap_buf *b, double v, bool is_float)
{
	if (isfinite(v))
		tap_buf_real(b, v, is_float);
	else
		tap_buf_puts(b, "null");
}

static void add_number(struct tap_buf *b, const struct tap_field *f, const void *rec, uint32_t size)
{
	uint64_t v = tap_field_u64(f, rec, size);

	if (f->is_real)
		add_real(b, tap_field_real(f, rec, size), f->size == 4);
	else if (f->is_signed)
		tap_buf_s64(b, (int64_t)v);
	else
		tap_buf_u64(b, v);
}

/* Write an array of numbers. Elements that are not numbers (structs) are written as their bytes. */
static void add_array(struct tap_buf *b, const struct tap_field *f, const char *bytes, uint32_t len)
{
	struct tap_field elem = { .kind = TAP_FIELD_NUMBER,
				  .is_signed = f->is_signed,
				  .is_real = f->is_real,
				  .swap = f->swap,
				  .size = f->elem_size };

	if (elem.size != 2 && elem.size != 4 && elem.size != 8)
		elem.size = 1;
	elem.elem_size = elem.size;
	tap_buf_char(b, '[');
	for (; elem.offset + (uint64_t)elem.size <= len; elem.offset += elem.size) {
		if (elem.offset)
			tap_buf_char(b, ',');
		add_number(b, &elem, bytes, len);
	}
	tap_buf_char(b, ']');
}

static void add_field(struct tap_buf *b, const struct tap_field *f, const struct tap_event *ev)
{
	const char *bytes;
	uint32_t len;

	if (f->kind == TAP_FIELD_NUMBER || f->kind == TAP_FIELD_REAL) {
		add_number(b, f, ev->data, ev->size);
		return;
	}
	bytes = tap_field_bytes(f, ev->data, ev->size, &len);
	if (f->kind == TAP_FIELD_CHARS || f->kind == TAP_FIELD_STRING)
		tap_text_json(b, bytes, len);
	else
		add_array(b, f, bytes, len);
}

/*
 * The event's record holds only the cgroup's id; its path comes from elsewhere in the recording, if
 * it is known.
 */
static void add_path(struct tap_out *o, const struct tap_field *cgroup, const struct tap_event *ev)
{
	const char *path =
		tap_cgroups_path(&o->ids->cgroups, tap_field_u64(cgroup, ev->data, ev->size));

	if (!path)
		return;
	tap_buf_puts(&o->buf, ",\"path\":");
	add_text(&o->buf, path);
}

/* Write the stack's function names; null if the stack could not be read. */
static void add_frames(struct tap_out *o, const struct tap_event *ev)
{
	struct tap_buf *b = &o->buf;
	const struct tap_frames *f = &o->frames;

	if (tap_frames_read(&o->frames, ev)) {
		b->err = -ENOMEM;
		return;
	}
	tap_buf_puts(b, ",\"frames\":");
	if (!f->nr)
		tap_buf_puts(b, "null");
	for (unsigned int i = 0; i < f->nr; i++) {
		tap_buf_char(b, i ? ',' : '[');
		tap_text_json(b, f->names[i].s, f->names[i].len);
	}
	if (f->nr)
		tap_buf_char(b, ']');
}

/* Write @ts_ns, and its wall time if that is known. */
static void add_time(struct tap_out *o, const char *key, const char *wall_key, uint64_t ts_ns)
{
	struct tap_buf *b = &o->buf;

	tap_buf_puts(b, key);
	tap_buf_u64(b, ts_ns);
	if (!o->wall->is_known)
		return;
	tap_buf_puts(b, wall_key);
	tap_wall_add_iso(o->wall, b, ts_ns);
	tap_buf_char(b, '"');
}

static void json_event(struct tap_out *o, const struct tap_out_kind *k, const struct tap_event *ev,
		       const struct tap_buf *current)
{
	const struct tap_format *fmt = k->kind->fmt;
	struct tap_buf *b = &o->buf;
	unsigned int i;

	add_time(o, "{\"ts_ns\":", ",\"ts_wall\":\"", ev->ts_ns);
	tap_buf_puts(b, ",\"cpu\":");
	tap_buf_s64(b, ev->cpu);
	tap_buf_add(b, current->data, current->len);
	tap_buf_add(b, k->label.data, k->label.len);
	for (i = 0; i < k->nr_keys; i++) {
		const struct tap_field *f = &fmt->fields[fmt->nr_common + i];

		tap_buf_add(b, k->keys[i].data, k->keys[i].len);
		add_field(b, f, ev);
		if (f == k->kind->cgroup)
			add_path(o, f, ev);
	}
	if (k->is_stack)
		add_frames(o, ev);
	tap_buf_puts(b, "}}\n");
}

static void add_off(struct tap_buf *b, const struct tap_format *off)
{
	struct tap_buf name = { 0 };

	tap_buf_puts(b, ",\"switched_off\":true");
	if (!off)
		return;
	tap_buf_printf(&name, "%s:%s", off->system, off->name);
	tap_buf_puts(b, ",\"event\":");
	add_text(b, tap_buf_str(&name));
	tap_buf_release(&name);
}

static void json_lost(struct tap_out *o, const struct tap_event *ev)
{
	struct tap_buf *b = &o->buf;

	add_id(b, "{\"lost\":{\"cpu\":", ev->cpu);
	if (ev->lost.is_off)
		add_off(b, ev->lost.off);
	tap_buf_puts(b, ",\"count\":");
	if (ev->lost.count)
		tap_buf_u64(b, ev->lost.count);
	else
		tap_buf_puts(b, "null");
	add_time(o, ",\"first_ns\":", ",\"first_wall\":\"", ev->lost.first_ns);
	add_time(o, ",\"last_ns\":", ",\"last_wall\":\"", ev->lost.last_ns);
	tap_buf_puts(b, "}}\n");
}

static const struct tap_out_ops events = {
	.kind = json_kind,
	.label = json_label,
	.event = json_event,
	.lost = json_lost,
};

/* ---- results ---- */

static inline void put_key(struct tap_page *p, const char *key)
{
	size_t len = strlen(key);
	char *to;

	if (!tap_buf_reserve(&p->buf, len + 4))
		return;
	to = p->buf.data + p->buf.len;
	if (p->comma)
		*to++ = ',';
	*to++ = '"';
	to = mempcpy(to, key, len);
	*to++ = '"';
	*to++ = ':';
	p->buf.len = (size_t)(to - p->buf.data);
	p->comma = true;
}

static void open_object(struct tap_page *p)
{
	tap_buf_char(&p->buf, '{');
}

static void close_object(struct tap_page *p)
{
	tap_buf_puts(&p->buf, "}\n");
}

static void nest_begin(struct tap_page *p, const char *key, bool is_array)
{
	if (key)
		put_key(p, key);
	else if (p->comma)
		tap_buf_char(&p->buf, ',');
	tap_buf_char(&p->buf, is_array ? '[' : '{');
	p->comma = false;
}

static void nest_end(struct tap_page *p, bool is_array)
{
	tap_buf_char(&p->buf, is_array ? ']' : '}');
	p->comma = true;
}

static void put_real(struct tap_buf *b, double v)
{
	if (isfinite(v))
		tap_buf_printf(b, "%.15g", v);
	else
		tap_buf_puts(b, "null");
}

/* After the member "x_ns", write "x_wall" if the wall time is known. */
static void put_wall(struct tap_page *p, const char *key, struct tap_value ns)
{
	if (!p->wall || !p->wall->is_known)
		return;
	tap_buf_puts(&p->buf, ",\"");
	tap_buf_add(&p->buf, key, strlen(key) - strlen("_ns"));
	if (ns.kind == TAP_VALUE_NULL) {
		tap_buf_puts(&p->buf, "_wall\":null");
		return;
	}
	tap_buf_puts(&p->buf, "_wall\":\"");
	tap_wall_add_iso(p->wall, &p->buf, ns.u);
	tap_buf_char(&p->buf, '"');
}

/* Write a value from the recording's description unchanged. */
static void put_json(struct tap_buf *b, const json_t *v)
{
	char *text = json_dumps(v, JSON_COMPACT | JSON_REAL_PRECISION(15) | JSON_ENCODE_ANY);

	tap_buf_puts(b, text ? text : "null");
	free(text);
}

static void put_value(struct tap_buf *b, struct tap_value v)
{
	switch (v.kind) {
	case TAP_VALUE_NULL:
		tap_buf_puts(b, "null");
		break;
	case TAP_VALUE_BOOL:
		tap_buf_puts(b, v.yes ? "true" : "false");
		break;
	case TAP_VALUE_U64:
	case TAP_VALUE_AT:
		tap_buf_u64(b, v.u);
		break;
	case TAP_VALUE_S64:
		tap_buf_s64(b, v.s);
		break;
	case TAP_VALUE_REAL:
		put_real(b, v.real);
		break;
	case TAP_VALUE_TEXT:
		tap_text_json(b, v.text, v.len);
		break;
	case TAP_VALUE_JSON:
		put_json(b, v.json);
		break;
	}
}

static void put_member(struct tap_page *p, const char *key, struct tap_value v)
{
	if (key)
		put_key(p, key);
	else if (p->comma)
		tap_buf_char(&p->buf, ',');
	p->comma = true;
	put_value(&p->buf, v);
	if (v.kind == TAP_VALUE_AT)
		put_wall(p, key, v);
}

/* ---- tables ---- */

static void table_begin(struct tap_table *t)
{
	if (t->is_object) {
		put_key(t->page, t->key);
		t->page->comma = false;
	} else {
		nest_begin(t->page, t->key, true);
	}
}

static void table_end(struct tap_table *t)
{
	if (t->is_object)
		return;
	nest_end(t->page, true);
	tap_page_flush(t->page);
}

/* The row's first cell also opens the row's object. */
static void table_cell(struct tap_table *t, const struct tap_column *c, struct tap_value v)
{
	if (c == t->columns)
		nest_begin(t->page, NULL, false);
	if (!c->key)
		return;
	put_key(t->page, c->key);
	put_value(&t->page->buf, v);
	if (c->cell == TAP_CELL_AT)
		put_wall(t->page, c->key, v);
}

static void table_row(struct tap_table *t)
{
	nest_end(t->page, false);
	tap_page_flush(t->page);
}

static const struct tap_table_ops table = {
	.begin = table_begin,
	.end = table_end,
	.cell = table_cell,
	.row = table_row,
};

/* ---- JSON Lines: one object per row, after a first object with the report's head ---- */

static void end_line(struct tap_table *t)
{
	tap_buf_puts(&t->page->buf, "}\n");
	t->page->comma = false;
	tap_page_flush(t->page);
}

static const struct tap_table_ops lines = {
	.cell = table_cell,
	.row = end_line,
};

static void end_head(struct tap_page *p)
{
	close_object(p);
	p->comma = false;
}

static const struct tap_style in_lines = {
	.audience = TAP_FOR_PROGRAMS,
	.open = open_object,
	.end_head = end_head,
	.member = put_member,
	.nest = nest_begin,
	.nest_end = nest_end,
	.table = &table,
	.stream = &lines,
	.events = &events,
};

const struct tap_style tap_style_json = {
	.audience = TAP_FOR_PROGRAMS,
	.in_lines = &in_lines,
	.open = open_object,
	.close = close_object,
	.member = put_member,
	.nest = nest_begin,
	.nest_end = nest_end,
	.table = &table,
	.stream = &table,
	.events = &events,
};
