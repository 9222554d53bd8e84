/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A stack, as reports show it. */
#ifndef TAP_REPORT_STACK_CELLS_H
#define TAP_REPORT_STACK_CELLS_H

#include "timeline/run/stacks.h"
#include "show/out/page.h"

/* Adds "schedule <- do_nanosleep <- main": innermost first, the kernel's before the user's.
 * @escape: for people. */
void tap_stack_add(struct tap_buf *b, const struct tap_event_stacks *stacks,
		   struct tap_stack_pair stack, bool escape);
/* Two members for programs: "kernel_frames" and "user_frames", arrays of names; null: there is
 * none. */
void tap_stack_members(struct tap_page *p, const struct tap_event_stacks *stacks,
		       struct tap_stack_pair stack);

#endif
