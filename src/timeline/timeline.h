/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The scheduler's state over time (schedtap/timeline.h), fed events and losses in time order. A
 * task that runs on a CPU whose chain holds is certain, whatever was lost elsewhere (survey.h).
 *
 * No I/O, no clock, no globals.
 */
#ifndef TAP_TIMELINE_H
#define TAP_TIMELINE_H

#include <schedtap/watcher.h>

#include "base/window.h"
#include "timeline/lists.h"
#include "timeline/promise.h"
#include "timeline/survey.h"

/* Off the run queues, until a wakeup. */
static inline bool tap_state_is_sleep(enum tap_state state)
{
	return state == TAP_STATE_SLEEPING || state == TAP_STATE_BLOCKED ||
	       state == TAP_STATE_STOPPED;
}

/* In a run queue, and not running. */
static inline bool tap_state_is_wait(enum tap_state state)
{
	return state == TAP_STATE_WAKING || state == TAP_STATE_PREEMPTED;
}

/* One task. Its address stays the same until tap_timeline_free(), or tap_timeline_forget(). A tid
 * that was given out again is a task of its own. The idle tasks (tid 0) are none. */
struct tap_task {
	int tid;
	unsigned int index; /* 0, 1, 2, ... in the order of appearance: for tables beside this */
	enum tap_state state;
	int cpu; /* running: where; runnable: in whose run queue; else where it ran last; -1 */
	uint64_t since_ns; /* of state */
	int run_cpu; /* where it last ran: differs from .cpu in a wait that was moved; -1 */
	int from_cpu; /* running: where it ran before that; -1 */
	int prio; /* as last seen, 0..139, -1: deadline, TAP_PRIO_UNKNOWN */
	int tgid; /* as its birth or an exec tells, else lists that speak of it; 0: not known */
	bool tgid_told, cgroup_told; /* by events; not from lists */
	bool selected; /* by the user's options (opts.selected) */
	unsigned int cpus; /* that it may use, as listed: tap_timeline_may_use() */
	/* who has the same, and was born unseen; or NULL: see tap_task_tgid() */
	const struct tap_task *tgid_of;

	/* within the window */
	uint64_t slices; /* that ended in the window */
	uint64_t total_ns[TAP_NR_STATES];
	uint64_t iowait_ns; /* part of blocked, where sched_stat_iowait was recorded */
	uint64_t migrations; /* sched_migrate_task; where that was not recorded: changes of CPU */
	uint64_t born_ns, died_ns; /* its life; the window's borders where they were not seen */

	/* of the last wakeup that was seen; for the wait that follows it */
	uint64_t woken_ns;
	int waker_tid; /* -1: not known; 0: an interrupt on an idle CPU */
	int waker_cpu; /* where the wakeup was seen */

	/* the last one seen, else as listed; not NUL-terminated when full */
	char comm[TAP_TASK_COMM];
	uint64_t cgroup; /* kernfs id; as its last event tells, else as listed; 0: not known */
};

enum { TAP_CPU_NOT_KNOWN, TAP_CPU_KNOWN, TAP_CPU_KNOWN_UNSEEN };

struct tap_cpu {
	uint64_t run_ns, idle_ns, offline_ns, unknown_ns, outside_ns; /* add up to the window */
	uint64_t switches, breaks; /* within the window */
	uint64_t lost; /* events; of losses that tell how many */

	/* something tells of it: an event of tasks, a loss, or what it ran at the recording's start
	 */
	bool seen;

	/* now */
	uint8_t known; /* TAP_CPU_KNOWN_UNSEEN: what it runs began before .since_ns, unseen */
	bool offline; /* not known, for it is not there */
	bool unfit; /* not known, for its next switch will not fit */
	bool cut; /* not known: events are missing before its next switch */
	bool outside; /* not known: what it runs is not recorded (promise.h) */
	struct tap_task *task; /* what runs, if known; NULL: idle */
	uint64_t since_ns;
};

static inline enum tap_cpu_what tap_cpu_what(const struct tap_cpu *c)
{
	if (!c->known)
		return c->offline ? TAP_CPU_OFFLINE : TAP_CPU_UNKNOWN;
	return c->task ? TAP_CPU_RUN : TAP_CPU_IDLE;
}

/* What a user's options select. A function that is NULL selects everything. */
struct tap_selected {
	/* Asked once, when the task is first seen, at @ns. */
	bool (*task)(void *ctx, const struct tap_task *task, uint64_t ns);
	bool (*cpu)(void *ctx, int cpu);
	void *ctx;
};

