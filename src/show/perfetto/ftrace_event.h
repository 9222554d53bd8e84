/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Kernel events for which Perfetto has messages that it visualizes, and the numbers of their
 * fields.
 */
#ifndef TAP_PERFETTO_FTRACE_EVENT_H
#define TAP_PERFETTO_FTRACE_EVENT_H

#include "timeline/timeline.h"
#include "show/perfetto/bundle.h"

#define TAP_FTRACE_FIELDS 7u /* maximum number of fields of a message */

/* Conversion of one format. */
struct tap_ftrace_event {
	/* of the message's field in FtraceEvent; 0: Perfetto has no such message */
	unsigned int number;
	struct tap_num current; /* common_pid: the current task */
	struct {
		const struct tap_field *field; /* NULL: the format lacks it */
		unsigned int number;
	} fields[TAP_FTRACE_FIELDS];
};

/* @name: the event's name for Perfetto, which may differ from @fmt's. */
void tap_ftrace_event_init(struct tap_ftrace_event *e, const struct tap_format *fmt,
			   const char *name);
/* Add the event as a message. */
void tap_ftrace_event_put(const struct tap_ftrace_event *e, struct tap_bundle *b,
			  const struct tap_event *ev);

/*
 * Add a switch as a message, for cases that a column cannot represent. @prev, @next: tids, 0 is
 * idle; names have TAP_TASK_COMM bytes.
 */
struct tap_ftrace_switch {
	uint64_t ts_ns;
	int prev, next, prev_prio, next_prio;
	int64_t prev_state;
	const char *prev_comm, *next_comm;
};
void tap_ftrace_switch_put(struct tap_bundle *b, const struct tap_ftrace_switch *s);
/* Add a waking of @task by @tid as a message. */
void tap_ftrace_waking_put(struct tap_bundle *b, uint64_t ts_ns, int tid,
			   const struct tap_task *task);

#endif
