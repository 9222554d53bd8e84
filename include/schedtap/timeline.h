/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The timeline of a recording: what each CPU ran, which state each task was in, and "unknown" where
 * events are missing. tap_run() (run.h) reports each interval to watchers (watcher.h) once the
 * interval has ended.
 *
 * What is certain. On a CPU, the prev of a switch must be the task that was switched in
 * before: else the chain is broken, and the time since then belongs to nobody. A task's interval in
 * one state counts only if what ended it fits (a wakeup ends sleep; a switch-in ends a wait) and if
 * no hole touched it: a time in which some CPU's switches are not all known, for the task may have
 * run there. So each CPU's run, idle, offline and unknown time add up to the window, and each
 * task's states to its life within the window.
 *
 * Times are nanoseconds of the recording's clock. Structs that a watcher gets are valid until it
 * returns, and tasks and the timeline until tap_run() returns. Later versions may add members to
 * the end of these structs.
 */
#ifndef SCHEDTAP_TIMELINE_H
#define SCHEDTAP_TIMELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <schedtap/err.h>

#ifdef __cplusplus
extern "C" {
#endif

enum tap_state {
	TAP_STATE_UNKNOWN,
	TAP_STATE_RUNNING,
	TAP_STATE_PREEMPTED, /* runnable after being switched out (R, R+) */
	TAP_STATE_WAKING, /* runnable after a wakeup (or fork), not yet run */
	TAP_STATE_SLEEPING, /* S, I */
	TAP_STATE_BLOCKED, /* D */
	TAP_STATE_STOPPED, /* T, t, P */
	TAP_STATE_DEAD, /* its life is over: no time is counted */
	/* runnable, and may not run: its quota or budget is used up (sched_throttle) */
	TAP_STATE_THROTTLED,
	TAP_NR_STATES,
};

#define TAP_STATE_BIT(s) (1u << (s))
#define TAP_STATE_ALL ((1u << TAP_NR_STATES) - 1)

/** tap_state_name() - "running", "preempted", ... */
TAP_API const char *tap_state_name(enum tap_state state);

/*
 * One task. A tid that was given out again is a task of its own. The idle tasks (tid 0) are none.
 */
struct tap_task;

/* The state of all tasks and CPUs at one moment of a run. */
struct tap_timeline;

TAP_API int tap_task_tid(const struct tap_task *task);
/** tap_task_index() - 0, 1, 2, ... in the order of appearance: for tables of one's own. */
TAP_API unsigned int tap_task_index(const struct tap_task *task);
/** tap_task_tgid() - Its process, as a birth or an exec tells, or the recording's list. -1: not
 * known. */
TAP_API int tap_task_tgid(const struct tap_task *task);
/**
 * tap_task_comm() - Its name, as last seen: any bytes but NUL.
 * @len: how many they are, up to 16; 0: not known. Not NULL.
 */
TAP_API const char *tap_task_comm(const struct tap_task *task, size_t *len);
/** tap_task_cgroup() - The kernfs id of its cgroup; 0: not known. */
TAP_API uint64_t tap_task_cgroup(const struct tap_task *task);
/** tap_task_state() - While an interval is told, still the one that ends. */
TAP_API enum tap_state tap_task_state(const struct tap_task *task);
/** tap_task_cpu() - Running: where; runnable: in whose run queue; else where it ran last. -1: not
 * known. */
TAP_API int tap_task_cpu(const struct tap_task *task);
#define TAP_PRIO_UNKNOWN INT32_MIN
/** tap_task_prio() - As last seen, 0..139; -1: deadline; TAP_PRIO_UNKNOWN. */
TAP_API int tap_task_prio(const struct tap_task *task);
/** tap_task_waker_tid() - Of its last wakeup; 0: an interrupt on an idle CPU; -1: not known. */
TAP_API int tap_task_waker_tid(const struct tap_task *task);
/** tap_task_total_ns() - In a state, within the window; complete when a watcher's .end is called.
 */
TAP_API uint64_t tap_task_total_ns(const struct tap_task *task, enum tap_state state);

/**
 * tap_name_escape() - Make a task's name or a cgroup's path printable, as reports of schedtap do.
 * @to: gets at most @size - 1 bytes and a NUL, like snprintf(); may be NULL if @size is 0.
 * @name: @len bytes. Control characters, backslashes, characters that change the direction of
 * writing, and bytes that are not UTF-8 become \n, \t, \\ or \xHH. So one byte becomes at most
 * four.
 *
 * Return: the bytes of the whole text, without NUL: if that is @size or more, the text was cut. 0
 * and "" if memory is exhausted.
 */
TAP_API size_t tap_name_escape(char *to, size_t size, const char *name, size_t len);

/** tap_timeline_from_ns() - The first instant of the window: of the recording, or of the part that
 * tap_run_opts.window names. */
TAP_API uint64_t tap_timeline_from_ns(const struct tap_timeline *t);
/** tap_timeline_to_ns() - The window's last instant. */
TAP_API uint64_t tap_timeline_to_ns(const struct tap_timeline *t);
/** tap_timeline_tasks() - All tasks that appeared so far, by tap_task_index(). @nr: set to how
 * many. Borrowed until the next call. */
TAP_API struct tap_task *const *tap_timeline_tasks(const struct tap_timeline *t, unsigned int *nr);
/** tap_timeline_task() - The newest task with this thread ID, or NULL. */
TAP_API struct tap_task *tap_timeline_task(const struct tap_timeline *t, int tid);
/**
 * tap_timeline_cgroup_path() - A cgroup's path from the root of its hierarchy, as the recording
 * lists it: any bytes but NUL.
 * @id: as tap_task_cgroup() returns it.
 *
 * Return: borrowed until tap_run() returns; NULL if the recording does not list the cgroup.
 */
TAP_API const char *tap_timeline_cgroup_path(const struct tap_timeline *t, uint64_t id);

/** struct tap_interval - A task leaves a state. */
struct tap_interval {
	struct tap_task *task; /* its state is still the one that ends */
	enum tap_state state, next;
	/*
	 * Both ends were seen, and nothing is unknown between: a wait to count. Not so at the
	 * window's ends and beside holes. Never true for TAP_STATE_UNKNOWN.
	 */
	bool whole;
	uint64_t from_ns, to_ns; /* may begin before the window; never goes beyond its end */
	/* TAP_STATE_RUNNING: where. Runnable: whose run queue it was in at the end. Or -1 */
	int cpu;
	/*
	 * Of TAP_STATE_UNKNOWN: the sleep before it, of back_ns, was told and must be taken back:
	 * the waking that ended it was in vain. Else TAP_STATE_UNKNOWN, and 0.
	 */
	enum tap_state back;
	uint64_t back_ns;
	/* of TAP_STATE_RUNNING: the state as the recording prints it, "R+"; or "" */
	const char *end;
	int next_cpu; /* where it runs now, if .next is TAP_STATE_RUNNING */
	/* of TAP_STATE_UNKNOWN: what it had been in, and nobody knows until when; else
	 * TAP_STATE_UNKNOWN */
	enum tap_state was;
	/* .next is TAP_STATE_RUNNING, but the task was switched in at an unknown time before .to_ns
	 */
	bool unseen;
};

/** struct tap_cpu_interval - A CPU stops running something. */
struct tap_cpu_interval {
	int cpu;
	enum tap_cpu_what { TAP_CPU_UNKNOWN, TAP_CPU_OFFLINE, TAP_CPU_IDLE, TAP_CPU_RUN } what;
	struct tap_task *task; /* of TAP_CPU_RUN */
	uint64_t from_ns, to_ns; /* within the window */
	/* of TAP_CPU_UNKNOWN: a task that is not recorded, or idle; nothing is missing */
	bool outside;
	/* it began at an unknown time before .from_ns: no switch was seen, and nothing is known of
	 * interrupts in progress */
	bool unseen;
};

/** struct tap_wakeup - sched_waking, or sched_wakeup where that was not recorded. */
struct tap_wakeup {
	struct tap_task *task; /* its state is the one before; it may be running */
	struct tap_task *waker; /* NULL: an idle CPU's interrupt, or not known */
	int cpu; /* where the event was recorded */
	int target_cpu; /* of sched_waking: where the task ran last */
	uint64_t ts_ns;
	bool is_new; /* a fork's first wakeup */
	/* the event says that one woke it, whoever ran there. False: none did, or nobody says so */
	bool in_interrupt;
	int waker_tid; /* as tap_task_waker_tid(): 0: an interrupt on an idle CPU; -1: not known */
};

enum tap_migration_why {
	TAP_MIGRATE_WAKEUP, /* placed elsewhere by its wakeup, or its fork */
	TAP_MIGRATE_BALANCE, /* it waited in a run queue and was pulled or pushed */
	/* by the stopper (affinity, exec, active balance), while asleep, ... */
	TAP_MIGRATE_OTHER,
	TAP_NR_MIGRATE,
};

/** struct tap_migration - sched_migrate_task. */
struct tap_migration {
	struct tap_task *task;
	int from, to;
	int cpu; /* where the event was recorded */
	enum tap_migration_why why;
	uint64_t ts_ns;
};

#ifdef __cplusplus
}
#endif
#endif
