// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "file/text/format.h"

#include <errno.h>

#define WAKEUP_ID 0x6fffu /* below those of the definitions */

const struct tap_def *tap_format_def(struct span system, struct span name)
{
	const struct tap_def *def;

	if (span_is(name, "sched_wakeup"))
		name = (struct span){ "sched_waking", strlen("sched_waking") };
	for (unsigned int i = 0; (def = tap_def_at(i)); i++)
		if (span_is(name, def->name) && (!system.len || span_is(system, def->system)) &&
		    (tap_def_is_selectable(def) || span_is(name, "events_lost")))
			return def;
	return NULL;
}

const struct tap_def *tap_format_short(const struct tap_def *def)
{
	const struct tap_def *form;

	for (unsigned int i = 0; (form = tap_def_at(i)); i++)
		if (form->form_of && !strcmp(form->form_of, def->name))
			return form;
	return NULL;
}

/* Write a definition's format text under another name. */
static void rename_format(struct tap_buf *out, const struct tap_buf *text, struct span name,
			  unsigned int id)
{
	const char *rest = memmem(text->data, text->len, "\nformat:", strlen("\nformat:"));

	tap_buf_printf(out, "name: %.*s\nID: %u", (int)name.len, name.s, id);
	tap_buf_add(out, rest, (size_t)(text->data + text->len - rest));
}

static const struct tap_format *make(struct tap_made *m, const struct tap_def *def,
				     struct span name, unsigned int id,
				     bool (*has)(void *ctx, const char *field), void *ctx)
{
	const struct tap_abi abi = { .big_endian = TAP_HOST_BIG_ENDIAN, .long_size = 8 };
	bool absent[TAP_FORMAT_MAX_FIELDS] = { false };
	struct tap_buf text = { 0 }, renamed = { 0 };
	int ret;

	for (unsigned int i = 0; has && i < def->nr_fields; i++)
		absent[i] = !has(ctx, def->fields[i].name);
	tap_def_format(def, absent, NULL, &text);
	if (!text.err)
		rename_format(&renamed, &text, name, id);
	ret = text.err || renamed.err ? tap_made_fail(m, -ENOMEM, "not enough memory")
				      : tap_dat_add_format(m->r, def->system, renamed.data,
							   renamed.len, abi, m->err);
	tap_buf_release(&text);
	tap_buf_release(&renamed);
	m->failed = m->failed ?: ret;
	return ret ? NULL : m->r->decoder.slots[id].fmt;
}

const struct tap_format *tap_format_make(struct tap_made *m, const struct tap_def *def,
					 struct span name,
					 bool (*has)(void *ctx, const char *field), void *ctx)
{
	const unsigned int id = span_is(name, "sched_wakeup") ? WAKEUP_ID : def->id;

	if (m->failed)
		return NULL;
	if (has && id == def->id && tap_def_is_selectable(def))
		return tap_made_kind(m, def->system, name.s, name.len, has, ctx);
	return m->r->decoder.slots[id].fmt ?: make(m, def, name, id, has, ctx);
}
