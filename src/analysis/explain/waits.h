/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Follow each wait for a CPU, from a wakeup or from being switched out while runnable until the
 * task runs, and cut it into components (piece.h) by what the task's CPU did (cpu_log.h): the CPU
 * in whose run queue the task is, which a migration changes. A wait is looked at when it ends, when
 * the task migrates, and when a CPU's log is full, so memory does not grow with a wait's length.
 * Most waits are looked at only when they end, and need no memory before.
 *
 * A wait during which the task's state became unknown is reported too if the task runs in the end,
 * with the unknown time as one component: the task may have run and slept in that time. A wait that
 * does not end with the task running is not reported.
 */
#ifndef TAP_EXPLAIN_WAITS_H
#define TAP_EXPLAIN_WAITS_H

#include "base/map.h"
#include "analysis/explain/avoidable.h"
#include "analysis/explain/cpu_log.h"
#include "analysis/explain/picks.h"

/* A wait that is over. Its components add up to its length, and are sorted by their start. */
struct tap_wait_told {
	const struct tap_task *task;
	/*
	 * the state in which it began: TAP_STATE_WAKING, TAP_STATE_PREEMPTED or TAP_STATE_THROTTLED
	 */
	enum tap_state state;
	uint64_t from_ns, to_ns;
	int cpu; /* the CPU that the task runs on now */
	bool whole; /* it is certain that the task neither ran nor slept in between */
	const struct tap_piece *pieces; /* borrowed until .tell returns */
	unsigned int nr_pieces;
	/* private: for tap_explain_waits_take_avoidable() */
	struct tap_explain_wait *wait; /* NULL: it was not looked at before it ended */
	/* start of its time in the last run queue, as far as idle CPUs were not looked for yet */
	uint64_t queued_ns;
};

/* Where sched_ext's BPF scheduler put a task. */
enum tap_scx_place {
	TAP_SCX_LOCAL, /* in its CPU's local queue, or the task is of another class */
	TAP_SCX_SHARED, /* in a dispatch queue from which several CPUs take tasks */
	TAP_SCX_HELD, /* in no queue */
};

struct tap_explain_waits_opts {
	/* do not find out why another fair task was picked */
	bool without_reasons;
	bool asks_avoidable; /* tap_explain_waits_take_avoidable() will be called */
	/*
	 * Return where to split a wait of the task next after @ns, so that no component crosses
	 * that time; UINT64_MAX: nowhere. NULL: waits are not split.
	 */
	uint64_t (*split)(void *ctx, const struct tap_task *task, uint64_t ns);
	uint64_t least_ns; /* shorter waits may be left out */
	/* Called with each wait. A value other than 0 stops the run. */
	int (*tell)(void *ctx, const struct tap_wait_told *w);
	void *ctx;
};

/* The event formats that contribute to waits: sources.c. */
struct tap_explain_sources {
	struct tap_explain_source *v; /* owned; by format */
	unsigned int nr, cap, last;
	int tif; /* the lowest TIF flag with which a CPU was asked to reschedule; 0: none yet */
};

struct tap_explain_waits {
	/* private */
	struct tap_explain_waits_opts opts;
	const struct tap_timeline *timeline; /* as of the last call */
	/*
	 * sched_wakeup was recorded: until then a woken task is in no run queue. Otherwise only a
	 * migration shows when the wakeup placed the task.
	 */
	bool has_placing;
	struct tap_explain_sources sources;
	struct tap_cpu_logs logs;
	/* owned; by CPU: cached components for blocks of its log */
	struct tap_explain_blocks *blocks;
	unsigned int nr_blocks;
	struct tap_avoidable avoidable;
	/* owned, both; the first .nr_waiting are waits that are in progress and were looked at */
	struct tap_explain_wait **waits;
	unsigned int nr_waits, nr_waiting;
	/*
	 * owned; of the timeline's first .nr_seen tasks those that were alive when last looked at
	 */
	struct tap_task **alive;
	unsigned int nr_alive, cap_alive, nr_seen;
	struct tap_map parents; /* a group's number -> that of the group above it */
	struct tap_explain_task *tasks; /* owned; by .index */
	unsigned int nr_tasks;
};