struct tap_timeline_opts {
	/* Intervals are counted within it. What is fed before it tells the states at its start. */
	struct tap_window window;
	const struct tap_lists *lists; /* of tasks, beside the events; or NULL */
	const struct tap_map *cgroup_paths; /* kernfs id -> const char *; or NULL */
	const struct tap_survey *survey; /* NULL: holes are known only once they are seen */
	const struct tap_promise *promise; /* NULL: the recording has all of everybody */
	bool lives_only; /* who has which tid, and nothing of states and CPUs */
	bool forgets; /* tap_timeline_forget() will be called */
	bool throttling; /* sched_throttle is recorded: where it is missing, R says less */
	unsigned int nr_cpus; /* of the machine: those without events are unknown; 0: not known */
	const struct tap_watcher *watchers;
	unsigned int nr_watchers;
	struct tap_selected selected; /* for watchers with .pick */
};

struct tap_timeline;

/* @opts is copied; what it points to must outlive the timeline. Return: 0 or -ENOMEM. */
int tap_timeline_new(const struct tap_timeline_opts *opts, struct tap_timeline **out);
void tap_timeline_free(struct tap_timeline *t);

/*
 * Whether the timeline has a use for events of this kind: others need not be fed. Those that tell
 * of nothing but a task's cgroup are many: they are wanted only where @cgroups are.
 */
bool tap_timeline_wants(const struct tap_format *fmt, bool cgroups);
/* Whether they tell who has a tid: its lives, names and processes. For .lives_only no others need
 * be fed. */
bool tap_timeline_tells_identity(const struct tap_format *fmt);

/*
 * @events: the next ones, in time order. Those that it has no use for are ignored.
 * Return: 0; -ENOMEM; what a watcher returned.
 */
int tap_timeline_events(struct tap_timeline *t, const struct tap_event *const *events,
			unsigned int nr);
static inline int tap_timeline_event(struct tap_timeline *t, const struct tap_event *ev)
{
	return tap_timeline_events(t, &ev, 1);
}
/* The window begins, no event of it was fed yet: what CPUs run is known by what the survey found.
 * Return: as above. */
int tap_timeline_begin(struct tap_timeline *t);
/* Closes all that is open at the window's end. Return: as above. */
int tap_timeline_end(struct tap_timeline *t);

/*
 * Forgets the tasks that have been dead since before @ns: what comes then has their addresses and
 * .index again, so that a timeline that never ends keeps no more than those that are alive.
 * @forget: called of each, before.
 */
void tap_timeline_forget(struct tap_timeline *t, uint64_t ns,
			 void (*forget)(void *ctx, const struct tap_task *task), void *ctx);

/* At any time; the totals are complete after tap_timeline_end(). */
struct tap_window tap_timeline_window(const struct tap_timeline *t);
const struct tap_cpu *tap_timeline_cpus(const struct tap_timeline *t, unsigned int *nr);
/* What the survey found, or NULL. */
const struct tap_survey *tap_timeline_survey(const struct tap_timeline *t);
/* Whether the user's options select the CPU, or the task with this tid, which the timeline may not
 * have seen yet. */
bool tap_timeline_selects_cpu(const struct tap_timeline *t, int cpu);
bool tap_timeline_selects_tid(const struct tap_timeline *t, int tid);
/* As tap_timeline_task(), but adds a task that is not known: it has existed since before the
 * window. Return: 0, NULL for what can be no tid; -ENOMEM. */
int tap_timeline_see(struct tap_timeline *t, int tid, struct tap_task **out);
/* It goes by this name from now on, until events tell another. */
void tap_task_rename(struct tap_task *task, const char *comm, size_t len);
/* Adds "comm [tid/tgid]", or "comm [tid]" of a process's leader and where the process is not known;
 * escaped. */
void tap_task_add_label(struct tap_buf *b, const struct tap_task *task);

/*
 * Which CPUs the task may use, as far as lists say: what was so when the recording began and when
 * it ended is taken to be so between. *@all: any; else the set, borrowed, or NULL: not known.
 */
const struct tap_cpus *tap_timeline_affinity(const struct tap_timeline *t,
					     const struct tap_task *task, bool *all);
/* The same of one. */
enum tap_may { TAP_MAY_UNKNOWN, TAP_MAY, TAP_MAY_NOT };
enum tap_may tap_timeline_may_use(const struct tap_timeline *t, const struct tap_task *task,
				  unsigned int cpu);

/* Return true if the task may run on a CPU that is not recorded. */
bool tap_timeline_roams(const struct tap_timeline *t, const struct tap_task *task);

/* Whether it is certain that the task has been in its state since then, as far as is known by now.
 */
bool tap_timeline_is_certain(const struct tap_timeline *t, const struct tap_task *task);
/* Until when it may be taken to be so; UINT64_MAX: until now. */
uint64_t tap_timeline_sure_until(const struct tap_timeline *t, const struct tap_task *task);
/* Whether the task lived in the window, and was ever recorded; with .lives_only: ever lived. */
bool tap_timeline_had(const struct tap_timeline *t, const struct tap_task *task);
/* The task's life within the window, ns: its total_ns add up to it. */
uint64_t tap_task_life_ns(const struct tap_timeline *t, const struct tap_task *task);

#endif
