/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Time by stack, one line per stack, as flame graph tools read it: "comm;outermost;...;innermost
 * ns".
 *
 * Off-CPU: time that tasks slept and then waited for a CPU, by the stack with which they went to
 * sleep. The lines add up to the timeline's sleeping, blocked, stopped and waking time. Unknown
 * time that follows such a state has lines of its own, so that these add up too. Preemptions: time
 * preempted, by the stack at the switch, without unknown time. Wakeups: sleeps that a wakeup ended,
 * by the stacks of the sleeper and its waker.
 */
#ifndef TAP_ANALYSIS_FOLDED_H
#define TAP_ANALYSIS_FOLDED_H

#include "base/buf.h"
#include "base/keyed.h"
#include "timeline/run/stacks.h"

enum tap_folded_of { TAP_FOLDED_OFF_CPU, TAP_FOLDED_PREEMPTIONS, TAP_FOLDED_WAKEUPS };

/* Keys are compared as bytes: no padding, and unused members are 0. */
struct tap_folded_key {
	struct tap_folded_who {
		char comm[TAP_TASK_COMM];
		/*
		 * of a task without a name; otherwise 0. For wakers: 0: an interrupt on an idle
		 * CPU; -1: not known
		 */
		int tid;
	} task, waker;
	struct tap_stack_pair stack, waker_stack;
	uint32_t is_unknown; /* bool: the task's state is unknown */
	uint32_t has_waker;
};

struct tap_folded_line {
	struct tap_folded_key key;
	uint64_t ns;
};

struct tap_folded {
	enum tap_folded_of of;
	struct tap_window window;
	const struct tap_event_stacks *stacks; /* borrowed */
	/*
	 * Return true if this task's time on this CPU counts (-1: CPU not known). The CPU is where
	 * the task was switched out; for wakeups, where its waker ran.
	 */
	bool (*picks)(void *ctx, const struct tap_task *task, int cpu);
	void *ctx;
	/*
	 * elements: struct tap_folded_line; after the end: sorted by time, longest first, without
	 * empty ones
	 */
	struct tap_keyed lines;

	/* private */
	struct tap_folded_task *tasks; /* indexed by tap_task.index */
	unsigned int nr_tasks;
};

void tap_folded_release(struct tap_folded *f);

/* ctx: struct tap_folded. Must come after tap_event_stacks_ops with .stacks. */
extern const struct tap_watcher_ops tap_folded_ops;
/* Return the value for the watcher's .states. */
uint32_t tap_folded_states(enum tap_folded_of of);
/* Identify a task by its name, for a frame; also for use in lines of other reports. */
struct tap_folded_who tap_folded_who(const struct tap_task *task);
void tap_folded_put_who(struct tap_buf *out, const struct tap_folded_who *who);
/* Append a line's text, with its newline. */
void tap_folded_put(const struct tap_folded *f, const struct tap_folded_line *line,
		    struct tap_buf *out);

#endif
