/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A timeline's watchers (schedtap/watcher.h), sorted by callback and state, and the calls to them.
 */
#ifndef TAP_TIMELINE_WATCHERS_H
#define TAP_TIMELINE_WATCHERS_H

#include "timeline/timeline.h"

/* A watcher's .pick has only the bits for which the user selected something. */
struct tap_watcher_list {
	struct tap_watcher v[TAP_MAX_WATCHERS];
	unsigned int nr;
};

/*
 * Interval callbacks are the most frequent, so what they need is copied here, close together. The
 * last element of a list is all zero.
 */
struct tap_interval_watcher {
	int (*interval)(void *ctx, const struct tap_timeline *t, const struct tap_interval *s);
	void *ctx;
	unsigned int pick; /* 0 if everything is selected */
};

struct tap_watchers {
	/* lists by the state that ends; of_lost_state if the next one is unknown. NULL: empty */
	const struct tap_interval_watcher *of_state[TAP_NR_STATES], *of_lost_state[TAP_NR_STATES];
	struct tap_watcher_list all, of_cpus, of_unknown_cpus, of_early_cpus, of_wakeups,
		of_migrations, of_moves, of_waits;
	struct tap_watcher_list of_early_intervals, of_early_migrations;
	struct tap_selected selected;
	/* storage of the lists of .of_state and .of_lost_state */
	struct tap_interval_watcher lists[2 * TAP_NR_STATES][TAP_MAX_WATCHERS + 1];
};

/*
 * Sort watchers into lists. @v: @nr watchers, at most TAP_MAX_WATCHERS; they must outlive @w. @w
 * must not be moved.
 */
void tap_watchers_init(struct tap_watchers *w, const struct tap_watcher *v, unsigned int nr,
		       const struct tap_selected *selected);

/* Return true if a watcher with this .pick gets the interval. */
bool tap_watchers_pick_interval(const struct tap_watchers *all, unsigned int pick,
				const struct tap_interval *s);

/*
 * Report an interval. @to: an element of .of_state or .of_lost_state, not NULL. Return: 0, or what
 * a watcher returned, like the other functions below that return int.
 */
static inline __attribute__((always_inline)) int
tap_watchers_interval(const struct tap_watchers *all, const struct tap_interval_watcher *to,
		      const struct tap_timeline *t, const struct tap_interval *s)
{
	int ret = 0;

	do
		if (!to->pick || tap_watchers_pick_interval(all, to->pick, s))
			ret = to->interval(to->ctx, t, s);
	while (!ret && (++to)->interval);
	return ret;
}

bool tap_watchers_pick_cpu(const struct tap_watchers *all, unsigned int pick, int cpu);
bool tap_watchers_pick_wakeup(const struct tap_watchers *all, unsigned int pick,
			      const struct tap_wakeup *w);

/*
 * Report an interval of a CPU. @to: .of_cpus; .of_unknown_cpus, which includes the watchers of
 * .of_cpus; or .of_early_cpus, which has other watchers.
 */
static inline int tap_watchers_cpu(const struct tap_watchers *all,
				   const struct tap_watcher_list *to, const struct tap_timeline *t,
				   const struct tap_cpu_interval *s)
{
	int ret = 0;

	for (const struct tap_watcher *w = to->v, *end = w + to->nr; w < end && !ret; w++)
		if (!w->pick || tap_watchers_pick_cpu(all, w->pick, s->cpu))
			ret = w->ops->cpu(w->ctx, t, s);
	return ret;
}

static inline int tap_watchers_wakeup(const struct tap_watchers *all, const struct tap_timeline *t,
				      const struct tap_wakeup *wakeup)
{
	int ret = 0;

	for (const struct tap_watcher *w = all->of_wakeups.v, *end = w + all->of_wakeups.nr;
	     w < end && !ret; w++)
		if (!w->pick || tap_watchers_pick_wakeup(all, w->pick, wakeup))
			ret = w->ops->wakeup(w->ctx, t, wakeup);
	return ret;
}

/* Report what ended before the window to watchers with .early_tasks. */
int tap_watchers_early_interval(const struct tap_watchers *all, const struct tap_timeline *t,
				const struct tap_interval *s);
int tap_watchers_early_migration(const struct tap_watchers *all, const struct tap_timeline *t,
				 const struct tap_migration *m);

int tap_watchers_migration(const struct tap_watchers *all, const struct tap_timeline *t,
			   const struct tap_migration *m);
int tap_watchers_move(const struct tap_watchers *all, const struct tap_timeline *t,
		      const struct tap_migration *m);
int tap_watchers_waits(const struct tap_watchers *all, const struct tap_timeline *t,
		       struct tap_task *task, uint64_t ts_ns);
int tap_watchers_end(const struct tap_watchers *all, const struct tap_timeline *t);

#endif
