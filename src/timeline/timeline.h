/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The scheduler's state over time (schedtap/timeline.h), computed from events and losses in time
 * order. A task that runs on a CPU whose chain of switches is unbroken is certain, whatever was
 * lost elsewhere (survey.h).
 *
 * No I/O, no clock, no globals.
 */
#ifndef TAP_TIMELINE_H
#define TAP_TIMELINE_H

#include <schedtap/watcher.h>
#include <string.h>

#include "base/window.h"
#include "timeline/lists.h"
#include "timeline/promise.h"
#include "timeline/survey.h"

/* Return true if the task is off the run queues until a wakeup. */
static inline bool tap_state_is_sleep(enum tap_state state)
{
	return state == TAP_STATE_SLEEPING || state == TAP_STATE_BLOCKED ||
	       state == TAP_STATE_STOPPED;
}

/* Return true if the task is in a run queue, but not running. */
static inline bool tap_state_is_wait(enum tap_state state)
{
	return state == TAP_STATE_WAKING || state == TAP_STATE_PREEMPTED;
}

/*
 * One task. Its address is stable until tap_timeline_free() or tap_timeline_forget(). A reused tid
 * gets a new task. The idle tasks (tid 0) are not tasks here.
 */
struct tap_task {
	int tid;
	/* 0, 1, 2, ... in order of appearance: an index for the caller's own tables */
	unsigned int index;
	enum tap_state state;
	/*
	 * running: CPU it runs on; runnable: CPU of its run queue; else: CPU it ran on last; -1:
	 * not known
	 */
	int cpu;
	uint64_t since_ns; /* when .state began */
	/* CPU it ran on last; differs from .cpu if it was moved while waiting; -1: not known */
	int run_cpu;
	int from_cpu; /* running: CPU it ran on before; -1: not known */
	int prio; /* as last seen, 0..139; -1: deadline; or TAP_PRIO_UNKNOWN */
	int tgid; /* from its fork or exec event, or else from task lists; 0: not known */
	bool tgid_told, cgroup_told; /* known from events, not from task lists */
	bool selected; /* selected by the user's options (opts.selected) */
	unsigned int cpus; /* its affinity from task lists: see tap_timeline_may_use() */
	/* a task of the same process whose birth was not recorded, or NULL: see tap_task_tgid() */
	const struct tap_task *tgid_of;

	/* within the window */
	uint64_t slices; /* slices that ended in the window */
	uint64_t total_ns[TAP_NR_STATES];
	uint64_t iowait_ns; /* part of the blocked time, if sched_stat_iowait was recorded */
	uint64_t migrations; /* sched_migrate_task events; if not recorded, changes of CPU */
	/* its birth and death; the window's start and UINT64_MAX if not seen */
	uint64_t born_ns, died_ns;

	/* the last wakeup seen; also for the wait that follows it */
	uint64_t woken_ns;
	/*
	 * at its last switch-in: the time since it was put into the CPU's run queue, ns, by the
	 * kernel's account; -1: not known. See tap_interval_queued_ns()
	 */
	int64_t queued_ns;
	int waker_tid; /* -1: not known; 0: an interrupt on an idle CPU */
	int waker_cpu; /* CPU on which the wakeup was recorded */

	/*
	 * as last seen in an event, or else from task lists; not NUL-terminated if TAP_TASK_COMM
	 * bytes long
	 */
	char comm[TAP_TASK_COMM];
	/* kernfs id, from the last event that has it or else from task lists; 0: not known */
	uint64_t cgroup;
};

/*
 * Return true if a task may have been in the run queue for @queued_ns of the last @ns. The run
 * queue's clock is not the recording's, so the time in the queue may seem to be slightly longer.
 */
static inline bool tap_queued_fits(int64_t queued_ns, int64_t ns)
{
	return queued_ns <= ns + ns / 1000 + 1000;
}

