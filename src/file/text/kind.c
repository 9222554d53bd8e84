// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "file/text/kind.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "event/defs.h"
#include "file/text/format.h"
#include "file/text/plugin.h"
#include "file/text/state.h"
#include "file/text/unescape.h"

#define MAX_KINDS 1024u
#define MAX_TRIES 16u /* lines that do not fit an event's definition, until it is a text */
#define MAX_NAME_BYTES 100u

static const char *const switch_fields[] = { "prev_comm", "prev_pid", "prev_prio", "prev_state",
					     "next_comm", "next_pid", "next_prio" };
static const char *const wakeup_fields[] = { "comm", "pid", "prio", "target_cpu" };

static bool is_kind(const struct tap_kind *k, const struct tap_line *l)
{
	return k->name.len == l->name.len && k->system.len == l->system.len &&
	       !memcmp(k->name.s, l->name.s, k->name.len) &&
	       !memcmp(k->system.s, l->system.s, k->system.len);
}

static struct tap_kind *add_kind(struct tap_kinds *k, struct tap_made *m, const struct tap_line *l,
				 uint64_t *place)
{
	struct tap_kind *kind;

	if (tap_array_grow(&k->all, k->nr, &k->cap, sizeof(struct tap_kind *)) ||
	    !(kind = calloc(1, sizeof(*kind)))) {
		tap_made_fail(m, -ENOMEM, "not enough memory");
		return NULL;
	}
	kind->system = l->system;
	kind->name = l->name;
	kind->def = tap_format_def(l->system, l->name);
	kind->form = kind->def ? TAP_KIND_UNDECIDED : TAP_KIND_TEXT;
	kind->layout.is_escaped = k->is_escaped;
	k->all[k->nr++] = kind;
	*place = k->nr;
	return kind;
}

struct tap_kind *tap_kind_find(struct tap_kinds *k, struct tap_made *m, const struct tap_line *l)
{
	uint64_t key = tap_map_key(l->name.s, l->name.len), *place;

	/* another name with this key takes the next one */
	for (; (place = tap_map_get(&k->by_name, key)); key++)
		if (*place && is_kind(k->all[*place - 1], l))
			return k->all[*place - 1];
	if (k->nr == MAX_KINDS || l->name.len > MAX_NAME_BYTES || l->system.len > MAX_NAME_BYTES)
		return NULL;
	place = tap_map_put(&k->by_name, key);
	if (!place) {
		tap_made_fail(m, -ENOMEM, "not enough memory");
		return NULL;
	}
	return add_kind(k, m, l, place);
}

/* ---- how a kind's text is read ---- */

/* has() of tap_made_kind(): does the text have this field? */
static bool has_field(void *ctx, const char *field)
{
	const struct tap_layout *l = ctx;

	for (unsigned int i = 0; i < l->pieces.nr; i++)
		if (l->pieces.v[i].field && !strcmp(l->pieces.v[i].field, field))
			return true;
	return false;
}

static void set_layout(struct tap_layout *l, const char *const *fields, unsigned int nr)
{
	l->pieces = (struct tap_pieces){ .nr = nr };
	for (unsigned int i = 0; i < nr; i++)
		l->pieces.v[i].field = fields[i];
}

/* Return the body without blanks before it, which are padding, and without what trace-cmd adds. */
static struct span plain_body(const struct tap_line *l)
{
	static const char unparsed[] = "[FAILED TO PARSE] ";
	const char *end = l->body.s + l->body.len, *p = tap_line_blanks(l->body.s, end);

	if ((size_t)(end - p) >= sizeof(unparsed) && !memcmp(p, unparsed, sizeof(unparsed) - 1))
		p += sizeof(unparsed) - 1;
	return (struct span){ p, (size_t)(end - p) };
}

static bool learn(struct tap_kind *k, const struct tap_def *def, struct span body)
{
	struct tap_pieces from;

	return (tap_pieces_of_print(&from, def) && tap_body_learn(&k->layout, &from, body)) ||
	       (tap_pieces_of_fields(&from, def) && tap_body_learn(&k->layout, &from, body));
}

