/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which of the kernel's events Perfetto has messages for that it draws something of, and where in
 * these their fields go. */
#ifndef TAP_PERFETTO_FTRACE_EVENT_H
#define TAP_PERFETTO_FTRACE_EVENT_H

#include "timeline/timeline.h"
#include "show/perfetto/bundle.h"

#define TAP_FTRACE_FIELDS 7u /* at most */

/* Of one format. */
struct tap_ftrace_event {
	unsigned int number; /* of FtraceEvent's field; 0: there is none */
	struct tap_num current; /* common_pid */
	struct {
		const struct tap_field *field; /* NULL: the format has none such */
		unsigned int number;
	} fields[TAP_FTRACE_FIELDS];
};

/* @name: which of them it goes as. */
void tap_ftrace_event_init(struct tap_ftrace_event *e, const struct tap_format *fmt,
			   const char *name);
/* Adds the event as a message. */
void tap_ftrace_event_put(const struct tap_ftrace_event *e, struct tap_bundle *b,
			  const struct tap_event *ev);

/* A switch as a message: what a column cannot say. @prev, @next: 0 is idle; names have
 * TAP_TASK_COMM bytes. */
struct tap_ftrace_switch {
	uint64_t ts_ns;
	int prev, next, prev_prio, next_prio;
	int64_t prev_state;
	const char *prev_comm, *next_comm;
};
void tap_ftrace_switch_put(struct tap_bundle *b, const struct tap_ftrace_switch *s);
/* A waking of @task by @tid, likewise. */
void tap_ftrace_waking_put(struct tap_bundle *b, uint64_t ts_ns, int tid,
			   const struct tap_task *task);

#endif
