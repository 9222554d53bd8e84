/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The scheduler's state over time: what each CPU ran and what state each task was in, and
 * "unknown" where the events cannot tell. Fed events and losses in time order.
 *
 * What is certain. On a CPU, the task that a switch takes out must be the one that was switched
 * in before: else the chain is broken, and the time since then belongs to nobody. A task's
 * stretch in one state counts only if what ended it fits (a wakeup ends sleep; a switch-in ends
 * a wait) and if no hole touched it: a time in which some CPU's switches are not all known
 * (survey.h), for the task may have run there. A task that runs on a CPU whose chain holds is
 * certain, whatever was lost elsewhere.
 *
 * So these hold always: each CPU's run + idle + offline + unknown is the window; each task's
 * states add up to its life within the window.
 *
 * No I/O, no clock, no globals.
 */
#ifndef TAP_TIMELINE_H
#define TAP_TIMELINE_H

#include "timeline/survey.h"

enum tap_state {
	TAP_UNKNOWN,
	TAP_RUNNING,
	TAP_PREEMPTED, /* runnable after being switched out (R, R+) */
	TAP_WAKING,    /* runnable after a wakeup (or fork), not yet run */
	TAP_SLEEPING,  /* S, I */
	TAP_BLOCKED,   /* D */
	TAP_STOPPED,   /* T, t, P */
	TAP_DEAD,      /* its life is over: no time is counted */
	TAP_NR_STATES,
};

#define TAP_STATE_BIT(s) (1u << (s))
#define TAP_STATE_ALL ((1u << TAP_NR_STATES) - 1)

/* Off the run queues, until a wakeup. */
static inline bool tap_state_is_sleep(enum tap_state state)
{
	return state == TAP_SLEEPING || state == TAP_BLOCKED || state == TAP_STOPPED;
}

const char *tap_state_name(enum tap_state state); /* "running", "preempted", ... */

/* One task. Its address stays the same until tap_timeline_free(). A tid that was given out again
 * is a task of its own. The idle tasks (tid 0) are none. */
struct tap_task {
	int tid;
	unsigned int index; /* 0, 1, 2, ... in the order of appearance: for tables beside this */
	enum tap_state state;
	int cpu; /* running: where; runnable: in whose run queue; else where it ran last; -1 */
	uint64_t since_ns; /* of state */
	int run_cpu; /* where it last ran: differs from .cpu in a wait that was moved; -1 */
	int from_cpu; /* running: where it ran before that; -1 */
	int prio;    /* as last seen, 0..139, -1: deadline */
	int tgid;    /* as its birth or an exec tells; 0: they do not */
	const struct tap_task *tgid_of; /* .tgid is 0: who has the same, and was born unseen; or NULL */
	bool reused; /* its tid was another task's before */

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

	char comm[TAP_TASK_COMM]; /* the last one seen, not NUL-terminated when full */
	uint64_t cgroup;   /* kernfs id; 0: not known */
};

struct tap_cpu {
	uint64_t run_ns, idle_ns, offline_ns, unknown_ns; /* add up to the window */
	uint64_t switches, breaks;	      /* within the window */
	uint64_t lost;			      /* events; of losses that tell how many */

	bool seen; /* some event that tells of tasks came from it */

	/* now */
	bool known;
	bool offline; /* not known, for it is not there */
	struct tap_task *task; /* what runs, if known; NULL: idle */
	uint64_t since_ns;
};

/* A task leaves a state. */
struct tap_stretch {
	struct tap_task *task; /* .state and .since_ns are still those that end */
	enum tap_state state, next;
	/* Both ends were seen, and nothing is unknown between: a wait to count. Not so at the
	 * window's ends and beside holes. Never true for TAP_UNKNOWN. */
	bool whole;
	uint64_t from_ns, to_ns; /* may begin before the window; never goes beyond its end */
	int cpu;     /* TAP_RUNNING: where. Runnable: whose run queue it was in at the end. Or -1 */
	/* Of TAP_UNKNOWN: the sleep before it, of back_ns, was told and must be taken back: the waking
	 * that ended it was in vain. Else TAP_UNKNOWN, and 0. */
	enum tap_state back;
	uint64_t back_ns;
	const char *end; /* of TAP_RUNNING: the state as the recording prints it, "R+"; or "" */
	int next_cpu; /* where it runs now, if .next is TAP_RUNNING */
};

