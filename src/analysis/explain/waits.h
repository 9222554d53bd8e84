/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Follows every wait for a CPU, from a wakeup or from being switched out while runnable until the
 * task runs, and cuts it into pieces (piece.h) by what its CPU did (cpu_log.h): whose run queue it
 * was in, before and after each move. A wait is looked at when it ends, when it moves, and when
 * some CPU's log is full: so memory does not grow with how long it lasts. Most are looked at when
 * they end alone: nothing is kept of them before.
 *
 * A wait that turned unknown and ended by running is told as well, with the time since as one piece
 * that is unknown: it may have run, and slept, meanwhile. One that did not end by running is not
 * told.
 */
#ifndef TAP_EXPLAIN_WAITS_H
#define TAP_EXPLAIN_WAITS_H

#include "base/map.h"
#include "analysis/explain/avoidable.h"
#include "analysis/explain/cpu_log.h"
#include "analysis/explain/picks.h"

/* A wait that is over. Its pieces add up to it, the one that began first comes first. */
struct tap_wait_told {
	const struct tap_task *task;
	/* that it began in: TAP_STATE_WAKING, TAP_STATE_PREEMPTED or TAP_STATE_THROTTLED */
	enum tap_state state;
	uint64_t from_ns, to_ns;
	int cpu; /* where it runs now */
	bool whole; /* it is certain that it is one wait */
	const struct tap_piece *pieces; /* borrowed */
	unsigned int nr_pieces;
	/* inside: for tap_explain_waits_take_avoidable() */
	struct tap_explain_wait *wait; /* NULL: it was not looked at before */
	/* since when it was in the last run queue, as far as it was not yet asked for */
	uint64_t queued_ns;
};

/* Where a scheduler of sched_ext put a task. */
enum tap_scx_place {
	TAP_SCX_LOCAL, /* in its CPU's queue; or it is of another class */
	TAP_SCX_SHARED, /* in a dispatch queue that several CPUs take tasks from */
	TAP_SCX_HELD, /* in none */
};

struct tap_explain_waits_opts {
	/* of a task that waits in a queue is not asked why another one was picked */
	bool without_reasons;
	bool asks_avoidable; /* tap_explain_waits_take_avoidable() will be called */
	/*
	 * Where a wait of the task is to be split, next behind @ns: no piece reaches across, for
	 * whoever asks for a part of the wait. NULL: nowhere. Return: UINT64_MAX: nowhere.
	 */
	uint64_t (*split)(void *ctx, const struct tap_task *task, uint64_t ns);
	uint64_t least_ns; /* shorter waits need not be told */
	/* Return: 0; what stops. */
	int (*tell)(void *ctx, const struct tap_wait_told *w);
	void *ctx;
};

/* The kinds of events that the waits take: sources.c. */
struct tap_explain_sources {
	struct tap_explain_source *v; /* owned; by kind of event */
	unsigned int nr, cap, last;
	int tif; /* the lowest flag by which a CPU was asked to give way; 0: none yet */
};

struct tap_explain_waits {
	/* inside */
	struct tap_explain_waits_opts opts;
	const struct tap_timeline *timeline; /* of the last call */
	/* sched_wakeup was recorded: what comes before is no queue's; else a move tells so, where
	 * there is one */
	bool has_placing;
	struct tap_explain_sources sources;
	struct tap_cpu_logs logs;
	struct tap_explain_blocks *blocks; /* owned; by CPU: what blocks of its log come to */
	unsigned int nr_blocks;
	struct tap_avoidable avoidable;
	/* owned, both; first those that go on and have been looked at */
	struct tap_explain_wait **waits;
	unsigned int nr_waits, nr_waiting;
	/* owned; those of the timeline's first .nr_seen tasks that were so at the last look */
	struct tap_task **alive;
	unsigned int nr_alive, cap_alive, nr_seen;
	struct tap_map parents; /* of groups, by the group that is in it */
	struct tap_explain_task *tasks; /* owned; by index */
	unsigned int nr_tasks;
};

/*
 * ctx: struct tap_explain_waits. With .asks_avoidable intervals of TAP_STATE_RUNNING are wanted,
 * otherwise TAP_EXPLAIN_STATES are enough. Comes after tap_event_stacks_ops if .tell asks for
 * stacks.
 */
extern const struct tap_watcher_ops tap_explain_waits_ops;
#define TAP_EXPLAIN_STATES                                                                         \
	(TAP_STATE_BIT(TAP_STATE_UNKNOWN) | TAP_STATE_BIT(TAP_STATE_WAKING) |                      \
	 TAP_STATE_BIT(TAP_STATE_PREEMPTED) | TAP_STATE_BIT(TAP_STATE_THROTTLED))

void tap_explain_waits_init(struct tap_explain_waits *w, const struct tap_explain_waits_opts *opts);
void tap_explain_waits_release(struct tap_explain_waits *w);

/*
 * While a wait is told, with .asks_avoidable, once: for how long other CPUs were idle meanwhile,
 * which is the caller's then. Return: 0 or -ENOMEM.
 */
int tap_explain_waits_take_avoidable(struct tap_explain_waits *w, const struct tap_wait_told *told,
				     struct tap_avoidable_idle *idle);

/* Inside: what the ops call. First of all, in each call: */
void tap_explain_waits_follow(struct tap_explain_waits *w, const struct tap_timeline *t);
/* Return: 0; -ENOMEM; what .tell returned: here and below. */
int tap_explain_waits_interval(void *waits, const struct tap_timeline *t,
			       const struct tap_interval *s);
int tap_explain_waits_cpu(void *waits, const struct tap_timeline *t,
			  const struct tap_cpu_interval *s);
int tap_explain_waits_migration(void *waits, const struct tap_timeline *t,
				const struct tap_migration *m);
int tap_explain_waits_begin(void *waits, const struct tap_timeline *t, struct tap_task *task,
			    uint64_t ts_ns);
/* Events that the timeline does not tell of, after it has seen them. */
/* @cpu: which did it. */
int tap_explain_waits_placed(struct tap_explain_waits *w, const struct tap_task *task,
			     uint64_t ts_ns, int cpu);
int tap_explain_waits_irq(struct tap_explain_waits *w, int cpu, uint64_t ts_ns, bool is_soft,
			  bool begins);
int tap_explain_waits_idle(struct tap_explain_waits *w, int cpu, uint64_t ts_ns, bool enters);
int tap_explain_waits_asked(struct tap_explain_waits *w, int cpu, uint64_t ts_ns,
			    enum tap_asked asked);
int tap_explain_waits_exited(struct tap_explain_waits *w, int cpu, uint64_t ts_ns, bool is_switch);
/* The task waits there, or is about to as its CPU switches at the same time. */
int tap_explain_waits_scx(struct tap_explain_waits *w, const struct tap_task *task, uint64_t ts_ns,
			  enum tap_scx_place place);
/* The same before the window, of a task that waits when it begins. */
int tap_explain_waits_scx_early(struct tap_explain_waits *w, const struct tap_task *task,
				enum tap_scx_place place);
/* The task has another priority than @old from here on, which the timeline knows. */
int tap_explain_waits_prio(struct tap_explain_waits *w, const struct tap_task *task, uint64_t ts_ns,
			   int old);
/* Before the timeline sees the switch. */
int tap_explain_waits_picked(struct tap_explain_waits *w, const struct tap_sched_pick *picked);

#endif
