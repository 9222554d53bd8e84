/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Time by stack, one line for each, as flame graph tools read it: "comm;outermost;...;innermost
 * ns".
 *
 * Off-CPU: what tasks spent asleep and then waiting for a CPU, by the stack with which they went to
 * sleep: so it adds up to the timeline's sleeping, blocked, stopped and waking. What is unknown
 * there is in lines of its own, so that this adds up as well. Preemptions: preempted, likewise,
 * without what is unknown. Wakeups: each sleep that a wakeup ended, by the sleeper's stack and the
 * waker's.
 */
#ifndef TAP_ANALYSIS_FOLDED_H
#define TAP_ANALYSIS_FOLDED_H

#include "base/buf.h"
#include "base/keyed.h"
#include "timeline/run/stacks.h"

enum tap_folded_of { TAP_FOLDED_OFF_CPU, TAP_FOLDED_PREEMPTIONS, TAP_FOLDED_WAKEUPS };

/* Without padding, and what is not used is 0: compared as bytes. */
struct tap_folded_key {
	struct tap_folded_who {
		char comm[TAP_TASK_COMM];
		/* of who has no name; else 0. Of a waker 0 is an interrupt on an idle CPU, -1 not
		 * known */
		int tid;
	} task, waker;
	struct tap_stack_pair stack, waker_stack;
	uint32_t is_unknown; /* the task's state is */
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
	 * Whether time of this task counts that is of this CPU (-1: not known): the one where it
	 * was switched out; of wakeups the one where its waker ran.
	 */
	bool (*picks)(void *ctx, const struct tap_task *task, int cpu);
	void *ctx;
	/* of struct tap_folded_line; after the end: most time first, and none is empty */
	struct tap_keyed lines;

	/* inside */
	struct tap_folded_task *tasks; /* by .index */
	unsigned int nr_tasks;
};

void tap_folded_release(struct tap_folded *f);

/* ctx: struct tap_folded. Comes after tap_event_stacks_ops with .stacks. */
extern const struct tap_watcher_ops tap_folded_ops;
/* The watcher's .states. */
uint32_t tap_folded_states(enum tap_folded_of of);
/* By name, as a frame: also of other lines. */
struct tap_folded_who tap_folded_who(const struct tap_task *task);
void tap_folded_put_who(struct tap_buf *out, const struct tap_folded_who *who);
/* Adds a line's text, with its newline. */
void tap_folded_put(const struct tap_folded *f, const struct tap_folded_line *line,
		    struct tap_buf *out);

#endif
