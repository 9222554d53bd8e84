/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which of the plan's events this backend records, and which program of the object records which
 * event.
 */
#ifndef TAP_RECORD_BPF_PLANNED_H
#define TAP_RECORD_BPF_PLANNED_H

#include <bpf/libbpf.h>

#include "record/backend.h"

static inline bool tap_bpf_is_planned(const struct tap_plan_event *ev)
{
	return ev->backend->kind == TAP_BY_BPF && ev->status == TAP_EVENT_PLANNED;
}

/* Return: whether events of definitions read at run time are planned. */
bool tap_bpf_has_own(const struct tap_plan *plan);

/*
 * Return: the event that a program of the object records: sched_waking for
 * "sched_waking__sched_waking" (EVENT__TRACEPOINT); NULL: none of the plan.
 */
struct tap_plan_event *tap_bpf_event_of(struct tap_plan *plan, const char *program);
/* Return: the name of its tracepoint; NULL: the program does not record an event. */
const char *tap_bpf_tracepoint_of(const char *program);

/* Return: the index of a built-in event in the programs' constant arrays. */
static inline unsigned int tap_bpf_index(const struct tap_def *def)
{
	return def->id - TAP_DEF_ID_BASE;
}

/* Return: whether the program records an event and will be loaded. */
bool tap_bpf_records(const struct bpf_program *prog);

#endif
