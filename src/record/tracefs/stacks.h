/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Stacks of events that are recorded over tracefs: the kernel's own, by a trigger of each event. */
#ifndef TAP_RECORD_TRACEFS_STACKS_H
#define TAP_RECORD_TRACEFS_STACKS_H

#include "record/tracefs/instance.h"

struct tap_plan;
struct tap_plan_event;

/*
 * When the event has its filter: its stacks pass the same. Return: 0; -EINVAL with a sentence: such
 * are not to be had; -errno.
 */
int tap_tracefs_stacks_set(const struct tap_instance *in, const struct tap_plan_event *ev,
			   struct tap_err *err);

/* Whether the kernel's records of stacks come with events of this backend. */
bool tap_tracefs_stacks_come(const struct tap_plan *plan);

#endif
