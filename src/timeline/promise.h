/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which events of a task a recording promises to have. An unfiltered recording has all switches,
 * wakeups and migrations of all tasks. A recording of some tasks (-p, -t, -c, -g) has all events of
 * these, and of other tasks only events that involve a recorded one: what else ran on a CPU between
 * two recorded events is left out, and nothing is missing. A recording of some CPUs (-C) has the
 * events on these CPUs and none on the others; if a task may use a recorded CPU, what it did there
 * is recorded.
 */
#ifndef TAP_TIMELINE_PROMISE_H
#define TAP_TIMELINE_PROMISE_H

#include <schedtap/event.h>

#include "base/text.h"
#include "timeline/sched_fields.h"

struct tap_promise {
	/*
	 * Return true if at @ns the recording has all events of the task with this tid and name.
	 * @comm: at most @len bytes; NULL: name not known.
	 */
	bool (*keeps)(void *ctx, int tid, uint64_t ns, const char *comm, uint32_t len);
	/*
	 * Return true if the task entered or left one of the filter's cgroups in that interval: a
	 * switch may be missing then.
	 */
	bool (*moved)(void *ctx, int tid, uint64_t from_ns, uint64_t to_ns);
	void *ctx;
	bool lacks_migrations; /* migrations by tasks that are not recorded are missing */
	const struct tap_cpus *cpus; /* CPUs that are recorded; borrowed; NULL: all */
};

/*
 * Return true if the recording has all events of the task at the event's time. @p: NULL:
 * unfiltered. @comm: the field of @ev with the task's name, or NULL.
 */
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

/*
 * Return true if the recording has all events of the task throughout the interval, whatever the
 * task's name.
 */
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
