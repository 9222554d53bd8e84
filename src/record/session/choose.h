/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which events, and who records them. */
#ifndef TAP_RECORD_SESSION_CHOOSE_H
#define TAP_RECORD_SESSION_CHOOSE_H

#include "record/session/opts.h"

/*
 * Fills plan->events and plan->patterns. BPF takes every event that has a definition, unless it has
 * a filter (which only tracefs applies) or opts->backend says otherwise; tracefs takes the rest.
 * What the kernel does not have is for programs: with a colon also if none has it yet. Return: 0;
 * -ENODATA for a -e that nothing fits, with the nearest names; -EINVAL for one that cannot be had
 * with its filter or from that backend; -EOPNOTSUPP for one that only tracefs could tell, where
 * tracefs is not mounted; -ENOMEM.
 */
int tap_choose_events(struct tap_plan *plan, const struct tap_session_opts *opts,
		      struct tap_err *err);

#endif
