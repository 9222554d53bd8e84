/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The tasks to which a recording is limited whose description does not say so, such as one of
 * `trace-cmd record -P`: recognised by its switches.
 *
 * A recording of some tasks has every switch that involves one of them, and no other. So where a
 * CPU's chain is broken, the task that left unseen and the one that came unseen are not recorded
 * ones. Every switch that involves such a task involves a recorded one as well. The recording is
 * limited if no switch contradicts that. Otherwise some tasks may be hidden from tracing: then a
 * task that is never seen leaving may be one of them, and the next one may have come from it, so
 * neither proves anything.
 */
#ifndef TAP_ANALYSIS_LIMITS_CONTENT_H
#define TAP_ANALYSIS_LIMITS_CONTENT_H

#include <jansson.h>

#include "base/map.h"
#include <schedtap/event.h>

struct tap_limits_content { /* all zero: nothing is read yet */
	struct tap_map switches; /* key: both tids */
	struct tap_map missed; /* tid -> how often its leaving was not seen */
	struct tap_map came; /* tids whose coming was not seen */
	struct tap_map left; /* tids that were seen leaving */
	bool has_losses;
	const struct tap_format *fmt; /* of the fields */
	const struct tap_field *prev, *next; /* NULL: not a switch */
	bool has_last;
	int cpu, last; /* the last switch, on that CPU, went to that task */
};

/* @ev: the next event of a CPU; one CPU comes after the other. Return: 0 or -ENOMEM. */
int tap_limits_content_event(struct tap_limits_content *c, const struct tap_event *ev);
void tap_limits_content_release(struct tap_limits_content *c);

/*
 * After the last event: the tasks to which the recording is limited, as an object as "only" is
 * (file/meta.h), the caller's; NULL if it is not limited. Return: 0 or -ENOMEM.
 */
int tap_limits_content_only(const struct tap_limits_content *c, json_t **only);

#endif
