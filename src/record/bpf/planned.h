/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which of the plan's events this backend records, and which program of the object feeds which of
 * them. */
#ifndef TAP_RECORD_BPF_PLANNED_H
#define TAP_RECORD_BPF_PLANNED_H

#include <bpf/libbpf.h>

#include "record/backend.h"

static inline bool tap_bpf_is_planned(const struct tap_plan_event *ev)
{
	return ev->backend->kind == TAP_BY_BPF && ev->status == TAP_EVENT_PLANNED;
}

/* Whether events of definitions read at run time are planned. */
bool tap_bpf_has_own(const struct tap_plan *plan);

/* What a program of the object feeds, "sched_waking__sched_waking" sched_waking. NULL: nothing of
 * the plan. */
struct tap_plan_event *tap_bpf_event_of(struct tap_plan *plan, const char *program);
/* On what it hangs. NULL: it is no program of an event. */
const char *tap_bpf_tracepoint_of(const char *program);

/* Of a built-in event: its index in the constants of the programs. */
static inline unsigned int tap_bpf_index(const struct tap_def *def)
{
	return def->id - TAP_DEF_ID_BASE;
}

/* Whether it records an event, and is to be loaded. */
bool tap_bpf_records(const struct bpf_program *prog);

#endif
