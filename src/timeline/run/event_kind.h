/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The fields of an event format that name tasks and cgroups, looked up once per format. */
#ifndef TAP_ANALYSIS_EVENT_KIND_H
#define TAP_ANALYSIS_EVENT_KIND_H

#include <schedtap/reader.h>

#include "base/map.h"

#define TAP_EVENT_PAIRS 8u

struct tap_event_kind {
	const struct tap_format *fmt;
	unsigned int index; /* 0, 1, 2, ...: an index for the caller's own tables */
	const struct tap_field *current; /* common_pid, or NULL */
	const struct tap_field *cgroup; /* the field with a cgroup's ID, or NULL */
	struct {
		const struct tap_field *tid, *comm; /* "X_pid" and "X_comm"; .comm may be NULL */
	} tasks[TAP_EVENT_PAIRS];
	unsigned int nr_tasks;
	bool tells_identity; /* tap_timeline_tells_identity() */
};

struct tap_event_kinds { /* all zero: empty */
	struct tap_map by_format; /* -> struct tap_event_kind *, owned */
	/* a cache, indexed by bits of the format's address */
	const struct tap_event_kind *recent[16];
};

/* Return: borrowed until tap_event_kinds_release(); NULL when out of memory. */
const struct tap_event_kind *tap_event_kind(struct tap_event_kinds *kinds,
					    const struct tap_format *fmt);
void tap_event_kinds_release(struct tap_event_kinds *kinds);

/*
 * Return the tid of the task that was running when the event was recorded; -1: the event does not
 * contain it.
 */
static inline int tap_event_current(const struct tap_event_kind *kind, const struct tap_event *ev)
{
	return kind->current ? (int)tap_field_u64(kind->current, ev->data, ev->size) : -1;
}

#endif
