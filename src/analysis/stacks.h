/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which stack belongs to which event. A stack's record stands directly behind its event in its CPU's part of a
 * buffer, of the same task: the kernel's first, then the user's. Ours have the event's time as well; ftrace takes the time
 * anew. Kept are, per task, those of its last switch-out and of its last wakeup, until the next ones: for stretches of
 * the timeline, which are told when they are over. What another event or a loss came before is nobody's.
 */
#ifndef TAP_ANALYSIS_STACKS_H
#define TAP_ANALYSIS_STACKS_H

#include "analysis/frames.h"
#include "timeline/timeline.h"

/* Numbers of distinct stacks, from 1 on; 0: there is none, or it could not be read. */
struct tap_stack {
	uint32_t kernel, user;
};

static inline bool tap_stack_is_none(struct tap_stack s)
{
	return !s.kernel && !s.user;
}

/* Of one task. */
struct tap_task_stacks {
	struct tap_stack left, woken;
	uint64_t left_ns, woken_ns; /* when that was; 0: not yet */
	int left_cpu;
};

/* An event that a stack may follow. */
struct tap_stacks_before {
	enum { TAP_STACK_OF_NONE, TAP_STACK_OF_SWITCH, TAP_STACK_OF_WAKEUP } what;
	uint64_t ts_ns;
	int tid; /* of whom the stack is: the current task */
	unsigned int buffer, task; /* .task: whose, by .index */
	bool has_kernel;
};

struct tap_stacks {
	struct tap_frames frames;
	const struct tap_survey *survey; /* borrowed */

	/* inside */
	struct tap_sched_formats formats;
	struct tap_stacks_before *before; /* by CPU */
	unsigned int nr_cpus;
	struct tap_task_stacks *tasks; /* by .index */
	unsigned int nr_tasks;
	struct tap_map by_record; /* of ours: its format and number -> that in .texts */
	struct tap_map by_key; /* of a text -> its number */
	struct tap_buf text; /* of all: names, innermost first, a newline between them */
	struct tap_stack_text {
		size_t at;
		uint32_t len;
	} *texts; /* that of number 1 first */
	unsigned int nr_texts, cap_texts;
};

/* Whether the window has any. */
bool tap_stacks_are_in(const struct tap_survey *s);

/* @info, @survey: borrowed until the release. Return: 0 or -ENOMEM. */
int tap_stacks_init(struct tap_stacks *s, const struct tap_reader_info *info, const struct tap_survey *survey);
void tap_stacks_release(struct tap_stacks *s);

/* Every event and loss, after @timeline has seen it. Return: 0 or -ENOMEM. */
int tap_stacks_event(struct tap_stacks *s, const struct tap_timeline *timeline, const struct tap_event *ev);

/* Of a task's last switch-out, if that was at @ns; else NULL. */
const struct tap_task_stacks *tap_stacks_left(const struct tap_stacks *s, const struct tap_task *task, uint64_t ns);
/* Of the wakeup that @waking, a stretch of TAP_WAKING, began with: the waker's. */
struct tap_stack tap_stacks_woken(const struct tap_stacks *s, const struct tap_stretch *waking);

/* @number: not 0. Names, innermost first, a newline between them; borrowed until the next event. */
struct span tap_stacks_names(const struct tap_stacks *s, uint32_t number);

#endif
