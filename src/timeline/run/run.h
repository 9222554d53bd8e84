/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One reading of a recording for watchers (schedtap/watcher.h): finds the window, surveys it, and
 * feeds the timeline, which calls the watchers.
 */
#ifndef TAP_RUN_RUN_H
#define TAP_RUN_RUN_H

#include "timeline/run/pick.h"
#include "timeline/run/recording.h"
#include "timeline/run/unswitched.h"
#include "timeline/timeline.h"

/* What lies this far before --time is read as well: it tells the states at the window's start. */
#define TAP_RUN_LOOKBACK_NS 100000000u

#define TAP_NR_THROTTLING 3u /* all: nobody is throttled but whom they name */

struct tap_run {
	struct tap_recording rec;
	struct tap_pick pick;
	struct tap_time_option time;
	bool all_tasks; /* no option picks some */
	/* -g picks, or the report's sums are by cgroup: every event that names a task's cgroup is
	 * read */
	bool by_cgroup;
	struct tap_survey survey;
	struct tap_looks looks;
	struct tap_run_life *lives; /* owned; selected.h; by tid, then time */
	unsigned int nr_lives;
	struct tap_timeline *timeline;
	struct tap_window window; /* --time within the recording's own; after tap_run_survey() */
	uint64_t read_from_ns; /* its start, or a little before */
	struct tap_task_name *names; /* by task's index: task_cells.h */
	unsigned int nr_names;
	/* Tasks that may be throttled are marked in labels: set by reports that show waits. */
	bool mark_throttling;
	/* events recorded that tell who is throttled, of TAP_NR_THROTTLING */
	unsigned int nr_throttling;
	bool any_throttling; /* some were */
	struct tap_buf scratch;
};

/*
 * Of a reader that is somebody else's; of one that is opened for the run: tap_run_input()
 * (input.h).
 * @select: NULL: all; it and @reader are borrowed until the close. @window: as typed, or NULL.
 */
int tap_run_borrow(struct tap_run *run, struct tap_reader *reader, const struct tap_select *select,
		   const char *window, const struct tap_listener *listener, struct tap_err *err);
/* The end of both: finds .pick.window. */
int tap_run_find_window(struct tap_run *run, struct tap_err *err);
/* The next: surveys. Refuses stamps that are no time (-ENODATA). */
int tap_run_survey(struct tap_run *run, struct tap_err *err);
/* What must have been recorded. */
enum tap_needs {
	TAP_NEEDS_WAKEUPS = 1,
	TAP_NEEDS_MIGRATIONS = 2,
	TAP_NEEDS_SWITCHES = 4,
	TAP_NEEDS_STACKS = 8,
	TAP_NEEDS_THROTTLING = 16,
};
/* @needs: bits; behind the survey. Return: 0; -ENODATA with a sentence. */
int tap_run_check_needs(const struct tap_run *run, unsigned int needs, struct tap_err *err);
/* Whether it has events of which this is true; behind the survey. */
bool tap_run_has(const struct tap_run *run, bool (*is)(void *ctx, const struct tap_format *fmt),
		 void *ctx);
/*
 * Reads the recording for @nr_watchers watchers, at most TAP_MAX_WATCHERS. It may be read again,
 * then with a new timeline, whose tasks have the same .index. Return: 0; a reader's error; what a
 * watcher returned.
 */
int tap_run_watch(struct tap_run *run, const struct tap_watcher *watchers, unsigned int nr_watchers,
		  struct tap_err *err);
void tap_run_close(struct tap_run *run);
/* Adds notes: with -p and -g, how many tasks are left out because their process or cgroup is not
 * known. */
void tap_run_note_unknown(const struct tap_run *run);

/* labels.h: what is kept per task. */
void tap_task_names_release(struct tap_run *run);
/* Whether the task was in the window, and -p, -t, -c and -g select it (selected.h). @run: fed. */
static inline bool tap_run_has_task(const struct tap_run *run, const struct tap_task *task)
{
	return task->selected && tap_timeline_had(run->timeline, task);
}

/* -C */
static inline bool tap_run_cpu(const struct tap_run *run, int cpu)
{
	return !(run->pick.select->by & TAP_SELECT_CPUS) || tap_select_cpu(run->pick.select, cpu);
}

#endif
