// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Events as JSON Lines: one object per event, numbers as they are, also beyond 2^53. */
#include "out/out.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/text.h"

static void add_text(struct tap_buf *b, const char *s)
{
	tap_text_json(b, s, strlen(s));
}

static int json_kind(struct tap_out_kind *k, const struct tap_who_kind *kind)
{
	const struct tap_format *fmt = kind->fmt;
	struct tap_buf name = { 0 };
	unsigned int i;

	tap_buf_puts(&name, fmt->system);
	tap_buf_char(&name, ':');
	tap_buf_puts(&name, fmt->name);
	tap_buf_puts(&k->label, ",\"event\":");
	tap_text_json(&k->label, name.data, name.len);
	tap_buf_puts(&k->label, ",\"fields\":{");
	if (name.err)
		k->label.err = name.err;
	tap_buf_release(&name);

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

static void json_label(struct tap_buf *label, const struct tap_who_task *task)
{
	tap_buf_puts(label, ",\"tid\":");
	if (task->tid >= 0)
		tap_buf_s64(label, task->tid);
	else
		tap_buf_puts(label, "null");
	tap_buf_puts(label, ",\"tgid\":");
	if (task->tgid >= 0)
		tap_buf_s64(label, task->tgid);
	else
		tap_buf_puts(label, "null");
	tap_buf_puts(label, ",\"comm\":");
	if (task->comm_len)
		tap_text_json(label, task->comm, task->comm_len);
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

static void add_number(struct tap_buf *b, const struct tap_field *f, const void *rec,
		       uint32_t size)
{
	uint64_t v = tap_field_u64(f, rec, size);

	if (f->is_real)
		add_real(b, tap_field_real(f, rec, size), f->size == 4);
	else if (f->is_signed)
		tap_buf_s64(b, (int64_t)v);
	else
		tap_buf_u64(b, v);
}

/* Elements that are no number (structs) are given as their bytes. */
static void add_array(struct tap_buf *b, const struct tap_field *f, const char *bytes,
		      uint32_t len)
{
	struct tap_field elem = { .kind = TAP_FIELD_NUMBER, .is_signed = f->is_signed, .is_real = f->is_real,
				  .swap = f->swap, .size = f->elem_size };

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

/* The record has a cgroup's id; a path can be known only from beside it. */
static void add_path(struct tap_out *o, const struct tap_field *cgroup, const struct tap_event *ev)
{
	const char *path = tap_who_cgroup(o->who, tap_field_u64(cgroup, ev->data, ev->size));

	if (!path)
		return;
	tap_buf_puts(&o->buf, ",\"path\":");
	add_text(&o->buf, path);
}

/* @key and @wall_key: as they stand before the values. The wall time is there if it is known. */
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

static void json_event(struct tap_out *o, const struct tap_out_kind *k,
		       const struct tap_who_kind *kind, const struct tap_event *ev,
		       const struct tap_who_task *current)
{
	struct tap_buf *b = &o->buf;
	unsigned int i;

	add_time(o, "{\"ts_ns\":", ",\"ts_wall\":\"", ev->ts_ns);
	tap_buf_puts(b, ",\"cpu\":");
	tap_buf_s64(b, ev->cpu);
	tap_buf_add(b, current->label, current->label_len);
	tap_buf_add(b, k->label.data, k->label.len);
	for (i = 0; i < k->nr_keys; i++) {
		const struct tap_field *f = &kind->fmt->fields[kind->fmt->nr_common + i];

		tap_buf_add(b, k->keys[i].data, k->keys[i].len);
		add_field(b, f, ev);
		if (f == kind->cgroup)
			add_path(o, f, ev);
	}
	tap_buf_puts(b, "}}\n");
}

static void json_lost(struct tap_out *o, const struct tap_event *ev)
{
	struct tap_buf *b = &o->buf;

	tap_buf_puts(b, "{\"lost\":{\"cpu\":");
	if (ev->cpu >= 0)
		tap_buf_s64(b, ev->cpu);
	else
		tap_buf_puts(b, "null");
	tap_buf_puts(b, ",\"count\":");
	if (ev->lost.count)
		tap_buf_u64(b, ev->lost.count);
	else
		tap_buf_puts(b, "null");
	add_time(o, ",\"first_ns\":", ",\"first_wall\":\"", ev->lost.first_ns);
	add_time(o, ",\"last_ns\":", ",\"last_wall\":\"", ev->lost.last_ns);
	tap_buf_puts(b, "}}\n");
}

const struct tap_out_ops tap_out_json = {
	.kind = json_kind,
	.label = json_label,
	.event = json_event,
	.lost = json_lost,
};
