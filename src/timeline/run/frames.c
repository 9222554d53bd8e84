// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "timeline/run/frames.h"

#include <errno.h>

#include "event/format.h"
#include "event/print/print.h"

enum tap_frames_of tap_frames_kind(const struct tap_format *fmt)
{
	if (strcmp(fmt->system, "schedtap") && strcmp(fmt->system, "ftrace"))
		return TAP_FRAMES_NONE;
	if (!strcmp(fmt->name, "kernel_stack"))
		return TAP_FRAMES_KERNEL;
	return strcmp(fmt->name, "user_stack") ? TAP_FRAMES_NONE : TAP_FRAMES_USER;
}

/* Return the printer of a stack format; NULL when out of memory. */
static const struct tap_printer *get_printer(struct tap_frames *f, const struct tap_format *fmt)
{
	uint64_t *slot = tap_map_put(&f->by_format, (uintptr_t)fmt);
	struct tap_printer *p;

	if (!slot)
		return NULL;
	if (*slot)
		return (const struct tap_printer *)(uintptr_t)*slot;
	if (!f->symbols && tap_symbols_new("", f->info ? f->info->kallsyms : "", &f->symbols))
		return NULL;
	if (tap_printer_new(fmt, &p, NULL))
		return NULL;
	tap_printer_set_symbols(p, f->symbols);
	*slot = (uintptr_t)p;
	return p;
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
	const char *s = tap_buf_str(&f->text), *end = s + f->text.len, *next;

	while (f->nr < TAP_MAX_FRAMES && (s = memmem(s, (size_t)(end - s), before, before_len))) {
		s += before_len;
		next = memchr(s, '\n', (size_t)(end - s));
		next = next ? next : end;
		add_name(f, s, (size_t)(next - s));
		s = next;
	}
}

int tap_frames_read(struct tap_frames *f, const struct tap_event *ev)
{
	const struct tap_printer *printer = get_printer(f, ev->fmt);

	f->nr = 0;
	tap_buf_clear(&f->text);
	if (!printer)
		return -ENOMEM;
	if (ev->size < ev->fmt->min_size)
		return 0;
	tap_printer_run(printer, ev->data, ev->size, &f->text);
	split_text(f);
	return f->text.err ? -ENOMEM : 0;
}

void tap_frames_release(struct tap_frames *f)
{
	tap_map_for_each(&f->by_format, s)
		tap_printer_free((struct tap_printer *)(uintptr_t)s->value);
	tap_map_release(&f->by_format);
	tap_symbols_free(f->symbols);
	tap_buf_release(&f->text);
}
