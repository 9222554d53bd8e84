// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Parts shared by all styles' event output: cached kinds and task labels, and writing in big
 * blocks.
 */
#include "show/out/out.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"

#define BLOCK_BYTES ((size_t)256 << 10)

void tap_out_init(struct tap_out *o, const struct tap_style *style, struct tap_identities *ids,
		  const struct tap_reader *reader, struct tap_wall *wall, int fd)
{
	*o = (struct tap_out){
		.style = style, .ids = ids, .reader = reader, .wall = wall, .fd = fd
	};
	o->frames.info = reader ? tap_reader_info(reader) : NULL;
	if (style->events->begin)
		style->events->begin(o);
}

static void kind_free(struct tap_out_kind *k)
{
	if (!k)
		return;
	tap_printer_free(k->printer);
	tap_buf_release(&k->label);
	for (unsigned int i = 0; i < k->nr_keys; i++)
		tap_buf_release(&k->keys[i]);
	free(k->keys);
	free(k);
}

void tap_out_release(struct tap_out *o)
{
	for (unsigned int i = 0; i < o->nr_kinds; i++)
		kind_free(o->kinds[i]);
	free(o->kinds);
	for (unsigned int i = 0; i < o->nr_labels; i++)
		tap_buf_release(&o->labels[i].text);
	free(o->labels);
	tap_buf_release(&o->other.text);
	tap_symbols_free(o->symbols);
	tap_frames_release(&o->frames);
	tap_buf_release(&o->buf);
	tap_buf_release(&o->scratch);
}

static int give_symbols(struct tap_out *o, struct tap_printer *p)
{
	const struct tap_reader_info *info;
	int ret = 0;

	if (!p || !o->reader)
		return 0;
	info = tap_reader_info(o->reader);
	if (!o->symbols)
		ret = tap_symbols_new(info->printk, info->kallsyms, &o->symbols);
	if (!ret)
		tap_printer_set_symbols(p, o->symbols);
	return ret;
}

static int kind_new(struct tap_out *o, const struct tap_event_kind *kind)
{
	struct tap_out_kind **place =
		tap_array_at(&o->kinds, &o->nr_kinds, kind->index, sizeof(*place), NULL);
	struct tap_out_kind *k = calloc(1, sizeof(*k));
	struct tap_buf name = { 0 };
	int ret;

	if (!place || !k) {
		free(k);
		return -ENOMEM;
	}
	k->kind = kind;
	tap_buf_puts(&name, kind->fmt->system);
	tap_buf_char(&name, ':');
	tap_buf_puts(&name, kind->fmt->name);
	ret = name.err ?: o->style->events->kind(o, k, &name) ?:
	      k->label.err ?: give_symbols(o, k->printer);
	tap_buf_release(&name);
	if (ret)
		kind_free(k);
	else
		*place = k;
	return ret;
}

/* Return: the task's label; NULL if out of memory. */
static const struct tap_buf *label_of(struct tap_out *o, const struct tap_task *t)
{
	struct tap_out_label *l = &o->other;
	int tgid = tap_task_tgid(t);

	if (t != &o->ids->listed)
		l = tap_array_at(&o->labels, &o->nr_labels, t->index, sizeof(*l), NULL);
	if (!l)
		return NULL;
	if (l->text.len && l->tid == t->tid && l->tgid == tgid &&
	    !memcmp(l->comm, t->comm, TAP_TASK_COMM))
		return &l->text;
	l->tid = t->tid;
	l->tgid = tgid;
	memcpy(l->comm, t->comm, TAP_TASK_COMM);
	tap_buf_clear(&l->text);
	o->style->events->label(o, &l->text, t);
	return l->text.err ? NULL : &l->text;
}

int tap_out_flush(struct tap_out *o)
{
	int ret = o->buf.err ?: o->scratch.err;

	if (!ret)
		ret = o->write ? o->write(o->ctx, &o->buf)
			       : tap_write_all(o->fd, o->buf.data, o->buf.len);
	tap_buf_clear(&o->buf);
	return ret;
}

static int write_event(struct tap_out *o, const struct tap_event_kind *kind,
		       const struct tap_event *ev)
{
	const struct tap_task *t = tap_identity(o->ids, tap_event_current(kind, ev));
	const struct tap_buf *label = t ? label_of(o, t) : NULL;
	int ret = 0;

	if (!label)
		return -ENOMEM;
	if (kind->index >= o->nr_kinds || !o->kinds[kind->index])
		ret = kind_new(o, kind);
	if (!ret)
		o->style->events->event(o, o->kinds[kind->index], ev, label);
	return ret;
}

int tap_out_event(struct tap_out *o, const struct tap_event_kind *kind, const struct tap_event *ev)
{
	int ret = 0;

	if (kind)
		ret = write_event(o, kind, ev);
	else
		o->style->events->lost(o, ev);
	if (!ret && (o->buf.len >= BLOCK_BYTES || o->buf.err))
		ret = tap_out_flush(o);
	return ret;
}

void tap_out_lost_text(struct tap_buf *b, struct tap_wall *wall, const struct tap_event *ev)
{
	if (ev->lost.count)
		tap_buf_u64(b, ev->lost.count);
	else
		tap_buf_puts(b, "some");
	tap_buf_puts(b, ev->lost.count == 1 ? " event" : " events");
	if (ev->lost.is_off && ev->lost.off) {
		tap_buf_puts(b, " of ");
		tap_text_escape(b, ev->lost.off->system, strlen(ev->lost.off->system));
		tap_buf_char(b, ':');
		tap_text_escape(b, ev->lost.off->name, strlen(ev->lost.off->name));
	}
	tap_buf_puts(b, ev->lost.is_off ? " switched off by triggers between " : " lost between ");
	tap_wall_add(wall, b, ev->lost.first_ns);
	tap_buf_puts(b, " and ");
	tap_wall_add(wall, b, ev->lost.last_ns);
}
