/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Choose the events of a recording, and the backend of each. */
#ifndef TAP_RECORD_SESSION_CHOOSE_H
#define TAP_RECORD_SESSION_CHOOSE_H

#include "record/session/opts.h"

/*
 * Fill plan->events and plan->patterns. BPF records every event that has a definition, unless
 * opts->backend forbids it; tracefs records the kernel's other events. A word that matches no event
 * of the kernel is taken as a pattern for user-space programs; with a colon (SYSTEM:NAME) also if
 * no running program has such an event yet. Return: 0; -ENODATA for a -e that matches nothing, with
 * the nearest names; -EINVAL if an event cannot be recorded with its filter or by the chosen
 * backend; -EOPNOTSUPP if the kernel's events must be listed and tracefs is not mounted; -ENOMEM.
 */
int tap_choose_events(struct tap_plan *plan, const struct tap_session_opts *opts,
		      struct tap_err *err);

#endif
