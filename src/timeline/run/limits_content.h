/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Find the tasks to which a recording is limited from its switches, when its description does not
 * name them: for example of `trace-cmd record -P`.
 *
 * A recording of some tasks has every switch that involves one of them, and no other switch. So
 * where a CPU's chain of switches is broken, neither the task that left without a switch-out event
 * nor the task that arrived without a switch-in event is a recorded task. Every switch that
 * involves such a task must also involve a recorded task. The recording is limited if no switch
 * contradicts that.
 *
 * If some switch does, some tasks may be hidden from tracing. Then a task that is never switched
 * out in any event may be a hidden one, and the task found after it may have followed it, so
 * neither of the two proves anything.
 */
#ifndef TAP_ANALYSIS_LIMITS_CONTENT_H
#define TAP_ANALYSIS_LIMITS_CONTENT_H

#include <jansson.h>

#include "base/map.h"
#include <schedtap/event.h>

struct tap_limits_content { /* all zero: nothing was read yet */
	struct tap_map switches; /* pairs of tids that switched; key: prev tid << 32 | next tid */
	struct tap_map missed; /* tid -> number of times it left a CPU without a switch event */
	struct tap_map came; /* tids that arrived on a CPU without a switch event */
	struct tap_map left; /* tids that a switch event showed leaving a CPU */
	bool has_losses;
	const struct tap_format *fmt; /* the format that .prev and .next belong to */
	const struct tap_field *prev, *next; /* NULL: not a sched_switch format */
	bool has_last;
	int cpu, last; /* the last switch was on .cpu, to task .last */
};

/*
 * @ev: the next event; each CPU's events come in time order, one CPU after another. Return: 0 or
 * -ENOMEM.
 */
int tap_limits_content_event(struct tap_limits_content *c, const struct tap_event *ev);
void tap_limits_content_release(struct tap_limits_content *c);

/*
 * Find the tasks to which the recording is limited. Call after the last event. *@only: an object
 * like "only" (file/meta.h), owned by the caller; NULL: the recording is not limited. Return: 0 or
 * -ENOMEM.
 */
int tap_limits_content_only(const struct tap_limits_content *c, json_t **only);

#endif