/*
 * Return how long a task that was woken waited in the run queue, ns; the rest of the wait passed on
 * the way there. -1: not known, or not a complete wait after a wakeup. Only while a watcher's
 * .interval runs.
 *
 * If the time in the queue is longer than the wait, the kernel counted part of the sleep: its
 * dequeue was delayed, and the task was moved meanwhile (since v6.12).
 */
static inline int64_t tap_interval_queued_ns(const struct tap_interval *s)
{
	int64_t wait_ns = (int64_t)(s->to_ns - s->from_ns), queued_ns = s->task->queued_ns;

	if (s->state != TAP_STATE_WAKING || !s->whole || s->next != TAP_STATE_RUNNING ||
	    !tap_queued_fits(queued_ns, wait_ns))
		return -1;
	return queued_ns < wait_ns ? queued_ns : wait_ns;
}

enum { TAP_CPU_NOT_KNOWN, TAP_CPU_KNOWN, TAP_CPU_KNOWN_UNSEEN };

struct tap_cpu {
	uint64_t run_ns, idle_ns, offline_ns, unknown_ns, outside_ns; /* add up to the window */
	uint64_t switches, breaks; /* within the window */
	uint64_t lost; /* lost events, from losses whose number of events is known */

	/*
	 * something is known of the CPU: an event, a loss, or what it ran before its first switch
	 */
	bool seen;

	/* the current state */
	/* bool, or TAP_CPU_KNOWN_UNSEEN: its task runs since an unknown time before .since_ns */
	uint8_t known;
	bool offline; /* not known, because the CPU is offline */
	bool unfit; /* not known, because its next switch will not fit */
	bool cut; /* not known, because events before its next switch are missing */
	bool outside; /* not known, because its task is not recorded (promise.h) */
	struct tap_task *task; /* if .known: the running task; NULL: idle */
	uint64_t since_ns;
};

static inline enum tap_cpu_what tap_cpu_what(const struct tap_cpu *c)
{
	if (!c->known)
		return c->offline ? TAP_CPU_OFFLINE : TAP_CPU_UNKNOWN;
	return c->task ? TAP_CPU_RUN : TAP_CPU_IDLE;
}

/* The user's selection of tasks and CPUs. A function that is NULL selects everything. */
struct tap_selected {
	/* Called once per task, when it is first seen, at @ns. */
	bool (*task)(void *ctx, const struct tap_task *task, uint64_t ns);
	bool (*cpu)(void *ctx, int cpu);
	void *ctx;
};

struct tap_timeline_opts {
	/* Intervals are counted within it. Earlier events only set the states at its start. */
	struct tap_window window;
	const struct tap_lists *lists; /* task lists saved beside the events; or NULL */
	const struct tap_map *cgroup_paths; /* kernfs id -> const char *; or NULL */
	const struct tap_survey *survey; /* NULL: holes are known only from their end on */
	const struct tap_promise *promise; /* NULL: the recording is unfiltered */
	bool lives_only; /* track only which task has which tid, not states and CPUs */
	bool forgets; /* tap_timeline_forget() will be called */
	/*
	 * sched_throttle is recorded: if events are missing, prev_state R may also mean throttled
	 */
	bool throttling;
	/* number of CPUs of the machine; CPUs without events are unknown; 0: number not known */
	unsigned int nr_cpus;
	const struct tap_watcher *watchers;
	unsigned int nr_watchers;
	struct tap_selected selected; /* applies to watchers with .pick */
};

struct tap_timeline;

/* @opts is copied; what it points to must outlive the timeline. Return: 0 or -ENOMEM. */
int tap_timeline_new(const struct tap_timeline_opts *opts, struct tap_timeline **out);
void tap_timeline_free(struct tap_timeline *t);

/*
 * Return true if the timeline uses events of this kind; others need not be fed. Events that only
 * contain a task's cgroup are frequent, so they are wanted only if @cgroups is set.
 */
bool tap_timeline_wants(const struct tap_format *fmt, bool cgroups);
/*
 * Return true if events of this kind show which task has a tid: births, deaths, names and
 * processes. With .lives_only no others need be fed.
 */
bool tap_timeline_tells_identity(const struct tap_format *fmt);

