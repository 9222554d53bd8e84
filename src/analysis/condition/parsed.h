/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A parsed condition, for the code that tests it. */
#ifndef TAP_CONDITION_PARSED_H
#define TAP_CONDITION_PARSED_H

#include <stdint.h>

#include "event/expr/filter.h"
#include "event/select/select.h"
#include "timeline/timeline.h"

enum tap_condition_kind {
	TAP_CONDITION_EVENT,
	TAP_CONDITION_RATE,
	TAP_CONDITION_STATE,
	TAP_CONDITION_VIOLATION,
	TAP_CONDITION_LOST,
};

struct tap_condition {
	enum tap_condition_kind kind;
	char *text;
	enum tap_state state;
	uint64_t limit; /* ns; events per second; number of events */
	struct tap_select *event; /* for EVENT and RATE: has this one word */
	const char *filter; /* points into .text; NULL: no filter */
	/*
	 * for STATE and VIOLATION with a filter: a format that describes struct tap_condition_task
	 */
	struct tap_format *task;
	struct tap_filter *of_task;
};

/* A record with a task's fields, which filters of tasks are applied to. */
struct tap_condition_task {
	uint16_t type;
	uint16_t nothing;
	int32_t common_pid;
	char comm[TAP_TASK_COMM];
	int32_t tid, pid, tgid, prio, cpu;
	int32_t nothing_else;
	uint64_t cgroup;
};

static inline const struct tap_select_word *tap_condition_word(const struct tap_condition *c)
{
	return &c->event->events[0];
}

#endif
