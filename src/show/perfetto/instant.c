// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "show/perfetto/instant.h"

#include <errno.h>
#include <stdlib.h>

#include "show/perfetto/comm.h"
#include "show/perfetto/fields.h"

#define LENGTH_AT 1 /* index in .head, after a key of one byte */

static unsigned char *write_key(unsigned char *p, unsigned int field, unsigned int type)
{
	return tap_proto_write_varint(p, field << 3 | type);
}

/*
 * Encode the head. A name's number takes at most four bytes: recordings have at most 2^16 formats
 * of 2^9 fields.
 */
static void write_head(struct tap_instant_field *f, uint64_t name, unsigned int value,
		       unsigned int type)
{
	unsigned char *p = write_key(f->head, TAP_PF_TEV_ANNOTATION, TAP_PROTO_BYTES) + 1;

	p = tap_proto_write_u64(p, TAP_PF_ANNOTATION_NAME_IID, name);
	p = write_key(p, value, type);
	f->head_bytes = (unsigned char)(p - f->head);
}

static void field_init(struct tap_instant_field *f, const struct tap_format *fmt,
		       const struct tap_field *field, uint64_t name)
{
	f->field = field;
	if (field->kind == TAP_FIELD_NUMBER) {
		f->kind = TAP_INSTANT_NUMBER;
		tap_num_init(&f->number, field);
		write_head(f, name,
			   field->is_signed ? TAP_PF_ANNOTATION_INT : TAP_PF_ANNOTATION_UINT,
			   TAP_PROTO_VARINT);
	} else if (tap_is_plain_comm(field) && field->offset + field->size <= fmt->min_size) {
		f->kind = TAP_INSTANT_COMM;
		write_head(f, name, TAP_PF_ANNOTATION_STRING, TAP_PROTO_BYTES);
	} else {
		f->kind = TAP_INSTANT_OTHER;
	}
}

int tap_instant_init(struct tap_instant *in, struct tap_tracks *t, const struct tap_format *fmt)
{
	const struct tap_field *fields = fmt->fields + fmt->nr_common;

	in->nr_fields = fmt->nr_fields - fmt->nr_common;
	in->fields = calloc(in->nr_fields + 1, sizeof(*in->fields));
	if (!in->fields)
		return -ENOMEM;
	in->name = tap_tracks_intern(t, fmt->name, fields, in->nr_fields);
	for (unsigned int i = 0; i < in->nr_fields; i++)
		field_init(&in->fields[i], fmt, &fields[i], in->name + 1 + i);
	return 0;
}

void tap_instant_release(struct tap_instant *in)
{
	free(in->fields);
}

static void put_other(struct tap_tracks *t, uint64_t name, const struct tap_field *f,
		      const struct tap_event *ev)
{
	const char *bytes;
	uint32_t len;

	switch (f->kind) {
	case TAP_FIELD_REAL:
		tap_track_annotate_real(t, name, tap_field_real(f, ev->data, ev->size));
		break;
	case TAP_FIELD_CHARS:
	case TAP_FIELD_STRING:
		bytes = tap_field_bytes(f, ev->data, ev->size, &len);
		tap_track_annotate_text(t, name, bytes, len);
		break;
	default: /* Perfetto has no arguments of raw bytes; `schedtap dump` prints them */
		break;
	}
}

/* Write the head. Return: the address after it. */
static unsigned char *begin_field(const struct tap_instant_field *f, unsigned char *p)
{
	memcpy(p, f->head, sizeof(f->head));
	return p + f->head_bytes;
}

static void end_field(unsigned char *begun, const unsigned char *end)
{
	begun[LENGTH_AT] = (unsigned char)(end - begun - LENGTH_AT - 1);
}

static void put_number(struct tap_buf *out, const struct tap_instant_field *f,
		       const struct tap_event *ev)
{
	unsigned char *begun, *end;

	if (!tap_buf_reserve(out, sizeof(f->head) + TAP_PROTO_VARINT_BYTES))
		return;
	begun = tap_proto_at(out);
	end = tap_proto_write_varint(begin_field(f, begun), (uint64_t)tap_num_get(&f->number, ev));
	end_field(begun, end);
	tap_proto_wrote(out, end);
}

static void put_comm(struct tap_buf *out, const struct tap_instant_field *f,
		     const struct tap_event *ev)
{
	unsigned char *begun, *end;

	if (!tap_buf_reserve(out, sizeof(f->head) + TAP_PROTO_COMM_BYTES))
		return;
	begun = tap_proto_at(out);
	end = tap_proto_write_comm(begin_field(f, begun),
				   (const char *)ev->data + f->field->offset);
	end_field(begun, end);
	tap_proto_wrote(out, end);
}

void tap_instant_put(const struct tap_instant *in, struct tap_tracks *t, uint64_t track,
		     const struct tap_event *ev)
{
	struct tap_track_event instant = tap_track_instant(t, track, ev->ts_ns, in->name);
	const struct tap_instant_field *f;

	for (unsigned int i = 0; i < in->nr_fields; i++) {
		f = &in->fields[i];
		if (f->kind == TAP_INSTANT_NUMBER)
			put_number(t->out, f, ev);
		else if (f->kind == TAP_INSTANT_COMM)
			put_comm(t->out, f, ev);
		else
			put_other(t, in->name + 1 + i, f->field, ev);
	}
	tap_track_event_end(t, instant);
}