/*
 * Process the next events, in time order. Events that the timeline does not use are ignored.
 * Return: 0; -ENOMEM; what a watcher returned.
 */
int tap_timeline_events(struct tap_timeline *t, const struct tap_event *const *events,
			unsigned int nr);
static inline int tap_timeline_event(struct tap_timeline *t, const struct tap_event *ev)
{
	return tap_timeline_events(t, &ev, 1);
}
/*
 * The window begins: call before feeding its first event. Applies what the survey knows CPUs to run
 * at that time. Return: 0; -ENOMEM; what a watcher returned.
 */
int tap_timeline_begin(struct tap_timeline *t);
/* Report all open intervals at the window's end. Return: 0; -ENOMEM; what a watcher returned. */
int tap_timeline_end(struct tap_timeline *t);

/*
 * Forget tasks that died before @ns. New tasks reuse their addresses and .index, so a timeline that
 * never ends needs memory only for tasks that are alive.
 * @forget: called for each such task before it is forgotten.
 */
void tap_timeline_forget(struct tap_timeline *t, uint64_t ns,
			 void (*forget)(void *ctx, const struct tap_task *task), void *ctx);

/* These may be called at any time; the totals are complete after tap_timeline_end(). */
struct tap_window tap_timeline_window(const struct tap_timeline *t);
const struct tap_cpu *tap_timeline_cpus(const struct tap_timeline *t, unsigned int *nr);
/* Return the survey of .opts, or NULL. */
const struct tap_survey *tap_timeline_survey(const struct tap_timeline *t);
/*
 * Return true if the user's options select the CPU, or the task with this tid, which the timeline
 * may not have seen yet.
 */
bool tap_timeline_selects_cpu(const struct tap_timeline *t, int cpu);
bool tap_timeline_selects_tid(const struct tap_timeline *t, int tid);
/*
 * Find a task like tap_timeline_task(), but add it if it is not known: it then existed before the
 * window. Return: 0; -ENOMEM. *@out is NULL for invalid tids.
 */
int tap_timeline_see(struct tap_timeline *t, int tid, struct tap_task **out);
/* Set the task's name, until an event changes it. */
void tap_task_rename(struct tap_task *task, const char *comm, size_t len);
/*
 * Append "comm [tid/tgid]", or "comm [tid]" for a process's leader and if the process is not known.
 * The name is escaped.
 */
void tap_task_add_label(struct tap_buf *b, const struct tap_task *task);

/*
 * Return the set of CPUs that the task may use, as far as task lists say so. What held when the
 * recording began and when it ended is assumed to hold in between. *@all: set to true if the task
 * may use all CPUs; the return value is then NULL. Return: the set, borrowed; NULL and *@all false:
 * not known.
 */
const struct tap_cpus *tap_timeline_affinity(const struct tap_timeline *t,
					     const struct tap_task *task, bool *all);
/* Return whether the task may use @cpu. */
enum tap_may { TAP_MAY_UNKNOWN, TAP_MAY, TAP_MAY_NOT };
enum tap_may tap_timeline_may_use(const struct tap_timeline *t, const struct tap_task *task,
				  unsigned int cpu);

/* Return true if the task may run on a CPU that is not recorded. */
bool tap_timeline_roams(const struct tap_timeline *t, const struct tap_task *task);

/*
 * Return true if it is certain, from the events so far, that the task has been in its state since
 * .since_ns.
 */
bool tap_timeline_is_certain(const struct tap_timeline *t, const struct tap_task *task);
/*
 * Return the time until which the task's state is certain, ns; UINT64_MAX: it is certain until now.
 */
uint64_t tap_timeline_sure_until(const struct tap_timeline *t, const struct tap_task *task);
/*
 * Return true if the task lived in the window and some of it was recorded; with .lives_only: true.
 */
bool tap_timeline_had(const struct tap_timeline *t, const struct tap_task *task);
/* Return the length of the task's life within the window, ns: its total_ns add up to it. */
uint64_t tap_task_life_ns(const struct tap_timeline *t, const struct tap_task *task);

#endif
