/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which stack belongs to which event. A stack's record stands directly behind its event in its
 * CPU's part of a buffer, of the same task: the kernel's first, then the user's. Ours have the
 * event's time as well; ftrace takes the time anew. Kept are, per task, those of its last
 * switch-out and of its last waking, until the next ones: for intervals of the timeline, which are
 * told when they are over. What another event or a loss came before is nobody's.
 */
#ifndef TAP_ANALYSIS_STACKS_H
#define TAP_ANALYSIS_STACKS_H

#include <schedtap/reader.h>

#include "event/span.h"
#include "timeline/timeline.h"

/* Numbers of distinct stacks, from 1 on; 0: there is none, or it could not be read. */
struct tap_stack_pair {
	uint32_t kernel, user;
};

static inline bool tap_stack_pair_is_none(struct tap_stack_pair s)
{
	return !s.kernel && !s.user;
}

/* Of one task. */
struct tap_task_stacks {
	struct tap_stack_pair left, woken;
	uint64_t left_ns; /* when that was; 0: not yet */
	int left_cpu;
};

struct tap_event_stacks;

/* Whether the window has any. */
bool tap_event_stacks_are_in(const struct tap_survey *s);
/* How long after its event a stack is looked for by those who wait for it: ours have its time. */
uint64_t tap_event_stacks_within_ns(const struct tap_survey *s);

/* @info, @survey: borrowed until the free. Return: 0 or -ENOMEM. */
int tap_event_stacks_new(const struct tap_reader_info *info, const struct tap_survey *survey,
			 struct tap_event_stacks **out);
void tap_event_stacks_free(struct tap_event_stacks *s);

/* ctx: struct tap_event_stacks. It comes before the watchers that ask for stacks. */
extern const struct tap_watcher_ops tap_event_stacks_ops;

/* Of a task's last switch-out, if that was at @ns; else NULL. */
const struct tap_task_stacks *tap_event_stacks_left(const struct tap_event_stacks *s,
						    const struct tap_task *task, uint64_t ns);
/* Of a task's last waking that was seen, the waker's. While an interval of TAP_STATE_WAKING is
 * told: of its first moment. */
struct tap_stack_pair tap_event_stacks_woken(const struct tap_event_stacks *s,
					     const struct tap_task *task);

/* The number of a stack's record, whichever event it belongs to; 0: it has no frames. Return: 0 or
 * -ENOMEM. */
int tap_event_stacks_read(struct tap_event_stacks *s, const struct tap_event *ev, uint32_t *number);

/* Names, innermost first, a newline between them; of 0 none. Borrowed until the next event. */
struct span tap_event_stacks_names(const struct tap_event_stacks *s, uint32_t number);

#endif