/*
 * ctx: struct tap_explain_waits. With .asks_avoidable the watcher needs intervals of
 * TAP_STATE_RUNNING; otherwise TAP_EXPLAIN_STATES are enough. It must come after
 * tap_event_stacks_ops if .tell uses stacks.
 */
extern const struct tap_watcher_ops tap_explain_waits_ops;
#define TAP_EXPLAIN_STATES                                                                         \
	(TAP_STATE_BIT(TAP_STATE_UNKNOWN) | TAP_STATE_BIT(TAP_STATE_WAKING) |                      \
	 TAP_STATE_BIT(TAP_STATE_PREEMPTED) | TAP_STATE_BIT(TAP_STATE_THROTTLED))

void tap_explain_waits_init(struct tap_explain_waits *w, const struct tap_explain_waits_opts *opts);
void tap_explain_waits_release(struct tap_explain_waits *w);

/*
 * Get how long other CPUs were idle during a wait. Only within .tell, with .asks_avoidable, and
 * once per wait. *@idle is owned by the caller, also on error. Return: 0 or -ENOMEM.
 */
int tap_explain_waits_take_avoidable(struct tap_explain_waits *w, const struct tap_wait_told *ended,
				     struct tap_avoidable_idle *idle);

/* Private: called by the ops. Each of them calls this first. */
void tap_explain_waits_follow(struct tap_explain_waits *w, const struct tap_timeline *t);
/* Return: 0; -ENOMEM; what .tell returned. This also applies to the functions below. */
int tap_explain_waits_interval(void *waits, const struct tap_timeline *t,
			       const struct tap_interval *s);
int tap_explain_waits_cpu(void *waits, const struct tap_timeline *t,
			  const struct tap_cpu_interval *s);
int tap_explain_waits_migration(void *waits, const struct tap_timeline *t,
				const struct tap_migration *m);
int tap_explain_waits_begin(void *waits, const struct tap_timeline *t, struct tap_task *task,
			    uint64_t ts_ns);
/* Events that the timeline does not report. Called after the timeline has processed them. */
/* sched_wakeup: the task is in a run queue. @cpu: the CPU that recorded the event. */
int tap_explain_waits_placed(struct tap_explain_waits *w, const struct tap_task *task,
			     uint64_t ts_ns, int cpu);
int tap_explain_waits_irq(struct tap_explain_waits *w, int cpu, uint64_t ts_ns, bool is_soft,
			  bool begins);
int tap_explain_waits_idle(struct tap_explain_waits *w, int cpu, uint64_t ts_ns, bool enters);
int tap_explain_waits_asked(struct tap_explain_waits *w, int cpu, uint64_t ts_ns,
			    enum tap_asked asked);
int tap_explain_waits_exited(struct tap_explain_waits *w, int cpu, uint64_t ts_ns, bool is_switch);
/* The task waits in @place, or is about to, as its CPU switches at the same time. */
int tap_explain_waits_scx(struct tap_explain_waits *w, const struct tap_task *task, uint64_t ts_ns,
			  enum tap_scx_place place);
/* tap_explain_waits_scx() before the window, for a task that waits when the window begins. */
int tap_explain_waits_scx_early(struct tap_explain_waits *w, const struct tap_task *task,
				enum tap_scx_place place);
/* The task's priority was @old until now. The timeline already has the new one. */
int tap_explain_waits_prio(struct tap_explain_waits *w, const struct tap_task *task, uint64_t ts_ns,
			   int old);
/* sched_pick. Called before the timeline has processed the switch. */
int tap_explain_waits_picked(struct tap_explain_waits *w, const struct tap_sched_pick *picked);

#endif
