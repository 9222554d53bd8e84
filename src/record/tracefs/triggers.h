/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Triggers in the kernel's own files, of our instance alone. The kernel does not tell what it does
 * not record: but a trigger with a count says how often it has fired, so unlimited ones are written
 * with a count that nobody lives to see the end of.
 */
#ifndef TAP_RECORD_TRACEFS_TRIGGERS_H
#define TAP_RECORD_TRACEFS_TRIGGERS_H

#include "record/drain.h"
#include "record/tracefs/instance.h"

/* Something that triggers switch: the recording, or an event. */
struct tap_tracefs_switch {
	const struct tap_plan_event *ev; /* NULL: the recording */
	uint32_t type; /* common_type; 0 */
	uint64_t fired; /* how often it was switched off, at the last look */
	uint64_t looked_ns; /* before that look */
	uint64_t off_ns; /* since when it may be off; 0: it is on */
};

struct tap_tracefs_triggers { /* all zero: there are none */
	const struct tap_instance *in; /* borrowed */
	const struct tap_plan *plan;
	struct tap_tracefs_switch *switches; /* owned; the first is the recording's */
	unsigned int nr_switches;
	bool on; /* the recording, as the other backends know it */
	struct tap_page_writer *writer;
	struct tap_lane lane; /* pages: NULL: nothing was off yet */
};

/*
 * Writes each trigger, with a count of 0, reads it back, and takes it away again: they would fire
 * before the start. Return: 0; -EINVAL, -EOPNOTSUPP with a sentence: the kernel refuses one;
 * -errno.
 */
int tap_tracefs_triggers_open(struct tap_tracefs_triggers *t, const struct tap_instance *in,
			      struct tap_plan *plan, struct tap_err *err);
/* Writes them for good; right before tracing is switched on. Return: 0; -errno with a sentence. */
int tap_tracefs_triggers_start(struct tap_tracefs_triggers *t, struct tap_page_writer *writer,
			       struct tap_err *err);
/* Adds what was off since the last time. @last: it goes on no more. Return: 0; -errno with a
 * sentence. */
int tap_tracefs_triggers_drain(struct tap_tracefs_triggers *t, bool last, struct tap_err *err);
/* As the ops of record/backend.h. */
int tap_tracefs_triggers_switched(struct tap_tracefs_triggers *t);
void tap_tracefs_triggers_switch(struct tap_tracefs_triggers *t, bool on);
void tap_tracefs_triggers_release(struct tap_tracefs_triggers *t);

#endif
