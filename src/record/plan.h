/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The plan of a recording: which events are recorded, by which backend, of which tasks and CPUs. */
#ifndef TAP_RECORD_PLAN_H
#define TAP_RECORD_PLAN_H

#include "event/define/define.h"
#include "event/defs.h"
#include "event/select/select.h"
#include "record/pids.h"
#include "record/stack.h"
#include "record/trigger.h"

struct tap_backend_ops;
struct tap_kernel;

enum tap_event_status {
	TAP_EVENT_PLANNED,
	TAP_EVENT_ON,
	TAP_EVENT_ABSENT, /* this kernel does not have it */
	TAP_EVENT_FAILED, /* the kernel has it, but it could not be switched on */
};

/* One event to record. */
struct tap_plan_event {
	char *system, *name;
	const struct tap_def *def; /* NULL: no definition, only tracefs knows it */
	char *filter; /* may be NULL */
	char *note; /* hint for the user before recording, or NULL */
	char *afterword; /* hint for the user after recording, or NULL */
	struct tap_stack_kinds stacks; /* which stack traces to record with it */
	const struct tap_backend_ops *backend;
	/* not selected: planned for a trigger, and off until a trigger switches it on */
	bool is_soft;
	/* a trigger's enable_event switches it on: its events are part of the recording */
	bool is_switched;
	enum tap_event_status status;
	char *reason; /* why .status is ABSENT or FAILED; or NULL */
};

/*
 * A selection of user-space tracepoints. Programs that have them may start while the recording
 * runs; their events join the plan once they are found.
 */
struct tap_plan_pattern {
	const struct tap_select_word *word; /* NULL: all events; borrowed */
	char *note; /* hint for the user, or NULL */
};

struct tap_plan {
	struct tap_plan_event *events;
	unsigned int nr_events, cap_events;
	struct tap_trigger *triggers; /* owned; .system is set */
	unsigned int nr_triggers, cap_triggers;
	struct tap_plan_pattern *patterns;
	unsigned int nr_patterns, cap_patterns;
	/* event definitions beside the built-in ones; borrowed; NULL: none */
	const struct tap_defs *own;
	struct tap_kernel *kernel; /* the kernel's types, for BPF; borrowed; NULL: not read yet */
	/* filter by task, CPU, cgroup; pids are those of the recorder's namespace; borrowed */
	const struct tap_select *select;
	bool follow; /* also record children of the selected processes */
	struct tap_pids pids;
	/* borrowed; NULL: could not be started, so the recorder's sockets are not served */
	struct tap_porter *porter;
	bool has_stacks; /* at least one event has .stacks */
	uint64_t buffer_bytes; /* ring size per CPU */
	uint64_t program_bytes; /* ring size per program and CPU; 0: the program's own choice */
	unsigned int nr_cpus; /* tap_machine_nr_cpus() */
};

void tap_plan_release(struct tap_plan *plan);

/* Return true if the user-space event is selected. */
static inline bool tap_plan_pattern_fits(const struct tap_plan_pattern *p, const char *system,
					 const char *name)
{
	return !p->word || tap_select_word_fits(p->word, system, name);
}

bool tap_plan_is_lean(const struct tap_plan *plan); /* it has a short form (events/lean.h) */

/*
 * Iterate over the definitions by @index, from 0 on. A definition of plan->own replaces the
 * built-in one with the same name, and may be returned twice. Return: NULL at the end.
 */
const struct tap_def *tap_plan_def_at(const struct tap_plan *plan, unsigned int index);

/* Return: the event; NULL: not in the plan. */
struct tap_plan_event *tap_plan_find(const struct tap_plan *plan, const char *system,
				     const char *name);
/*
 * Return: the event that the trigger belongs to; the event that it switches, NULL if none. Both are
 * in the plan.
 */
static inline struct tap_plan_event *tap_plan_event_of(const struct tap_plan *plan,
						       const struct tap_trigger *t)
{
	return tap_plan_find(plan, t->system, t->name);
}
static inline struct tap_plan_event *tap_plan_target_of(const struct tap_plan *plan,
							const struct tap_trigger *t)
{
	return t->of_name ? tap_plan_find(plan, t->of_system, t->of_name) : NULL;
}
/*
 * Add an event, or update it if the plan has it already: a filter is added, never removed. @def,
 * @filter: may be NULL. May move plan->events. Return: 0; -ENOMEM.
 */
int tap_plan_add(struct tap_plan *plan, const char *system, const char *name,
		 const struct tap_def *def, const struct tap_backend_ops *backend,
		 const char *filter);

/* Return: why the first unavailable event cannot be recorded; "": all can. */
const char *tap_plan_reason(const struct tap_plan *plan);

/*
 * Note that all events of this kind are recorded, because @filter does not apply to them. Return:
 * 0; -ENOMEM.
 */
int tap_plan_note_whole(struct tap_plan_event *ev, const char *filter);

/* Set an event's status and reason. @fmt: of the reason; NULL: none. */
void tap_plan_outcome(struct tap_plan_event *ev, enum tap_event_status status, const char *fmt, ...)
	TAP_PRINTF(3, 4);

#endif
