/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Stacks in reports. */
#ifndef TAP_REPORT_STACK_CELLS_H
#define TAP_REPORT_STACK_CELLS_H

#include "timeline/run/stacks.h"
#include "show/out/page.h"

/*
 * Append "schedule <- do_nanosleep <- main": kernel frames first, then user frames, innermost
 * first. @escape: escape names, for people.
 */
void tap_stack_add(struct tap_buf *b, const struct tap_event_stacks *stacks,
		   struct tap_stack_pair stack, bool escape);
/*
 * Write the members "kernel_frames" and "user_frames" for programs: arrays of names; null if there
 * is no stack.
 */
void tap_stack_members(struct tap_page *p, const struct tap_event_stacks *stacks,
		       struct tap_stack_pair stack);

#endif