static enum tap_kind_form find_form(struct tap_kind *k, const struct tap_line *l)
{
	const struct tap_def *brief = tap_format_short(k->def);
	const struct span body = plain_body(l);
	struct tap_plugin_switch s;
	struct tap_plugin_wakeup w;

	if (learn(k, k->def, body))
		return TAP_KIND_PIECES;
	if (brief && learn(k, brief, body)) {
		k->def = brief;
		return TAP_KIND_PIECES;
	}
	if (span_is(l->name, "sched_switch") && tap_plugin_switch(&s, l->body, l->tid)) {
		set_layout(&k->layout, switch_fields, 7);
		return TAP_KIND_SWITCH;
	}
	if (!strcmp(k->def->print_fmt, tap_def_find("sched", "sched_waking")->print_fmt) &&
	    tap_plugin_wakeup(&w, l->body)) {
		set_layout(&k->layout, wakeup_fields, 4);
		return TAP_KIND_WAKEUP;
	}
	return TAP_KIND_UNDECIDED;
}

void tap_kind_skip(struct tap_kind *k)
{
	if (++k->nr_unfit == MAX_TRIES && k->form == TAP_KIND_UNDECIDED)
		k->form = TAP_KIND_TEXT;
}

/* Find the fields of the pieces. */
static void set_fields(struct tap_kind *k)
{
	for (unsigned int i = 0; k->fmt && i < k->layout.pieces.nr; i++) {
		const char *name = k->layout.pieces.v[i].field;
		const struct tap_field *f = name ? tap_format_field(k->fmt, name) : NULL;

		k->layout.fields[i] = f;
		k->has_strings |= f && f->kind == TAP_FIELD_STRING;
		if (f && !strcmp(name, "prev_state"))
			k->prev_state = i + 1;
	}
}

/* Decide from this line how the kind is read. Return: false if it does not fit. */
static bool decide(struct tap_kind *k, struct tap_made *m, const struct tap_line *l)
{
	char system[MAX_NAME_BYTES + 1];

	if (k->form == TAP_KIND_UNDECIDED)
		k->form = find_form(k, l);
	if (k->form == TAP_KIND_UNDECIDED)
		return false;
	if (k->form == TAP_KIND_TEXT) {
		snprintf(system, sizeof(system), "%.*s", (int)k->system.len, k->system.s);
		/* reports look for fields in those of its own system */
		k->fmt = tap_made_text_kind(m, k->def || !*system ? NULL : system, k->name.s,
					    k->name.len);
	} else {
		k->fmt = tap_format_make(m, k->def, k->name, has_field, &k->layout);
	}
	set_fields(k);
	return k->fmt;
}

/* ---- events ---- */

static struct tap_value text(struct span s)
{
	return (struct tap_value){ .text = s };
}

static struct tap_value number(uint64_t v)
{
	return (struct tap_value){ .number = v };
}

static bool read_values(const struct tap_kind *k, const struct tap_line *l,
			struct tap_value values[TAP_PIECES_MAX])
{
	struct tap_plugin_switch s;
	struct tap_plugin_wakeup w;

	if (k->form == TAP_KIND_PIECES)
		return tap_body_read(&k->layout, plain_body(l), values);
	if (k->form == TAP_KIND_SWITCH) {
		if (!tap_plugin_switch(&s, l->body, l->tid))
			return false;
		values[0] = text(s.prev.comm);
		values[1] = number(s.prev.tid);
		values[2] = number(s.prev.prio);
		values[3] = number(s.state);
		values[4] = text(s.next.comm);
		values[5] = number(s.next.tid);
		values[6] = number(s.next.prio);
		return true;
	}
	if (!tap_plugin_wakeup(&w, l->body))
		return false;
	values[0] = text(w.task.comm);
	values[1] = number(w.task.tid);
	values[2] = number(w.task.prio);
	values[3] = number(w.cpu);
	return true;
}

