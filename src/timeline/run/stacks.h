/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Find the event that a stack belongs to. A stack record directly follows its event in the CPU's
 * buffer and is of the same task: first the kernel stack, then the user stack. In schedtap's
 * records it has the event's time stamp; in ftrace's it has a later one.
 *
 * For each task the stacks of its last switch-out and of its last wakeup are kept until the next
 * such event, for intervals, which the timeline reports when they end. A stack after any other
 * event, or after a loss, is dropped.
 */
#ifndef TAP_ANALYSIS_STACKS_H
#define TAP_ANALYSIS_STACKS_H

#include <schedtap/reader.h>

#include "event/span.h"
#include "timeline/timeline.h"

/* Numbers of distinct stacks, from 1; 0: no stack, or it could not be read. */
struct tap_stack_pair {
	uint32_t kernel, user;
};

static inline bool tap_stack_pair_is_none(struct tap_stack_pair s)
{
	return !s.kernel && !s.user;
}

/* The stacks of one task. */
struct tap_task_stacks {
	struct tap_stack_pair left, woken;
	uint64_t left_ns; /* time of the switch-out that .left belongs to; 0: none yet */
	int left_cpu;
};

struct tap_event_stacks;

/* Return true if the surveyed window has stacks. */
bool tap_event_stacks_are_in(const struct tap_survey *s);
/*
 * Return how long after its event a stack may come, in ns. 0 for schedtap's, which have the event's
 * time stamp.
 */
uint64_t tap_event_stacks_within_ns(const struct tap_survey *s);

/* @info, @survey: borrowed until the free. Return: 0 or -ENOMEM. */
int tap_event_stacks_new(const struct tap_reader_info *info, const struct tap_survey *survey,
			 struct tap_event_stacks **out);
void tap_event_stacks_free(struct tap_event_stacks *s);

/* ctx: struct tap_event_stacks. This watcher must come before the watchers that ask for stacks. */
extern const struct tap_watcher_ops tap_event_stacks_ops;

/* Return the stacks of the task's last switch-out if that was at @ns, else NULL. */
const struct tap_task_stacks *tap_event_stacks_left(const struct tap_event_stacks *s,
						    const struct tap_task *task, uint64_t ns);
/*
 * Return the waker's stacks at the task's last wakeup. While an interval of TAP_STATE_WAKING is
 * being reported, that is the wakeup that began it.
 */
struct tap_stack_pair tap_event_stacks_woken(const struct tap_event_stacks *s,
					     const struct tap_task *task);

/*
 * Number a stack record, whatever event it belongs to. *@number: 0: it has no frames. Return: 0 or
 * -ENOMEM.
 */
int tap_event_stacks_read(struct tap_event_stacks *s, const struct tap_event *ev, uint32_t *number);

/*
 * Return the frames' names, innermost first, separated by newlines; empty for @number 0. Borrowed
 * until the next event.
 */
struct span tap_event_stacks_names(const struct tap_event_stacks *s, uint32_t number);

#endif