/* A CPU stops running something. */
struct tap_cpu_stretch {
	int cpu;
	enum { TAP_CPU_UNKNOWN, TAP_CPU_OFFLINE, TAP_CPU_IDLE, TAP_CPU_RUN } what;
	struct tap_task *task; /* of TAP_CPU_RUN */
	uint64_t from_ns, to_ns; /* within the window */
};

struct tap_wakeup {
	struct tap_task *task;	/* state before: .state; it may be running */
	struct tap_task *waker; /* NULL: an idle CPU's interrupt, or not known */
	int cpu;		/* where the event was recorded */
	int target_cpu;		/* of sched_waking: where the task ran last */
	uint64_t ts_ns;
	bool is_new; /* a fork's first wakeup */
};

enum tap_migration_why {
	TAP_MIGRATE_WAKEUP,  /* placed elsewhere by its wakeup, or its fork */
	TAP_MIGRATE_BALANCE, /* it waited in a run queue and was pulled or pushed */
	TAP_MIGRATE_OTHER,   /* by the stopper (affinity, exec, active balance), while asleep, ... */
	TAP_NR_MIGRATE,
};

struct tap_migration {
	struct tap_task *task;
	int from, to;
	int cpu; /* where the event was recorded */
	enum tap_migration_why why;
	uint64_t ts_ns;
};

/*
 * Who wants to hear of changes as they happen; any function may be NULL. In time order of
 * .to_ns and .ts_ns. What a function returns is what tap_timeline_event() returns: 0 goes on,
 * -errno stops. Before the window nothing is told; at its end every open stretch is, with
 * .next == .state.
 */
struct tap_observer {
	uint32_t states; /* TAP_STATE_BIT()s of the stretches to be told */
	uint32_t lost_states; /* and of those to be told where .next is TAP_UNKNOWN */
	int (*stretch)(void *ctx, const struct tap_stretch *s);
	int (*cpu)(void *ctx, const struct tap_cpu_stretch *s);
	bool unknown_cpus_only; /* .cpu is not told what CPUs ran, nor that they were idle */
	int (*wakeup)(void *ctx, const struct tap_wakeup *w);
	int (*migration)(void *ctx, const struct tap_migration *m);
};

struct tap_timeline_opts {
	/* The window: stretches are counted within it. 0 and UINT64_MAX: where the events fed
	 * begin and end. What is fed before it tells the states at its start. */
	uint64_t start_ns, end_ns;
	const struct tap_survey *survey; /* NULL: holes are known only once they are seen */
	unsigned int nr_cpus; /* of the machine: those without events are unknown; 0: not known */
	const struct tap_observer *observer; /* or NULL */
	void *ctx;			     /* the observer's */
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

/*
 * @events: the next ones, in time order. Those that it has no use for are ignored.
 * Return: 0; -ENOMEM; what the observer returned.
 */
int tap_timeline_events(struct tap_timeline *t, const struct tap_event *const *events,
			unsigned int nr);
static inline int tap_timeline_event(struct tap_timeline *t, const struct tap_event *ev)
{
	return tap_timeline_events(t, &ev, 1);
}
/* Closes all that is open at the window's end. Return: as above. */
int tap_timeline_end(struct tap_timeline *t);

/* At any time; the totals are complete after tap_timeline_end(). */
void tap_timeline_span(const struct tap_timeline *t, uint64_t *start_ns, uint64_t *end_ns);
const struct tap_cpu *tap_timeline_cpus(const struct tap_timeline *t, unsigned int *nr);
/* In the order of their .index. */
struct tap_task *const *tap_timeline_tasks(const struct tap_timeline *t, unsigned int *nr);
/* The newest with this tid, or NULL. */
struct tap_task *tap_timeline_task(const struct tap_timeline *t, int tid);

/* The task's life within the window, ns: what its total_ns add up to. */
uint64_t tap_task_life_ns(const struct tap_timeline *t, const struct tap_task *task);

#endif
