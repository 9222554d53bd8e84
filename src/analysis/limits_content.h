/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The tasks to which a recording is limited whose description does not say so, such as one of `trace-cmd record -P`: recognised
 * by its switches.
 *
 * A recording of some tasks has every switch that brings or takes one of them. So its CPUs lose their chains where two other
 * tasks hand over to each other, and only there; and no switch between two others is recorded. Each pass reads all events of
 * each CPU by themselves: first find the tasks at which chains are lost, then check that no two of these switch with each other.
 * The tasks that switch with them are the recorded ones. A task that does neither may be either, and counts as not recorded.
 */
#ifndef TAP_ANALYSIS_LIMITS_CONTENT_H
#define TAP_ANALYSIS_LIMITS_CONTENT_H

#include <jansson.h>

#include "base/map.h"
#include <schedtap/event.h>

struct tap_limits_content { /* all zero: nothing is read yet */
	struct tap_map others; /* tids at which a chain was lost */
	struct tap_map recorded; /* tids that switch with one of them */
	unsigned int nr_lost; /* chains */
	bool is_whole; /* it is not limited, or not certain to be */
	const struct tap_format *fmt; /* of the fields */
	const struct tap_field *prev, *next; /* NULL: no switch */
	bool has_last;
	int cpu, last; /* the last switch, on that CPU, went to that task */
};

/* Each returns 0 or -ENOMEM. */
int tap_limits_content_find(struct tap_limits_content *c, const struct tap_event *ev);
int tap_limits_content_check(struct tap_limits_content *c, const struct tap_event *ev);
void tap_limits_content_release(struct tap_limits_content *c);

/* After both. Return: an object as "only" is (recording/meta.h), the caller's; NULL: it is not limited, or memory is short. */
json_t *tap_limits_content_only(const struct tap_limits_content *c);

#endif
