/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which tasks a recording was limited to, as its description says ("only"), and so which it has all events of: the
 * promise that the timeline is given (timeline/promise.h).
 */
#ifndef TAP_ANALYSIS_LIMITS_H
#define TAP_ANALYSIS_LIMITS_H

#include <jansson.h>

#include "select/select.h"
#include "timeline/timeline.h"

struct tap_limits {
	const struct tap_promise *promise; /* NULL: it is limited to nobody, or nobody knows to whom */
	struct tap_promise own;
	struct tap_select *select; /* owned; -p, -t and -c as they were given; NULL: none was */
	struct tap_map tids; /* with -p: of all who were ever of one of its processes */
};

/* @meta: the description, or NULL. Return: 0 or -ENOMEM. What is not as it should be limits nothing. */
int tap_limits_init(struct tap_limits *l, const json_t *meta);
void tap_limits_release(struct tap_limits *l);

/* Whether tap_limits_learn() is needed, of each task that the recording ever has. */
static inline bool tap_limits_ask_tasks(const struct tap_limits *l)
{
	return l->select && (l->select->by & TAP_SELECT_TGIDS);
}
int tap_limits_learn(struct tap_limits *l, const struct tap_task *task); /* 0 or -ENOMEM */

#endif
