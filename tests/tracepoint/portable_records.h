/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a program recorded of itself: it switches all its events on through its control file, as a
 * recorder would, and walks the rings in that file. For tests; a record is printed twice, by the
 * program itself and by the decoder from the format text.
 */
#ifndef PORTABLE_RECORDS_H
#define PORTABLE_RECORDS_H

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "event/print/print.h"
#include "tracepoint/internal.h"

struct own_event {
	const char *system, *name, *text;
	uint64_t word; /* where in the file */
	uint8_t bit;
	const struct trace_event_call *call;
};

struct own {
	int fd;
	char *file; /* as it was when it was read */
	size_t bytes;
	struct own_event events[256];
	uint32_t events_nr;
};

static inline void own_fail(const char *what)
{
	printf("Bail out! %s: %m\n", what);
	exit(1);
}

static inline void own_read(struct own *own)
{
	struct tap_control control;

	if (pread(own->fd, &control, sizeof(control), 0) != sizeof(control))
		own_fail("cannot read the control file");
	own->bytes = control.end; /* it may become bigger */
	own->file = realloc(own->file, own->bytes);
	if (!own->file || pread(own->fd, own->file, own->bytes, 0) != (ssize_t)own->bytes)
		own_fail("cannot read the control file");
}

static inline const struct tap_area *own_area(const struct own *own, uint32_t i)
{
	return (const struct tap_area *)(own->file + TAP_CONTROL_PAGE) + i;
}

static inline const struct trace_event_call *own_call(uint32_t id)
{
	for (const struct tap_object *o = tap_objects; o; o = o->next)
		for (struct trace_event_call *const *call = o->events; call < o->events_end; call++)
			if ((*call)->id == id)
				return *call;
	return NULL;
}

static inline void own_add_object(struct own *own, const struct tap_area *area)
{
	const char *at = own->file + area->offset + area->texts;

	for (uint32_t i = 0; i < area->nr; i++) {
		struct own_event *event = &own->events[own->events_nr++];
		uint32_t bytes, place;

		memcpy(&bytes, at, 4);
		memcpy(&place, at + 4, 4);
		event->system = strdup(at + 8);
		event->name = strdup(at + 8 + strlen(event->system) + 1);
		event->text = strdup(at + 8 + strlen(event->system) + strlen(event->name) + 2);
		event->word = area->offset + (place & 0xffffff) * sizeof(struct tap_word);
		event->bit = (uint8_t)(1u << (place >> TAP_WORD_BIT_SHIFT));
		event->call = own_call(area->first_id + i);
		at += 8 + ((bytes + 7) & ~7u);
	}
}

static inline void own_open(struct own *own)
{
	const struct tap_control *control;

	own->fd = open(tap_control_path, O_RDWR | O_CLOEXEC);
	if (own->fd < 0)
		own_fail(tap_trace_reason() ? tap_trace_reason() : "no control file");
	own_read(own);
	control = (const struct tap_control *)own->file;
	for (uint32_t i = 0; i < control->areas_nr; i++)
		if (own_area(own, i)->kind == TAP_AREA_OBJECT)
			own_add_object(own, own_area(own, i));
}

static inline void own_enable_all(struct own *own)
{
	for (uint32_t i = 0; i < own->events_nr; i++) {
		const struct own_event *event = &own->events[i];
		uint8_t wanted;

		if (pread(own->fd, &wanted, 1, (off_t)event->word) != 1)
			own_fail("cannot read the control file");
		wanted |= event->bit;
		if (pwrite(own->fd, &wanted, 1, (off_t)event->word) != 1)
			own_fail("cannot write the control file");
	}
}

typedef void own_record_fn(const struct own_event *event, const void *rec, uint32_t size,
			   void *arg);

static inline const struct own_event *own_find(const struct own *own, uint16_t id)
{
	for (uint32_t i = 0; i < own->events_nr; i++)
		if (own->events[i].call->id == id)
			return &own->events[i];
	return NULL;
}

/* The first sub-buffer alone: a test does not record more. */
static inline void own_ring_records(const struct own *own, const struct tap_area *area,
				    own_record_fn *fn, void *arg)
{
	const struct tap_ring_head *ring = (const void *)(own->file + area->offset);
	const char *sub = own->file + area->offset + ring->subs_offset;

	for (uint64_t at = TAP_SUB_HEADER; at < ring->head && at < TAP_SUB_BYTES;) {
		const struct tap_record_head *head = (const void *)(sub + at);
		const struct trace_entry *entry = (const void *)(head + 1);
		const struct own_event *event = own_find(own, entry->type);

		if (event)
			fn(event, entry, head->length - 4, arg);
		at += 12 + head->length;
	}
}

static inline void own_each_record(struct own *own, own_record_fn *fn, void *arg)
{
	const struct tap_control *control;

	own_read(own);
	control = (const struct tap_control *)own->file;
	for (uint32_t i = 0; i < control->areas_nr; i++)
		if (own_area(own, i)->kind == TAP_AREA_RING)
			own_ring_records(own, own_area(own, i), fn, arg);
}

/* Append the record's text to @out as the decoder prints it. Exits if the format is refused. */
static inline void own_decode(const struct own_event *event, const void *rec, uint32_t size,
			      struct tap_buf *out)
{
	const struct tap_abi abi = { __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__, sizeof(long) };
	struct tap_format *format;
	struct tap_printer *printer;
	struct tap_err err;

	if (tap_format_parse(event->system, event->text, strlen(event->text), abi, &format, &err) ||
	    tap_printer_new(format, &printer, &err)) {
		printf("Bail out! %s: %s\n", event->name, err.text);
		exit(1);
	}
	tap_printer_run(printer, rec, size, out);
	tap_buf_str(out);
	tap_printer_free(printer);
	tap_format_free(format);
}

#endif
