/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which fields of an event speak of tasks and cgroups: looked up by name once per kind of event. */
#ifndef TAP_ANALYSIS_EVENT_KIND_H
#define TAP_ANALYSIS_EVENT_KIND_H

#include <schedtap/reader.h>

#include "base/map.h"

#define TAP_EVENT_PAIRS 8u

struct tap_event_kind {
	const struct tap_format *fmt;
	unsigned int index; /* 0, 1, 2, ...: for tables beside this one */
	const struct tap_field *current; /* common_pid, or NULL */
	const struct tap_field *cgroup; /* its id, or NULL */
	struct {
		const struct tap_field *tid, *comm; /* "X_pid" and "X_comm"; comm may be NULL */
	} tasks[TAP_EVENT_PAIRS];
	unsigned int nr_tasks;
	bool tells_identity; /* tap_timeline_tells_identity() */
};

struct tap_event_kinds { /* all zero: none yet */
	struct tap_map by_format; /* -> struct tap_event_kind *, owned */
	const struct tap_event_kind *recent[16]; /* by bits of the format's address */
};

/* Return: borrowed until the release; NULL when out of memory. */
const struct tap_event_kind *tap_event_kind(struct tap_event_kinds *kinds,
					    const struct tap_format *fmt);
void tap_event_kinds_release(struct tap_event_kinds *kinds);

/* The task that was running; -1 if the event does not say. */
static inline int tap_event_current(const struct tap_event_kind *kind, const struct tap_event *ev)
{
	return kind->current ? (int)tap_field_u64(kind->current, ev->data, ev->size) : -1;
}

#endif
