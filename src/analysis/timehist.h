/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Every slice of every task, with the waits before it: rows as they become known, in the order
 * in which they end. What CPUs did that nobody knows, losses, wakeups, migrations and events that
 * were asked for are rows of their own. A row is told and forgotten; of a task only its current
 * wait is kept.
 *
 * A task's wait is the time since its last slice, by kind. Each instant counts once.
 */
#ifndef TAP_ANALYSIS_TIMEHIST_H
#define TAP_ANALYSIS_TIMEHIST_H

#include "timeline/timeline.h"

enum tap_row_what {
	TAP_ROW_SLICE, /* a task ran */
	TAP_ROW_UNKNOWN, /* nobody knows what the CPU did */
	TAP_ROW_LOST, /* events were lost */
	TAP_ROW_WAKEUP, /* a moment: .from_ns == .to_ns */
	TAP_ROW_MIGRATION, /* a moment */
	TAP_ROW_EVENT, /* a moment: what tap_timehist_show() was given */
};

/* 0..1024; -1: not known */
struct tap_row_util {
	int util, util_est;
};

struct tap_row {
	enum tap_row_what what;
	uint64_t from_ns, to_ns;
	int cpu; /* where it was; -1: not known */
	/* who ran, was woken, was moved, or ran when the event came; or NULL */
	const struct tap_task *task;
	/* of the wait before a slice, as in struct tap_task; of a wakeup: -1 is not known, or
	 * no task */
	int waker_tid;
	int from_cpu; /* where the task ran before; -1: not known */
	int to_cpu; /* TAP_ROW_MIGRATION; else -1 */
	bool is_off; /* TAP_ROW_LOST: triggers had switched them off */
	uint64_t lost_cnt; /* TAP_ROW_LOST; 0: not known how many */

	/* TAP_ROW_EVENT */
	const struct tap_event *event; /* borrowed until .row returns; else NULL */
	int tid; /* of .task, also where that is NULL; 0: idle; -1: not known */

	/* TAP_ROW_SLICE */
	uint64_t wait_ns[TAP_NR_STATES];
	bool waits_known; /* else a wait began before the window: 0 may be wrong */
	bool whole; /* else it ran longer than [from_ns, to_ns], or may have */
	const char *end; /* state as the recording prints it, or "" */
	struct tap_row_util start_util, end_util;
};

struct tap_timehist {
	struct tap_window window;
	const struct tap_survey *survey; /* borrowed */
	int (*row)(void *ctx, const struct tap_row *row); /* what it returns stops, if not 0 */
	void *ctx;

	/* inside */
	struct tap_timehist_task *tasks; /* by .index */
	unsigned int nr_tasks, next_loss;
};

/*
 * ctx: struct tap_timehist. The first has slices, unknown time and losses; for slices without waits
 * TAP_STATE_RUNNING is enough of its states. The others have rows of their own, but for the last:
 * it gives slices their tasks' utilisation.
 */
extern const struct tap_watcher_ops tap_timehist_ops, tap_timehist_wakeups_ops,
	tap_timehist_migrations_ops, tap_timehist_util_ops;

void tap_timehist_release(struct tap_timehist *h);

/* Add a row for this event, from a watcher's .event. Return: 0; what .row returned. */
int tap_timehist_show(struct tap_timehist *h, const struct tap_timeline *timeline,
		      const struct tap_event *ev);

/* What a task's rows add up to. */
struct tap_slices {
	const struct tap_task *task; /* NULL: it has none */
	uint64_t run_ns; /* within the window */
	uint64_t slices; /* whole ones: what the three below are about */
	uint64_t min_ns, max_ns, sum_ns;
	uint64_t censored; /* slices that are not whole */
};

struct tap_slices_sum {
	struct tap_slices *tasks; /* owned; by .index until they are sorted */
	unsigned int nr;
};

/* Takes slices in; other rows are passed over. Return: 0 or -ENOMEM. */
int tap_slices_add(struct tap_slices_sum *sum, const struct tap_row *row, uint64_t start_ns);
/* Leaves out who has none, and puts who ran most first. */
void tap_slices_sort(struct tap_slices_sum *sum);
void tap_slices_release(struct tap_slices_sum *sum);

#endif
