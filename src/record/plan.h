/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What is to be recorded: which events, by which backend, of which tasks and CPUs. */
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
	TAP_EVENT_FAILED, /* it has, but it could not be switched on */
};

/* One event to record. */
struct tap_plan_event {
	char *system, *name;
	const struct tap_def *def; /* NULL: known only from tracefs */
	char *filter; /* or NULL */
	char *note; /* what the user should know about it, or NULL */
	char *afterword; /* the same, when it has been recorded */
	struct tap_stack_kinds stacks; /* beside it */
	const struct tap_backend_ops *backend;
	bool is_soft; /* here for a trigger, and off until one switches it on */
	bool is_switched; /* by a trigger's enable_event: it belongs to the recording */
	enum tap_event_status status;
	char *reason; /* why it is absent or failed */
};

/*
 * Events that the kernel does not have: those of programs, which may come while the recording
 * runs. They join the plan's events as they are found.
 */
struct tap_plan_pattern {
	const struct tap_select_word *word; /* NULL: all; borrowed */
	char *note; /* what the user should know about it, or NULL */
};

struct tap_plan {
	struct tap_plan_event *events;
	unsigned int nr_events, cap_events;
	struct tap_trigger *triggers; /* owned, with .system set */
	unsigned int nr_triggers, cap_triggers;
	struct tap_plan_pattern *patterns;
	unsigned int nr_patterns, cap_patterns;
	const struct tap_defs *own; /* definitions beside the built-in ones; borrowed; NULL: none */
	struct tap_kernel *kernel; /* borrowed, for BPF; NULL: not read yet */
	/* processes and threads by the recorder's numbers; borrowed */
	const struct tap_select *select;
	bool follow; /* children of its processes too */
	struct tap_pids pids;
	/* borrowed; NULL: this recorder has no porter, and its sockets are not served */
	struct tap_porter *porter;
	bool has_stacks; /* some event */
	uint64_t buffer_bytes; /* per CPU */
	uint64_t program_bytes; /* per program and CPU; 0: as the program has it */
	unsigned int nr_cpus; /* tap_machine_nr_cpus() */
	bool bpf_ringbuf; /* use the fallback transport (tests) */
};

void tap_plan_release(struct tap_plan *plan);

/* Whether a program's event is asked for. */
static inline bool tap_plan_pattern_fits(const struct tap_plan_pattern *p, const char *system,
					 const char *name)
{
	return !p->word || tap_select_word_fits(p->word, system, name);
}

/* The definitions, of which an own one takes the place of a built-in one with its name. Return:
 * NULL past the last. */
const struct tap_def *tap_plan_def_at(const struct tap_plan *plan, unsigned int index);

/* Return: the event, or NULL. */
struct tap_plan_event *tap_plan_find(const struct tap_plan *plan, const char *system,
				     const char *name);
/* The event that a trigger is of, or that it switches: both are in the plan. */
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
 * Adds an event; others of the plan may move. One that is asked for twice is recorded once: with
 * its filter, if one of them has one. @def, @filter: may be NULL. Return: 0; -ENOMEM.
 */
int tap_plan_add(struct tap_plan *plan, const char *system, const char *name,
		 const struct tap_def *def, const struct tap_backend_ops *backend,
		 const char *filter);

/* Why the first event that cannot be had is not, or "". */
const char *tap_plan_reason(const struct tap_plan *plan);

/* Notes that an event is recorded whole, for its filter makes no sense for it. Return: 0; -ENOMEM.
 */
int tap_plan_note_whole(struct tap_plan_event *ev, const char *filter);

/* Sets an event's outcome; the reason is a printf format. */
void tap_plan_outcome(struct tap_plan_event *ev, enum tap_event_status status, const char *fmt, ...)
	TAP_PRINTF(3, 4);

#endif
