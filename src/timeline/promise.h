/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a recording has of each task. One of everything has all of everybody's switches, wakeups and
 * migrations. One that was limited to some tasks (-p, -t, -c, -g) has all of theirs, and of the
 * others only what these had to do with: what ran on a CPU between two of its events is then not
 * recorded, and nothing is missing. One that was limited to some CPUs (-C) has what happened on
 * these: of the other CPUs nothing, and of a task that may use one of them what it did where it is
 * seen to run.
 */
#ifndef TAP_TIMELINE_PROMISE_H
#define TAP_TIMELINE_PROMISE_H

#include <schedtap/event.h>

#include "base/text.h"
#include "timeline/sched_fields.h"

struct tap_promise {
	/* Whether it has all, at @ns, of the task with this tid and name. @comm: at most @len
	 * bytes; NULL: not known. */
	bool (*keeps)(void *ctx, int tid, uint64_t ns, const char *comm, uint32_t len);
	/* Whether the task entered or left one of the filter's cgroups within that time: a switch
	 * may be missing then. */
	bool (*moved)(void *ctx, int tid, uint64_t from_ns, uint64_t to_ns);
	void *ctx;
	bool lacks_migrations; /* those by other tasks */
	const struct tap_cpus *cpus; /* borrowed; NULL: all */
};

/* @p: NULL: it has all of everybody. @comm: the field of @ev with the task's name, or NULL. */
static inline bool tap_promise_keeps(const struct tap_promise *p, int tid,
				     const struct tap_field *comm, const struct tap_event *ev)
{
	uint32_t len = 0;
	const char *name;

	if (!p)
		return true;
	name = comm ? tap_field_bytes(comm, ev->data, ev->size, &len) : NULL;
	return p->keeps(p->ctx, tid, ev->ts_ns, name, len);
}

static inline bool tap_promise_moved(const struct tap_promise *p, int tid, uint64_t from_ns,
				     uint64_t to_ns)
{
	return p && p->moved(p->ctx, tid, from_ns, to_ns);
}

/* Whether it has all of the task in all of that time, whatever the task was called. */
static inline bool tap_promise_kept(const struct tap_promise *p, int tid, uint64_t from_ns,
				    uint64_t to_ns)
{
	return !p ||
	       (p->keeps(p->ctx, tid, from_ns, NULL, 0) && !p->moved(p->ctx, tid, from_ns, to_ns));
}

static inline bool tap_promise_has_cpu(const struct tap_promise *p, unsigned int cpu)
{
	return !p || !p->cpus || tap_cpus_has(p->cpus, cpu);
}

#endif
