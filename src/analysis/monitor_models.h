/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The kernel's models of its scheduler, deterministic automata (Documentation/trace/rv/,
 * kernel/trace/rv/monitors/ of v6.18), as far as events that can be recorded decide them: what may
 * happen to a task, or on a CPU, in which state, and what state is behind it.
 */
#ifndef TAP_ANALYSIS_MONITOR_MODELS_H
#define TAP_ANALYSIS_MONITOR_MODELS_H

#include <stdbool.h>
#include <stdint.h>

enum tap_monitor_event {
	TAP_MONITOR_SWITCH_IN,
	TAP_MONITOR_SWITCH_PREEMPT, /* out, by a preemption */
	TAP_MONITOR_SWITCH_YIELD, /* out, runnable, without one */
	TAP_MONITOR_SWITCH_SUSPEND, /* out, to sleep */
	TAP_MONITOR_WAKEUP,
	TAP_MONITOR_SET_RUNNABLE, /* of its own state */
	TAP_MONITOR_SET_SLEEPABLE,
	TAP_MONITOR_SIGNAL, /* was delivered */
	TAP_MONITOR_SWITCH, /* as a CPU sees it */
	TAP_MONITOR_ENTRY, /* of __schedule() */
	TAP_MONITOR_EXIT,
	TAP_MONITOR_NR_EVENTS,
};

extern const char *const tap_monitor_event_names[TAP_MONITOR_NR_EVENTS];

#define TAP_MONITOR_MAX_STATES 4u
#define TAP_MONITOR_NEVER 255 /* that must not happen */

struct tap_monitor_model {
	const char *name, *asserts;
	bool of_cpus; /* else of tasks */
	unsigned int nr_states;
	const char *states[TAP_MONITOR_MAX_STATES];
	/* The state behind it, plus one; 0: the model has no such event. */
	uint8_t next[TAP_MONITOR_MAX_STATES][TAP_MONITOR_NR_EVENTS];
};

extern const struct tap_monitor_model tap_monitor_models[]; /* ends with a row of zeros */

/* A model of the kernel's that is not held against recordings, and what it would take. */
struct tap_monitor_undecided {
	const char *name, *why;
};
extern const struct tap_monitor_undecided tap_monitor_undecided[]; /* the same */

const struct tap_monitor_model *tap_monitor_model(const char *name); /* or NULL */

#endif
