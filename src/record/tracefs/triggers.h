/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Triggers in the kernel's own trigger files, of the recorder's instance. The kernel does not
 * record when a trigger switches something off. But a trigger with a count shows how often it has
 * fired, so unlimited triggers get a count of INT32_MAX, which is never used up.
 */
#ifndef TAP_RECORD_TRACEFS_TRIGGERS_H
#define TAP_RECORD_TRACEFS_TRIGGERS_H

#include "record/drain.h"
#include "record/tracefs/instance.h"

/* Something that triggers switch on and off: the recording, or an event. */
struct tap_tracefs_switch {
	const struct tap_plan_event *ev; /* NULL: the recording */
	uint32_t type; /* common_type of the event; 0: the recording */
	uint64_t fired; /* how often triggers had switched it off at the last look */
	uint64_t looked_ns; /* time just before that look */
	uint64_t off_ns; /* since when it may be off; 0: it is on */
};

struct tap_tracefs_triggers { /* all zero: there are no triggers */
	const struct tap_instance *in; /* borrowed */
	const struct tap_plan *plan;
	struct tap_tracefs_switch *switches; /* owned; [0] is the recording */
	unsigned int nr_switches;
	bool on; /* state of the recording that the other backends know */
	struct tap_page_writer *writer;
	struct tap_lane lane; /* .pages NULL: nothing has been off yet */
};

/*
 * Check the triggers: write each one with a count of 0, read it back, and remove it, because it
 * would fire before the start. Return: 0; -EINVAL, -EOPNOTSUPP with a sentence: the kernel refuses
 * one; -errno.
 */
int tap_tracefs_triggers_open(struct tap_tracefs_triggers *t, const struct tap_instance *in,
			      struct tap_plan *plan, struct tap_err *err);
/*
 * Write the triggers. Call it just before tracing is switched on. Return: 0; -errno with a
 * sentence.
 */
int tap_tracefs_triggers_start(struct tap_tracefs_triggers *t, struct tap_page_writer *writer,
			       struct tap_err *err);
/*
 * Add records of what was switched off since the last call. @last: the recording has ended. Return:
 * 0; -errno with a sentence.
 */
int tap_tracefs_triggers_drain(struct tap_tracefs_triggers *t, bool last, struct tap_err *err);
/* Implement .switched and .switch_to of struct tap_backend_ops. */
int tap_tracefs_triggers_switched(struct tap_tracefs_triggers *t);
void tap_tracefs_triggers_switch(struct tap_tracefs_triggers *t, bool on);
void tap_tracefs_triggers_release(struct tap_tracefs_triggers *t);

#endif
