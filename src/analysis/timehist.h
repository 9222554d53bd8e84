/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Every slice of every task, with the waits before it: as rows that are reported as they become
 * known, in the order in which they end. Unknown time of CPUs, losses, wakeups, migrations and
 * requested events have rows of their own. A row is not kept; only each task's current wait is.
 *
 * A task's wait is the time since its last slice, by state. Each instant counts once.
 */
#ifndef TAP_ANALYSIS_TIMEHIST_H
#define TAP_ANALYSIS_TIMEHIST_H

#include "timeline/timeline.h"

enum tap_row_what {
	TAP_ROW_SLICE, /* a task ran */
	TAP_ROW_UNKNOWN, /* what the CPU did is unknown */
	TAP_ROW_LOST, /* events were lost */
	TAP_ROW_WAKEUP, /* an instant: .from_ns == .to_ns */
	TAP_ROW_MIGRATION, /* an instant */
	TAP_ROW_EVENT, /* an instant: an event given to tap_timehist_show() */
};

/* Utilisation values, 0..1024; -1: not known. */
struct tap_row_util {
	int util, util_est;
};

struct tap_row {
	enum tap_row_what what;
	uint64_t from_ns, to_ns;
	int cpu; /* CPU of the row; -1: not known */
	/* the task that ran, was woken, was moved, or was current at the event; or NULL */
	const struct tap_task *task;
	/*
	 * slice: waker of the wait before it, see struct tap_task; wakeup: -1: not known or not a
	 * task
	 */
	int waker_tid;
	int from_cpu; /* CPU the task ran on before; -1: not known */
	int to_cpu; /* TAP_ROW_MIGRATION: destination CPU; otherwise -1 */
	bool is_off; /* TAP_ROW_LOST: triggers had switched events off */
	uint64_t lost_cnt; /* TAP_ROW_LOST: number of lost events; 0: not known */

	/* only TAP_ROW_EVENT */
	const struct tap_event *event; /* borrowed until .row returns; NULL in other rows */
	int tid; /* tid of the current task, even if .task is NULL; 0: idle; -1: not known */

	/* only TAP_ROW_SLICE */
	uint64_t wait_ns[TAP_NR_STATES];
	bool waits_known; /* false: a wait began before the window, so 0 in .wait_ns may be wrong */
	bool whole; /* false: the task ran, or may have run, longer than [from_ns, to_ns] */
	const char *end; /* prev_state as the recording prints it, or "" */
	struct tap_row_util start_util, end_util;
};

struct tap_timehist {
	struct tap_window window;
	const struct tap_survey *survey; /* borrowed */
	/* called for each row; a value other than 0 stops the run */
	int (*row)(void *ctx, const struct tap_row *row);
	void *ctx;

	/* private */
	struct tap_timehist_task *tasks; /* by .index */
	unsigned int nr_tasks, next_loss;
};

/*
 * ctx: struct tap_timehist. The first watcher reports slices, unknown time and losses; for slices
 * without waits, TAP_STATE_RUNNING suffices as its .states. The next two report rows of their own.
 * The last one adds tasks' utilisation to slices.
 */
extern const struct tap_watcher_ops tap_timehist_ops, tap_timehist_wakeups_ops,
	tap_timehist_migrations_ops, tap_timehist_util_ops;

void tap_timehist_release(struct tap_timehist *h);

/* Report a row for this event; call from a watcher's .event. Return: 0; what .row returned. */
int tap_timehist_show(struct tap_timehist *h, const struct tap_timeline *timeline,
		      const struct tap_event *ev);

/* Sums over a task's rows. */
struct tap_slices {
	const struct tap_task *task; /* NULL: the task has no rows */
	uint64_t run_ns; /* within the window */
	uint64_t slices; /* whole slices; the next three members are about these */
	uint64_t min_ns, max_ns, sum_ns;
	uint64_t censored; /* slices that are not whole */
};

struct tap_slices_sum {
	struct tap_slices *tasks; /* owned; by .index until they are sorted */
	unsigned int nr;
};

/*
 * Add a slice; other rows are ignored. @start_ns: the window's start: .run_ns counts from there on.
 * Return: 0 or -ENOMEM.
 */
int tap_slices_add(struct tap_slices_sum *sum, const struct tap_row *row, uint64_t start_ns);
/* Remove tasks without rows and sort by .run_ns, highest first. */
void tap_slices_sort(struct tap_slices_sum *sum);
void tap_slices_release(struct tap_slices_sum *sum);

#endif
