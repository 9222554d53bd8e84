/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One reading of a recording for watchers (schedtap/watcher.h): find the window, survey it, and
 * feed the timeline, which calls the watchers.
 */
#ifndef TAP_RUN_RUN_H
#define TAP_RUN_RUN_H

#include "timeline/run/pick.h"
#include "timeline/run/recording.h"
#include "timeline/run/unswitched.h"
#include "timeline/timeline.h"

/* Events from this long before --time are read too, to know the states at the window's start. */
#define TAP_RUN_LOOKBACK_NS 100000000u

/* Event types about throttling. If all are recorded, only tasks that they name were throttled. */
#define TAP_NR_THROTTLING 3u

struct tap_run {
	struct tap_recording rec;
	struct tap_pick pick;
	struct tap_time_option time;
	bool all_tasks; /* -p, -t, -c and -g are not used */
	/*
	 * -g is used, or the report has sums by cgroup: read every event that names a task's cgroup
	 */
	bool by_cgroup;
	struct tap_survey survey;
	struct tap_looks looks;
	struct tap_run_life *lives; /* owned; sorted by tid, then time; see selected.h */
	unsigned int nr_lives;
	struct tap_timeline *timeline;
	/* --time, limited to the recording's own window; set by tap_run_survey() */
	struct tap_window window;
	uint64_t read_from_ns; /* start of .window, or up to TAP_RUN_LOOKBACK_NS before */
	struct tap_task_name *names; /* by the task's .index: labels.h */
	unsigned int nr_names;
	/* Mark tasks that may be throttled in labels: set by reports that show waits. */
	bool mark_throttling;
	/* the number of event types about throttling in the recording, 0..TAP_NR_THROTTLING */
	unsigned int nr_throttling;
	bool any_throttling; /* a label was marked so */
	struct tap_buf scratch;
};

/*
 * Prepare a run with a reader that the caller owns. To open a file for the run, use tap_run_input()
 * (input.h). @select: NULL: everything. It and @reader are borrowed until the close. @window:
 * --time as typed, or NULL. Return: 0; -errno with a sentence. The caller closes @run in either
 * case.
 */
int tap_run_borrow(struct tap_run *run, struct tap_reader *reader, const struct tap_select *select,
		   const char *window, const struct tap_listener *listener, struct tap_err *err);
/* Set .pick.window from --time; tap_run_borrow() and tap_run_input() call it last. */
int tap_run_find_window(struct tap_run *run, struct tap_err *err);
/*
 * The next step after opening: survey the recording. Return: 0; -ENODATA: time stamps are not in
 * ns, or --time lies outside the recording; an error of the reader; -ENOMEM.
 */
int tap_run_survey(struct tap_run *run, struct tap_err *err);
/* Events that a report needs. */
enum tap_needs {
	TAP_NEEDS_WAKEUPS = 1,
	TAP_NEEDS_MIGRATIONS = 2,
	TAP_NEEDS_SWITCHES = 4,
	TAP_NEEDS_STACKS = 8,
	TAP_NEEDS_THROTTLING = 16,
};
/* @needs: bits. Call after the survey. Return: 0; -ENODATA with a sentence. */
int tap_run_check_needs(const struct tap_run *run, unsigned int needs, struct tap_err *err);
/* Return true if the recording has events for which @is returns true. Call after the survey. */
bool tap_run_has(const struct tap_run *run, bool (*is)(void *ctx, const struct tap_format *fmt),
		 void *ctx);
/*
 * Read the recording for @nr_watchers watchers, at most TAP_MAX_WATCHERS. It may be called again;
 * each call makes a new timeline, whose tasks have the same .index. Return: 0; an error of the
 * reader; what a watcher returned.
 */
int tap_run_watch(struct tap_run *run, const struct tap_watcher *watchers, unsigned int nr_watchers,
		  struct tap_err *err);
void tap_run_close(struct tap_run *run);
/*
 * With -p and -g, send notes with the number of tasks that are left out because their process or
 * cgroup is unknown.
 */
void tap_run_note_unknown(const struct tap_run *run);

/* Free the labels (labels.h). */
void tap_task_names_release(struct tap_run *run);
/*
 * Return true if the task was in the window and -p, -t, -c and -g select it (selected.h). Call
 * after tap_run_watch().
 */
static inline bool tap_run_has_task(const struct tap_run *run, const struct tap_task *task)
{
	return task->selected && tap_timeline_had(run->timeline, task);
}

/* Return true if -C selects the CPU. */
static inline bool tap_run_cpu(const struct tap_run *run, int cpu)
{
	return !(run->pick.select->by & TAP_SELECT_CPUS) || tap_select_cpu(run->pick.select, cpu);
}

#endif