static void put_text(const struct tap_kind *k, unsigned char *rec, const struct tap_field *f,
		     struct span s, uint32_t text_bytes, uint32_t *used)
{
	char plain[TAP_MADE_MAX_TEXT];

	if (k->layout.is_escaped && memchr(s.s, '\\', s.len))
		s = tap_unescape(plain, sizeof(plain), s);
	else if (f->kind == TAP_FIELD_CHARS && tap_is_array(s))
		s = tap_unarray(plain, sizeof(plain), s);
	tap_made_text(k->fmt, rec, f, s.s, s.len, text_bytes, used);
}

static uint32_t bytes_of(size_t len)
{
	return (uint32_t)(len < TAP_MADE_MAX_TEXT ? len + 1 : TAP_MADE_MAX_TEXT);
}

static bool add_text(const struct tap_kind *k, struct tap_made *m, const struct tap_line *l,
		     uint64_t ts_ns)
{
	const struct span body = plain_body(l);
	uint32_t used = 0, bytes = bytes_of(body.len);
	unsigned char *rec = tap_made_add(m, k->fmt, l->cpu, ts_ns, l->tid, bytes);

	if (rec)
		put_text(k, rec, &k->fmt->fields[k->fmt->nr_common], body, bytes, &used);
	return true;
}

static void check_state(struct tap_kind *k, uint64_t *state)
{
	if (*state != TAP_STATE_0X40)
		return;
	k->has_0x40 = true;
	*state = 0x40;
}

bool tap_kind_add(struct tap_kind *k, struct tap_made *m, const struct tap_line *l, uint64_t ts_ns)
{
	const struct tap_layout *layout = &k->layout;
	struct tap_value values[TAP_PIECES_MAX];
	uint32_t used = 0, bytes = 0;
	unsigned char *rec;

	if (!k->fmt && !decide(k, m, l))
		return false;
	if (k->form == TAP_KIND_TEXT)
		return add_text(k, m, l, ts_ns);
	if (!read_values(k, l, values))
		return false;
	if (k->prev_state)
		check_state(k, &values[k->prev_state - 1].number);
	for (unsigned int i = 0; k->has_strings && i < layout->pieces.nr; i++)
		if (layout->fields[i] && layout->fields[i]->kind == TAP_FIELD_STRING)
			bytes += bytes_of(values[i].text.len);
	rec = tap_made_add(m, k->fmt, l->cpu, ts_ns, l->tid, bytes);
	for (unsigned int i = 0; rec && i < layout->pieces.nr; i++) {
		const struct tap_field *f = layout->fields[i];

		if (f && f->kind == TAP_FIELD_NUMBER)
			tap_made_number(rec, f, values[i].number);
		else if (f)
			put_text(k, rec, f, values[i].text, bytes, &used);
	}
	return true;
}

bool tap_kind_add_gap(struct tap_made *m, int cpu, uint64_t count, uint64_t first_ns,
		      uint64_t last_ns)
{
	static const char name[] = "events_lost";
	const struct tap_format *fmt =
		tap_format_make(m, tap_def_find("schedtap", name),
				(struct span){ name, sizeof(name) - 1 }, NULL, NULL);
	unsigned char *rec =
		fmt ? tap_made_add(m, fmt, cpu < 0 ? 0 : (unsigned int)cpu, last_ns, 0, 0) : NULL;

	if (!rec)
		return false;
	tap_made_number(rec, tap_format_field(fmt, "lost_cpu"), (uint64_t)cpu);
	tap_made_number(rec, tap_format_field(fmt, "count"), count);
	tap_made_number(rec, tap_format_field(fmt, "first_ns"), first_ns);
	tap_made_number(rec, tap_format_field(fmt, "last_ns"), last_ns);
	return true;
}

void tap_kinds_release(struct tap_kinds *k)
{
	for (unsigned int i = 0; i < k->nr; i++)
		free(k->all[i]);
	free(k->all);
	tap_map_release(&k->by_name);
}
