/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The kernel's runtime-verification models of its scheduler, which are deterministic automata
 * (Documentation/trace/rv/, kernel/trace/rv/monitors/ of v6.18), reduced to events that can be
 * recorded: what may happen to a task, or on a CPU, in each state, and which state follows.
 */
#ifndef TAP_ANALYSIS_MONITOR_MODELS_H
#define TAP_ANALYSIS_MONITOR_MODELS_H

#include <stdbool.h>
#include <stdint.h>

enum tap_monitor_event {
	TAP_MONITOR_SWITCH_IN,
	TAP_MONITOR_SWITCH_PREEMPT, /* switched out by a preemption */
	TAP_MONITOR_SWITCH_YIELD, /* switched out while runnable, not by a preemption */
	TAP_MONITOR_SWITCH_SUSPEND, /* switched out to sleep */
	TAP_MONITOR_WAKEUP,
	TAP_MONITOR_SET_RUNNABLE, /* the task sets its own state to runnable */
	TAP_MONITOR_SET_SLEEPABLE,
	TAP_MONITOR_SIGNAL, /* a signal was delivered */
	TAP_MONITOR_SWITCH, /* any switch, in models of CPUs */
	TAP_MONITOR_ENTRY, /* __schedule() begins */
	TAP_MONITOR_EXIT,
	TAP_MONITOR_NR_EVENTS,
};

extern const char *const tap_monitor_event_names[TAP_MONITOR_NR_EVENTS];

#define TAP_MONITOR_MAX_STATES 4u
#define TAP_MONITOR_NEVER 255 /* .next value: the event must not happen in this state */

struct tap_monitor_model {
	const char *name, *asserts;
	bool of_cpus; /* true: a model of CPUs; false: of tasks */
	unsigned int nr_states;
	const char *states[TAP_MONITOR_MAX_STATES];
	/*
	 * The state that follows the event, plus one; TAP_MONITOR_NEVER; 0: the model does not have
	 * this event.
	 */
	uint8_t next[TAP_MONITOR_MAX_STATES][TAP_MONITOR_NR_EVENTS];
};

extern const struct tap_monitor_model tap_monitor_models[]; /* ends with a row of zeros */

/* A kernel model that cannot be checked against recordings, and which events that would need. */
struct tap_monitor_undecided {
	const char *name, *why;
};
extern const struct tap_monitor_undecided tap_monitor_undecided[]; /* ends with a row of zeros */

/* find a model by name, or NULL */
const struct tap_monitor_model *tap_monitor_model(const char *name);

#endif
