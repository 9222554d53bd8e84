/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which events, and who records them. */
#ifndef TAP_CAPTURE_PLAN_H
#define TAP_CAPTURE_PLAN_H

#include "capture/backend.h"
#include "capture/session.h"

/*
 * Fills plan->events. BPF takes every event that has a definition, unless it has a filter (which
 * only tracefs applies) or opts->backend says otherwise; tracefs takes the rest.
 * Return: 0; -EINVAL for a pattern that matches nothing, with the nearest names; -EOPNOTSUPP for one
 * that only tracefs could tell, where tracefs is not mounted; -ENOMEM.
 */
int tap_plan_make(struct tap_plan *plan, const struct tap_session_opts *opts, struct tap_err *err);
void tap_plan_release(struct tap_plan *plan);

#endif
