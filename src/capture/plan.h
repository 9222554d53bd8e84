/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which events, and who records them. */
#ifndef TAP_CAPTURE_PLAN_H
#define TAP_CAPTURE_PLAN_H

#include "capture/backend.h"
#include "capture/session.h"

/*
 * Fills plan->events and plan->patterns. BPF takes every event that has a definition, unless it has
 * a filter (which only tracefs applies) or opts->backend says otherwise; tracefs takes the rest. What
 * the kernel does not have is for programs: with a colon also if none has it yet.
 * Return: 0; -ENODATA for a -e that nothing fits, with the nearest names; -EINVAL for one that cannot be had with
 * its filter or from that backend; -EOPNOTSUPP for one
 * that only tracefs could tell, where tracefs is not mounted; -ENOMEM.
 */
int tap_plan_make(struct tap_plan *plan, const struct tap_session_opts *opts, struct tap_err *err);
void tap_plan_release(struct tap_plan *plan);

/* Whether a program's event is asked for. */
static inline bool tap_plan_pattern_fits(const struct tap_plan_pattern *p, const char *system, const char *name)
{
	return !p->word || tap_select_word_fits(p->word, system, name);
}

/* For what is found while recording. Return: the event, or NULL. */
struct tap_plan_event *tap_plan_find(const struct tap_plan *plan, const char *system,
				     const char *name);
/* Adds an event without a definition; others of the plan may move. Return: 0 or -ENOMEM. */
int tap_plan_add(struct tap_plan *plan, const char *system, const char *name,
		 const struct tap_backend_ops *backend);

#endif
