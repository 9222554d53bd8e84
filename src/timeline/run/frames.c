// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "timeline/run/frames.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "event/format.h"
#include "event/print/print.h"

#define HEX_BYTES sizeof("0xffffffffffffffff")

/* The reader of one stack format. */
struct reading {
	struct tap_printer *printer; /* for schedtap's records; otherwise NULL */
	/* for ftrace's records; .size: the field with the number of callers, or NULL */
	const struct tap_field *callers, *size;
	bool is_kernel;
};

enum tap_frames_of tap_frames_kind(const struct tap_format *fmt)
{
	if (strcmp(fmt->system, "schedtap") && strcmp(fmt->system, "ftrace"))
		return TAP_FRAMES_NONE;
	if (!strcmp(fmt->name, "kernel_stack"))
		return TAP_FRAMES_KERNEL;
	return strcmp(fmt->name, "user_stack") ? TAP_FRAMES_NONE : TAP_FRAMES_USER;
}

static void reading_free(struct reading *r)
{
	if (r)
		tap_printer_free(r->printer);
	free(r);
}

static int reading_init(struct tap_frames *f, struct reading *r, const struct tap_format *fmt)
{
	const struct tap_field *callers = tap_format_field(fmt, "caller");

	if (strcmp(fmt->system, "ftrace"))
		return tap_printer_new(fmt, &r->printer, NULL);
	r->size = tap_format_field(fmt, "size");
	if (callers && callers->kind == TAP_FIELD_ARRAY &&
	    (callers->elem_size == 4 || callers->elem_size == 8))
		r->callers = callers;
	r->is_kernel = tap_frames_kind(fmt) == TAP_FRAMES_KERNEL;
	return f->symbols ? 0 : tap_symbols_new("", f->info ? f->info->kallsyms : "", &f->symbols);
}

/* Return: NULL when out of memory. */
static const struct reading *get_reading(struct tap_frames *f, const struct tap_format *fmt)
{
	uint64_t *slot = tap_map_put(&f->by_format, (uintptr_t)fmt);
	struct reading *r;

	if (!slot)
		return NULL;
	if (*slot)
		return (const struct reading *)(uintptr_t)*slot;
	r = calloc(1, sizeof(*r));
	if (!r || reading_init(f, r, fmt)) {
		reading_free(r);
		return NULL;
	}
	*slot = (uintptr_t)r;
	return r;
}

static void add_name(struct tap_frames *f, const char *s, size_t len)
{
	if (len)
		f->names[f->nr++] = (struct span){ s, len };
}

static void split_text(struct tap_frames *f)
{
	static const char before[] = "\n => ";
	const size_t before_len = sizeof(before) - 1;
	const char *s = f->text.data, *end = s + f->text.len, *next;

	while (s && f->nr < TAP_MAX_FRAMES &&
	       (s = memmem(s, (size_t)(end - s), before, before_len))) {
		s += before_len;
		next = memchr(s, '\n', (size_t)(end - s));
		next = next ? next : end;
		add_name(f, s, (size_t)(next - s));
		s = next;
	}
}

static void name_address(struct tap_frames *f, uint64_t address, bool is_kernel)
{
	uint64_t offset;
	const char *name = is_kernel ? tap_symbols_name(f->symbols, address, &offset) : NULL;
	size_t at = f->text.len;

	if (name) {
		add_name(f, name, strlen(name));
		return;
	}
	tap_buf_printf(&f->text, "0x%" PRIx64, address);
	add_name(f, f->text.data + at, f->text.len - at);
}

/*
 * ftrace declares an array of 8 callers, but stores as many as the stack had: either the record
 * ends after the last one, or the size field contains their number. Unused array elements are 0; up
 * to Linux 5.2 an all-ones address terminated the stack.
 */
static void name_callers(struct tap_frames *f, const struct reading *r, const struct tap_event *ev)
{
	const struct tap_field *callers = r->callers;
	const unsigned char *rec = ev->data;
	uint64_t nr = TAP_MAX_FRAMES, address;

	if (!callers || callers->offset > ev->size ||
	    !tap_buf_reserve(&f->text, TAP_MAX_FRAMES * HEX_BYTES))
		return;
	if (r->size)
		nr = tap_field_u64(r->size, rec, ev->size);
	if (nr > (ev->size - callers->offset) / callers->elem_size)
		nr = (ev->size - callers->offset) / callers->elem_size;
	for (uint64_t i = 0; i < nr && f->nr < TAP_MAX_FRAMES; i++) {
		address = tap_load(rec + callers->offset + i * callers->elem_size,
				   callers->elem_size, callers->swap);
		if (!address || tap_fit(address, callers->elem_size, true) == UINT64_MAX)
			return;
		name_address(f, address, r->is_kernel);
	}
}

int tap_frames_read(struct tap_frames *f, const struct tap_event *ev)
{
	const struct reading *r = get_reading(f, ev->fmt);

	f->nr = 0;
	tap_buf_clear(&f->text);
	if (!r)
		return -ENOMEM;
	if (r->printer) {
		tap_printer_run(r->printer, ev->data, ev->size, &f->text);
		split_text(f);
	} else {
		name_callers(f, r, ev);
	}
	return f->text.err ? -ENOMEM : 0;
}

void tap_frames_release(struct tap_frames *f)
{
	tap_map_for_each(&f->by_format, s)
		reading_free((struct reading *)(uintptr_t)s->value);
	tap_map_release(&f->by_format);
	tap_symbols_free(f->symbols);
	tap_buf_release(&f->text);
}
