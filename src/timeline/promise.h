/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a recording has of each task. One of everything has all of everybody's switches, wakeups and migrations. One that
 * was limited to some tasks (-p, -t, -c, -g) has all of theirs, and of the others only what these had to do with: what ran
 * on a CPU between two of its events is then not recorded, and nothing is missing.
 */
#ifndef TAP_TIMELINE_PROMISE_H
#define TAP_TIMELINE_PROMISE_H

#include <schedtap/event.h>

#include "timeline/sched_fields.h"

struct tap_promise {
	/* Whether it has all of who has this tid, and is called so: @comm has @len bytes at most; NULL: not known. */
	bool (*keeps)(void *ctx, int tid, const char *comm, uint32_t len);
	void *ctx;
};

/* @p: NULL: it has all of everybody. @comm: the field of @ev with the task's name, or NULL. */
static inline bool tap_promise_keeps(const struct tap_promise *p, int tid, const struct tap_field *comm,
				     const struct tap_event *ev)
{
	uint32_t len = 0;
	const char *name;

	if (!p)
		return true;
	name = comm ? tap_field_bytes(comm, ev->data, ev->size, &len) : NULL;
	return p->keeps(p->ctx, tid, name, len);
}

#endif
