/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Stack traces of an event, as in `record --stack`: "EVENT[:kernel|user|both][,depth=N]". */
#ifndef TAP_RECORD_STACK_H
#define TAP_RECORD_STACK_H

#include "event/select/select.h"

#define TAP_STACK_DEPTH 127u /* maximum and default depth, frames */

/* Which stack traces to record with an event; all zero: none. */
struct tap_stack_kinds {
	bool kernel, user;
	unsigned int depth; /* frames: 1 to TAP_STACK_DEPTH */
};

struct tap_stack {
	char *text; /* owned: as typed */
	struct tap_select *events; /* owned: the events */
	struct tap_stack_kinds kinds;
};

/* Parse the option. Return: 0; -EINVAL with a sentence; -ENOMEM. */
int tap_stack_parse(const char *text, struct tap_stack *stack, struct tap_err *err);
void tap_stack_release(struct tap_stack *stack);

#endif
