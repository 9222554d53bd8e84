// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "cli/enabled.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "event/select/select.h"
#include "record/bpf/attached.h"
#include "record/tracefs/enabled.h"

struct printer {
	const struct tap_enabled_from *from;
	const struct tap_select *select;
	unsigned int nr;
};

/* @by: what enabled the event, "tracefs" or "bpf". */
static void begin_line(struct tap_buf *line, const char *by, const char *system, const char *name)
{
	tap_buf_printf(line, "%-9s %s:%s", by, system, name);
}

static void add_words(struct tap_buf *line, const char *what, const char *words)
{
	if (!words)
		return;
	tap_buf_printf(line, ", %s ", what);
	tap_text_escape(line, words, strlen(words));
}

static void print_line(struct printer *p, struct tap_buf *line)
{
	puts(tap_buf_str(line));
	tap_buf_release(line);
	p->nr++;
}

static void print_tracefs(void *ctx, const struct tap_tracefs_enabled *ev)
{
	struct printer *p = ctx;
	struct tap_buf line = { 0 };

	if (!tap_select_event(p->select, ev->system, ev->name))
		return;
	begin_line(&line, "tracefs", ev->system, ev->name);
	add_words(&line, "instance", ev->instance);
	if (ev->is_soft)
		tap_buf_puts(&line, ", off until a trigger");
	add_words(&line, "filter", ev->filter);
	for (const char *at = ev->triggers; at && *at; at += strspn(at, "\n")) {
		size_t len = strcspn(at, "\n");

		tap_buf_puts(&line, ", trigger ");
		tap_text_escape(&line, at, len);
		at += len;
	}
	print_line(p, &line);
}

static void print_bpf(void *ctx, const struct tap_attached *a)
{
	struct printer *p = ctx;
	const struct tap_tracefs_event *ev = tap_tracefs_named(p->from->list, a->tracepoint);
	const char *system = ev ? ev->system : "bare";
	struct tap_buf line = { 0 };

	if (!tap_select_event(p->select, system, a->tracepoint))
		return;
	begin_line(&line, "bpf", system, a->tracepoint);
	add_words(&line, "program", a->program);
	tap_buf_printf(&line, " [%u]", a->id);
	print_line(p, &line);
}

int tap_enabled_print(const struct tap_enabled_from *from, const struct tap_select *select,
		      unsigned int *nr, struct tap_err *err)
{
	struct printer p = { .from = from, .select = select };
	int ret = from->root ? tap_tracefs_enabled(from->root, print_tracefs, &p, err) : 0,
	    attached;

	attached = from->btf ? tap_attached(from->btf, print_bpf, &p, ret ? NULL : err) : 0;
	*nr = p.nr;
	return ret ?: attached;
}
