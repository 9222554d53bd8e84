/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Watchers: each analysis of a recording is a watcher. While tap_run() reads a recording, its
 * timeline calls the functions of every watcher in time order. Several watchers share one reading
 * of the recording.
 */
#ifndef SCHEDTAP_WATCHER_H
#define SCHEDTAP_WATCHER_H

#include <schedtap/event.h>
#include <schedtap/timeline.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * struct tap_watcher_ops - The callbacks of a watcher, and what they are called for. Each function
 * may be NULL.
 *
 * All functions get the watcher's .ctx, and the timeline as it is at that moment. A function that
 * returns anything but 0 stops the run, which returns that value. Calls come in time order of
 * .to_ns and .ts_ns, except for an interval with .late. Nothing from before the window is reported,
 * except with .early and .early_tasks. At the window's end each interval that is still open is
 * reported, with .next == .state.
 */
struct tap_watcher_ops {
	size_t size; /* sizeof(struct tap_watcher_ops), for tap_run() */
	uint32_t states; /* TAP_STATE_BIT()s: .interval is called for intervals in these states */
	/* .interval is also called for intervals in these states if .next is TAP_STATE_UNKNOWN */
	uint32_t lost_states;
	/* .cpu is called only for intervals in which a CPU was offline or unknown */
	bool unknown_cpus_only;
	/*
	 * .before, .event and .cpu are also called for the time before the window, up to 100 ms
	 * earlier
	 */
	bool early;
	bool early_tasks; /* .interval and .migration are also called for that earlier time */
	/*
	 * If the recording has no sched_migrate_task, .migration is called when a task runs on
	 * another CPU than before
	 */
	bool moves;
	/*
	 * The window begins. Tasks and CPUs are as they were just before it; no event of the window
	 * has been processed.
	 */
	int (*begin)(void *ctx, const struct tap_timeline *t);
	/* A task left a state. */
	int (*interval)(void *ctx, const struct tap_timeline *t, const struct tap_interval *s);
	/* A CPU stopped running a task or being idle, offline or unknown. */
	int (*cpu)(void *ctx, const struct tap_timeline *t, const struct tap_cpu_interval *s);
	int (*wakeup)(void *ctx, const struct tap_timeline *t, const struct tap_wakeup *w);
	int (*migration)(void *ctx, const struct tap_timeline *t, const struct tap_migration *m);
	/*
	 * A task began to wait without leaving another state first: by its first wakeup after the
	 * fork, or by a wakeup that came just before it went to sleep. The task already has its new
	 * state. A wakeup just before a sleep is noticed later, at @ts_ns, which may be as late as
	 * when the task runs again.
	 */
	int (*waits)(void *ctx, const struct tap_timeline *t, struct tap_task *task,
		     uint64_t ts_ns);
	/*
	 * Return true if .before and .event are to be called for events of this format. @fmt: NULL
	 * asks about lost events.
	 */
	bool (*wants)(void *ctx, const struct tap_format *fmt);
	/* Called before the timeline processes the event. */
	int (*before)(void *ctx, const struct tap_timeline *t, const struct tap_event *ev);
	/* Called after the timeline has processed the event. */
	int (*event)(void *ctx, const struct tap_timeline *t, const struct tap_event *ev);
	/* The window is over, and everything has been reported. */
	int (*end)(void *ctx, const struct tap_timeline *t);
};

/* Selects what a watcher is not called for. */
enum tap_watcher_pick {
	/* no calls for intervals, wakeups and migrations of tasks that the user did not select */
	TAP_PICK_TASKS = 1,
	/*
	 * No calls for intervals of CPUs that the user did not select, for wakeups that such a CPU
	 * performed, for migrations between two such CPUs, and for a task's intervals that ended on
	 * such a CPU. The CPU of a task's interval is the one it runs on next, or else the one it
	 * was on.
	 */
	TAP_PICK_CPUS = 2,
};

/* struct tap_watcher - One watcher of a run. */
struct tap_watcher {
	const struct tap_watcher_ops *ops;
	void *ctx;
	uint32_t states; /* subset of ops->states to report; 0: all of them */
	/* enum tap_watcher_pick bits; 0: it is called for everything, whatever the user selected */
	unsigned int pick;
};

#define TAP_MAX_WATCHERS 15 /* limit for one run */

#ifdef __cplusplus
}
#endif
#endif
