/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Stack traces of events that are recorded over tracefs: the kernel's stacktrace trigger of each
 * event.
 */
#ifndef TAP_RECORD_TRACEFS_STACKS_H
#define TAP_RECORD_TRACEFS_STACKS_H

#include "record/tracefs/instance.h"

struct tap_plan;
struct tap_plan_event;

/*
 * Set the trigger of the event. Call it once the event has its filter, which the trigger gets, too.
 * Return: 0; -EINVAL with a sentence: such stacks cannot be recorded; -errno.
 */
int tap_tracefs_stacks_set(const struct tap_instance *in, const struct tap_plan_event *ev,
			   struct tap_err *err);

/* Return: whether there will be the kernel's stack records of events of this backend. */
bool tap_tracefs_stacks_come(const struct tap_plan *plan);

#endif
