// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "timeline/run/event_kind.h"

#include <stdlib.h>
#include <string.h>

#include "timeline/timeline.h"

/* Find the "X_comm" field that goes with the "X_pid" field named @tid. */
static const struct tap_field *find_comm_field(const struct tap_format *fmt, const char *tid)
{
	size_t prefix = strlen(tid) - strlen("pid");

	for (unsigned int i = fmt->nr_common; i < fmt->nr_fields; i++) {
		const struct tap_field *f = &fmt->fields[i];

		if ((f->kind == TAP_FIELD_CHARS || f->kind == TAP_FIELD_STRING) &&
		    !strncmp(f->name, tid, prefix) && !strcmp(f->name + prefix, "comm"))
			return f;
	}
	return NULL;
}

static bool is_tid(const struct tap_field *f)
{
	size_t len = strlen(f->name);

	return f->kind == TAP_FIELD_NUMBER &&
	       (!strcmp(f->name, "pid") || (len > 4 && !strcmp(f->name + len - 4, "_pid")));
}

static void kind_init(struct tap_event_kind *k, const struct tap_format *fmt)
{
	k->fmt = fmt;
	k->current = tap_format_field(fmt, "common_pid");
	k->cgroup = tap_number_field(fmt, "cgroup");
	for (unsigned int i = fmt->nr_common; i < fmt->nr_fields; i++) {
		const struct tap_field *f = &fmt->fields[i];

		if (!is_tid(f) || k->nr_tasks == TAP_EVENT_PAIRS)
			continue;
		k->tasks[k->nr_tasks].tid = f;
		k->tasks[k->nr_tasks++].comm = find_comm_field(fmt, f->name);
	}
	k->tells_identity = tap_timeline_tells_identity(fmt);
}

const struct tap_event_kind *tap_event_kind(struct tap_event_kinds *kinds,
					    const struct tap_format *fmt)
{
	const struct tap_event_kind **recent = &kinds->recent[(uintptr_t)fmt / 64 % 16];
	struct tap_event_kind *k;
	uint64_t *slot;

	if (*recent && (*recent)->fmt == fmt)
		return *recent;
	slot = tap_map_put(&kinds->by_format, (uintptr_t)fmt);
	if (!slot)
		return NULL;
	if (*slot)
		return *recent = (struct tap_event_kind *)(uintptr_t)*slot;
	k = calloc(1, sizeof(*k));
	if (!k)
		return NULL;
	k->index = (unsigned int)kinds->by_format.nr - 1;
	kind_init(k, fmt);
	*slot = (uintptr_t)k;
	return k;
}

void tap_event_kinds_release(struct tap_event_kinds *kinds)
{
	tap_map_for_each(&kinds->by_format, s)
		free((struct tap_event_kind *)(uintptr_t)s->value);
	tap_map_release(&kinds->by_format);
}
